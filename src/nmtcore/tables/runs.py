"""What is measured of runs: scores of translations and heads, gates by tag, and training from its log.

Shapes: B sentences, F features.
"""

from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from nmtcore.config.datasets import GOLD
from nmtcore.errors import UserError
from nmtcore.layout import file_name
from nmtcore.tables.cells import CellFiles, Source, Unmeasurable

if TYPE_CHECKING:
    import pandas as pd

    from nmtcore.evaluation.counts import SentenceCounts

UAS_NOTES = """
UAS: of the most probable heads or, if trees are induced, of the trees, compared with the parser's trees or, on a split
gold_..., with a treebank's. UAS of trees: of the maximum spanning trees of a system that learns from trees. Precision
of chains: of the most probable heads of a system that learns that the head is the previous word.
"""

GATE_NOTES = """
Highest: sentences whose highest gate norm (L2, of the gate with which a subword of the reference is predicted) is at a
subword of a word with this tag, and their percentage of the tagged sentences, next to the tag's percentage of all words
and of all subwords, and the mean norm at its subwords.
"""

LOG_NOTES = """
Loss: translation loss per target token, with label smoothing, in the first and last line of the training log. Tokens/s:
target tokens without padding, median over the log's lines.
"""
TIME_NOTES = """
Time: median seconds per update times the number of updates, plus those of validations. Relative: the time per update
divided by the mean of the baseline's runs. Times can only be compared on the same kind of machine, with nothing else
running there.
"""


def translations_source(cell_files: CellFiles, *, measure: str, file_type: str) -> Source:
    """Return the counts of the translations by the cell's runs; a row that is no system of ours has none."""
    if cell_files.runs is None or cell_files.cell.test is None:
        raise Unmeasurable(cell_files.cell.reason)
    files = {"counts": cell_files.by_seed(file_type)}
    return {"files": files, "split": cell_files.cell.test, "column": measure}


def attachment_source(cell_files: CellFiles, *, chains: bool = False) -> Source:
    """Return the counts of the parses by the cell's runs; nothing if they do not parse the split.

    With `chains`, these are runs that learn chains, else those that do not.
    """
    cell, run = cell_files.cell, cell_files.run
    gold = (cell.test or "").startswith(GOLD)
    is_chain = run.tree_comparison == "chain"
    if is_chain != chains or cell.test not in (run.gold if gold else run.parsed_tests):
        raise Unmeasurable
    files = {"counts": cell_files.by_seed("gold_counts" if gold else "counts")}
    return {"files": files, "split": cell.test, "column": "tree_uas" if run.tree_comparison == "induced" else "uas"}


def tree_attachment_source(cell_files: CellFiles) -> Source:
    """Return the scores of the cell's runs, if `attachment_source` counts heads that are not those of their trees."""
    source = attachment_source(cell_files)
    if cell_files.run.tree_comparison != "supervised":
        raise Unmeasurable
    gold = source["split"].startswith(GOLD)
    files = {"scores": cell_files.by_seed("gold_scores" if gold else "scores")}
    return {"files": files, "split": source["split"], "score": "gold.uas" if gold else "uas"}


def stored_counts(source: Source) -> "list[SentenceCounts]":
    """Read the counts of each seed. Raises `UserError` if there are none by this measure, or if the tests differ."""
    from nmtcore.evaluation.counts import read_counts
    from nmtcore.evaluation.metrics import score_of

    paths = [
        Path(folder) / file_name("split_counts", split=source["split"]) for folder in source["files"]["counts"].values()
    ]
    counts = [read_counts(path, source["column"], score_of(source["column"])) for path in paths]
    for path, of_seed in zip(paths, counts, strict=True):
        if of_seed.test != counts[0].test:
            raise UserError(
                f"{paths[0]} and {path} are of different sentences, so that they cannot be compared: delete the "
                "results of the older run and run the workflow again."
            )
    return counts


