"""Attention heads as parsers; the pages of all plain tables."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.evaluation.induction import MEASURES
from nmtcore.files import explain_content, read_json
from nmtcore.layout import Layout
from nmtcore.reporting.contrast_table import stored_contrast_page
from nmtcore.reporting.data_table import annotation_page, data_page, parser_page
from nmtcore.tables.blocks import Page, grouped_table, note, number_columns, text_columns
from nmtcore.tables.pages import write_page

BEST = 3
"""Heads per run and treebank in the table of heads."""

_HEADS = """
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
    groups: dict[tuple[str, str], list[list[Any]]] = {}
    for path in scores:
        result = read_json(path)
        with explain_content(path):
            treebank, scale = (result["dataset"], result["split"]), result["scale"]
            baselines = [
                [*treebank, name, *[None] * 4, *_cells(accuracies)] for name, accuracies in result["baselines"].items()
            ]
            groups.setdefault(treebank, baselines)
            best = sorted(result["heads"].items(), key=lambda item: _accuracy(item[1]), reverse=True)[:BEST]
            for name, accuracies in best:
                numbers = [result["seed"], *map(int, name.split("."))]
                component = result["components"].get(name)
                groups[treebank].append([*treebank, result["system"], component, *numbers, *_cells(accuracies)])
    columns = [
        *text_columns("data set", "treebank", "trees", "component"),
        *number_columns("seed", "layer", "head"),
        *number_columns(*MEASURES.values(), digits=2),
        *number_columns("words"),
    ]
    table = grouped_table(columns, [groups[treebank] for treebank in sorted(groups)])
    return Page(title="Attention heads as parsers", blocks=(table, note(_HEADS.format(scale=scale, best=BEST))))


def _accuracy(scores: Mapping[str, Any]) -> tuple[float, ...]:
    return tuple(-1.0 if scores[measure] is None else scores[measure] for measure in MEASURES)


def _cells(scores: Mapping[str, Any]) -> list[Any]:
    return [*(scores[measure] for measure in MEASURES), scores["scored_words"]]


Files = Mapping[str, Sequence[Path]]
"""The input files of a table, by what they are."""

PAGES: dict[str, Callable[[Files, Any, Layout], Page]] = {
    "data": lambda files, published, layout: data_page(
        files["reports"], features=files["features"], published=published, layout=layout
    ),
    "annotation": lambda files, published, layout: annotation_page(
        files["reports"], labels=files["labels"], published=published, layout=layout
    ),
    "parsers": lambda files, _, layout: parser_page(files["comparisons"], layout=layout),
    "heads": lambda files, _, layout: head_page(files["scores"]),
    "contrast": lambda files, left_out, layout: stored_contrast_page(files["scores"], left_out=left_out, layout=layout),
}
"""The pages by the names of the tables; each takes the files of its rule, and what its rule plans for it."""


def write_plain_table(name: str, files: Files, planned: Any, *, layout: Layout, table: Path) -> str:
    """Write a table in all formats; return the Markdown."""
    return write_page(PAGES[name](files, planned, layout), table)
