"""The attention heads whose trees are nearest to gold trees."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from nmtcore.evaluation.induction import MEASURES
from nmtcore.files import explain_content, read_json
from nmtcore.reporting.table import Page, grouped_table, note, number_columns, text_columns

BEST = 3
"""Heads per run and treebank in the table."""

_NOTES = """
Scale {scale}. The {best} best attention heads of each run's encoder, by directed accuracy; layers and heads count from
0. A word's head is the word it attends to, its attention to itself is its score as the root, weights are summed within
words, and the maximum spanning tree with one root is scored. Component: the component of the system that computes or
trains the head; all other heads are only trained to translate. If the system parses with a head (that of DepParse, for
example), its trees are those parses. Percentages of the words other than punctuation whose gold head is not the root.
Directed: the head is right. Undirected: the predicted tree joins the word with its gold head (over gold edges), or the
gold tree joins it with its predicted head (over predicted edges). left: the head is the next word; right: the previous
one; random: the mean of 100 random trees per sentence. The best heads are chosen by these very scores, so that their
scores are somewhat too high.
"""


def head_page(scores: Sequence[Path]) -> Page:
    """Tabulate the best attention heads of every run, for each treebank first the baselines.

    `scores` are `{dataset}/{system}/seed{seed}/heads/{split}.json` of every run, at one scale.
    """
    entries = sorted(map(_entry, scores), key=_treebank)  # stable: runs stay in order
    columns = [
        *text_columns("data set", "treebank", "trees", "component"),
        *number_columns("seed", "layer", "head"),
        *number_columns(*MEASURES.values(), digits=2),
        *number_columns("words"),
    ]
    groups = [list(_treebank_rows(treebank, list(group))) for treebank, group in groupby(entries, key=_treebank)]
    notes = note(_NOTES.format(scale=entries[0]["scale"], best=BEST))
    return Page(title="Attention heads as parsers", blocks=(grouped_table(columns, groups), notes))


def _entry(path: Path) -> dict[str, Any]:
    """Make the entry of a run and treebank, with the heads in order of their accuracy."""
    with explain_content(path):
        result = read_json(path)
        names = {key: result[key] for key in ("dataset", "system", "scale")}
        heads = dict(sorted(result["heads"].items(), key=lambda item: _accuracy(item[1]), reverse=True))
        others = {"heads": heads, "baselines": result["baselines"], "components": result["components"]}
        return {**names, "seeds": [result["seed"]], "treebank": result["split"], **others}


def _accuracy(scores: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(-1.0 if scores[measure] is None else scores[measure] for measure in MEASURES)


def _treebank(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry["dataset"], entry["treebank"]


def _treebank_rows(treebank: tuple[str, str], entries: Sequence[Mapping[str, Any]]) -> Iterator[list[Any]]:
    for name, scores in entries[0]["baselines"].items():
        yield [*treebank, name, None, None, None, None, *_cells(scores)]
    for entry in entries:
        for name, scores in list(entry["heads"].items())[:BEST]:
            numbers = [entry["seeds"][0], *map(int, name.split("."))]
            yield [*treebank, entry["system"], entry["components"].get(name), *numbers, *_cells(scores)]


def _cells(scores: Mapping[str, Any]) -> list[Any]:
    return [*(scores[measure] for measure in MEASURES), scores["scored_words"]]
