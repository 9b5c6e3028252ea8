"""The accuracy of induced trees on gold treebanks, next to the baselines, as a part of the table of systems."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from nmtcore.evaluation.induction import BASELINES, MEASURES
from nmtcore.files import explain_content, read_json
from nmtcore.reporting.table import Block, SeedMean, grouped_table, note, number_columns, text_columns

_NOTES = """
Induced trees: percentages of the words other than punctuation whose gold head is not the root. Directed: the head is
right. Undirected: the predicted tree joins the word with its gold head (over gold edges), or the gold tree joins it
with its predicted head (over predicted edges). left: the head is the next word; right: the previous one; random: the
mean of 100 random trees per sentence; untrained: the same model with its initial weights.
"""


def induction_entries(summaries: Iterable[Path]) -> list[dict[str, Any]]:
    """List the scores in the summaries `{system}.gold.uas` of systems whose trees are induced, by treebank."""
    entries = []
    for path in summaries:
        with explain_content(path):
            summary = read_json(path)
            names = {key: summary[key] for key in ("dataset", "system", "scale", "seeds")}
            splits = summary["splits"].items()
            entries += [{**names, "treebank": treebank, "trees": trees} for treebank, trees in splits]
    return entries


def induction_table(entries: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Tabulate `induction_entries`: for every treebank first the baselines, then all systems. Empty without entries."""
    if not entries:
        return []
    by_treebank = sorted(entries, key=_treebank)  # stable: systems stay in order
    groups = [list(_treebank_rows(treebank, list(group))) for treebank, group in groupby(by_treebank, key=_treebank)]
    columns = [
        *text_columns("data set", "treebank", "trees"),
        *number_columns(*MEASURES.values(), content="mean", digits=1),
        *number_columns("words"),
    ]
    return [grouped_table(columns, groups), note(_NOTES)]


def _treebank(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry["dataset"], entry["treebank"]


def _treebank_rows(treebank: tuple[str, str], entries: Sequence[Mapping[str, Any]]) -> Iterator[list[Any]]:
    trees = entries[0]["trees"]
    yield from ([*treebank, name, *_cells(scores)] for name, scores in trees.items() if name in BASELINES)
    for entry in entries:
        for name, suffix in (("untrained", ", untrained"), ("spanning_tree", "")):
            yield [*treebank, entry["system"] + suffix, *_cells(entry["trees"][name])]


def _cells(scores: Mapping[str, Any]) -> list[Any]:
    return [*(SeedMean.of(scores[measure]) for measure in MEASURES), scores["scored_words"]["mean"]]