def spanning_tree_uas(source: Source) -> list[float]:
    """Return the UAS of the spanning trees of each seed; none if no word was compared."""
    from nmtcore.evaluation.attachment import scores_by_measure
    from nmtcore.files import explain_content, read_json

    values = []
    for path in map(Path, source["files"]["scores"].values()):
        with explain_content(path):
            values.append(scores_by_measure(read_json(path)[source["score"]][source["split"]])["tree_uas"]["uas"])
    return [value for value in values if value is not None]


def sentence_means(source: Source) -> list[float]:
    """Return the mean of the percentages of the sentences with words, for each seed; 0 if there are none."""
    means = []
    for counts in stored_counts(source):
        scored_BF = counts.counts_BF[counts.counts_BF[:, 1] > 0]
        means.append(float(counts.score(scored_BF).mean()) if len(scored_BF) else 0.0)
    return means


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
        counts[name] = 100 * counts[name] / counts[name].sum()
    return counts.fillna({"share": 0})


def log_source(cell_files: CellFiles) -> Source:
    """Return the training logs of the cell's runs."""
    if cell_files.run.external is not None:
        raise Unmeasurable("its translations were made elsewhere, so it has no training log")
    return {"files": {"history": cell_files.by_seed("history")}}


def relative_source(cell_files: CellFiles) -> Source:
    """Return the training logs of the cell's runs, and of the baseline's."""
    source = log_source(cell_files)
    try:
        baseline = log_source(cell_files._replace(runs=cell_files.baseline))
    except Unmeasurable:
        raise Unmeasurable("there is no run of the baseline to compare with") from None
    return {"files": {**source["files"], "baseline": baseline["files"]["history"]}}


def facts(name: str, source: Source) -> list[float]:
    """Return a fact about training from the log of each seed; nothing if a log lacks it."""
    values = [training_facts(path)[name] for path in source["files"]["history"].values()]
    return [] if None in values else values


@cache
def training_facts(history: str) -> dict[str, Any]:
    """Summarise a training log: the losses of its first and last line, updates, validations, speed and times.

    The losses are translation losses; None if there were no training pairs. Times of an update and of a validation are
    medians, so that moments in which the machine was busy do not count; `training_time` is that of all of them at these
    medians, and `seconds` what the clock said. Raises `UserError` if the log is broken or records no update.
    """
    from nmtcore.files import explain_content
    from nmtcore.training.log import TRANSLATION_LOSS, read_history

    steps, times, validations, before = [], [], [], 0.0
    with explain_content(Path(history)):
        for entry in read_history(Path(history)):
            elapsed, before = entry["seconds"] - before, entry["seconds"]
            if "validation" in entry:
                validations.append(elapsed)
            elif "update" in entry:
                steps.append(entry)
                times.append(elapsed / entry["updates"])
        if not steps:
            raise UserError(f"{history} records no update: delete it and train again.")
        updates, per_update = steps[-1]["update"], median(times)
        per_validation = median(validations) if validations else 0.0
        training_time = updates * per_update + len(validations) * per_validation
        speeds = [step["tokens_per_second"] for step in steps if "tokens_per_second" in step]
    return {
        "first_loss": steps[0].get(TRANSLATION_LOSS),
        "last_loss": steps[-1].get(TRANSLATION_LOSS),
        "updates": updates,
        "tokens_per_second": median(speeds) if speeds else None,
        "seconds": before,
        "seconds_per_update": per_update,
        "validations": len(validations),
        "seconds_per_validation": per_validation,
        "training_time": training_time,
        "seconds_per_update_with_validation": training_time / updates,
    }


def relative_time(source: Source) -> list[float]:
    """Return the time per update of each seed, divided by the mean of the baseline's."""
    name = "seconds_per_update_with_validation"
    baseline = fmean(facts(name, {"files": {"history": source["files"]["baseline"]}}))
    return [time / baseline for time in facts(name, source)]
