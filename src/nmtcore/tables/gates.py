"""Norms of gates by tag: how often each tag has the highest norm of its sentence (tran2018, 5)."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.tables.cells import CellFiles, Source, Unmeasurable

if TYPE_CHECKING:
    import pandas as pd

GATE_NOTES = """
Highest: sentences whose highest gate norm (L2, of the gate with which a subword of the reference is predicted) is at a
subword of a word with this tag, and their percentage of the tagged sentences, next to the tag's percentage of all words
and of all subwords, and the mean norm at its subwords.
"""


def gates_source(cell_files: CellFiles) -> Source:
    """Return the norms of the gates of all seeds, and the tag that is counted."""
    cell, runs = cell_files.cell, cell_files.runs
    if runs is None:
        raise Unmeasurable(cell.reason or f"{cell.system} is no system")
    if not cell_files.run.has_gates or cell_files.test not in cell_files.run.tests:
        raise Unmeasurable(f"its system has no gate, or {cell.test} is no test")
    files = {"gates": cell_files.by_seed("gates", split=cell_files.test)}
    return {"files": files, "split": cell_files.test, "tag": cell.item}


def gate_numbers(name: str, source: Source) -> list[float]:
    """Return a column of `count_gates` for each seed; of a tag that no word has, 0, or nothing for its norm."""
    counts = [count_gates(path)[name] for path in source["files"]["gates"].values()]
    return [float(tags.get(source["tag"], 0)) for tags in counts if name != "norm" or source["tag"] in tags]


def without_tags(source: Source) -> str:
    """Say that no word of a test has a tag; nothing if some have one."""
    paths = source["files"]["gates"].values()
    return f"the words of {source['split']} have no tags" if any(count_gates(path).empty for path in paths) else ""


@cache
def count_gates(gates: str) -> "pd.DataFrame":
    """Count the tags of a file of gate norms (`inference.scoring`), a row per tag.

    `highest` are the sentences whose highest norm is at a subword of a word with this tag (of several, the first),
    `share` their percentage of the sentences with tags; `words` and `subwords` are the tag's percentages of all tagged
    ones, and `norm` is the mean norm of its subwords. `</s>` does not count.
    """
    import pandas as pd

    from nmtcore.features.examples import NO_WORD
    from nmtcore.parquet import read_rows

    rows = []
    for number, row in enumerate(read_rows(Path(gates), columns=["words", "upos", "norms"])):
        # Tags that the system generates among the words do not count.
        pieces = zip(row["words"], row["upos"] or (), row["norms"], strict=False)
        rows += [(number, word, tag, norm) for word, tag, norm in pieces if word != NO_WORD and tag is not None]
    tagged = pd.DataFrame(rows, columns=["sentence", "word", "tag", "norm"])
    highest = tagged.loc[tagged.groupby("sentence").norm.idxmax()].groupby("tag").size()
    words = tagged.drop_duplicates(["sentence", "word"]).groupby("tag").size()
    by_tag = tagged.groupby("tag").norm
    counts = pd.DataFrame({"highest": highest, "words": words, "subwords": by_tag.size(), "norm": by_tag.mean()})
    counts = counts.fillna({"highest": 0}).assign(share=100 * highest / tagged.sentence.nunique())
    for name in ("words", "subwords"):
        counts[name] *= 100 / counts[name].sum()
    return counts.fillna({"share": 0})
