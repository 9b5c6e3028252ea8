"""Short tables of the configured systems: attention heads as parsers, contrastive pairs; all pages."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.errors import UserError
from nmtcore.evaluation.contrasts import PairCounts, count_by_distance, count_by_phenomenon, wilson_interval
from nmtcore.evaluation.induction import MEASURES
from nmtcore.files import explain_content, read_json
from nmtcore.inference.schemas import read_contrast_scores
from nmtcore.layout import Layout
from nmtcore.reporting.contrast_report import CONTRAST_NOTES
from nmtcore.reporting.data_table import annotation_page, data_page, parser_page
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Interval,
    Page,
    SeedMean,
    Table,
    grouped_table,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
)

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
            baselines = [[*treebank, name, *[None] * 4, *_cells(own)] for name, own in result["baselines"].items()]
            groups.setdefault(treebank, baselines)
            best = sorted(result["heads"].items(), key=lambda item: _accuracy(item[1]), reverse=True)[:BEST]
            for name, own in best:
                numbers = [result["seed"], *map(int, name.split("."))]
                component = result["components"].get(name)
                groups[treebank].append([*treebank, result["system"], component, *numbers, *_cells(own)])
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


ALL = "all"
"""The group of all contrastive pairs."""

_CONTRAST = """
Scale {scale}, seeds {seeds}; percentages, mean over seeds, and standard deviation if there are several. The intervals
below are those of the mean over seeds: they say how far it depends on the choice of pairs, not on training.
{columns}
"""

_Groups = dict[str, list[PairCounts]]
"""The counts of each seed by phenomenon or by distance."""


def contrast_page(scores: Sequence[Path], *, left_out: Sequence[str] = (), layout: Layout) -> Page:
    """Tabulate accuracies on contrastive pairs by phenomenon and by distance.

    Args:
        scores: `{dataset}/{system}/seed{seed}/contrast/{split}.parquet` of every run, at one scale.
        left_out: sentences about what the table leaves out.
        layout: names the data set, system, seed and split of each path.
    """
    tests: dict[tuple[str, str], dict[str, list[Path]]] = {}
    parsed = [(layout.names(path, "contrast_scores"), path) for path in scores]
    for names, path in parsed:
        tests.setdefault((names["dataset"], names["split"]), {}).setdefault(names["system"], []).append(path)
    seeds = ", ".join(dict.fromkeys(names["seed"] for names, _ in parsed))
    notes = note(_CONTRAST.format(scale=parsed[0][0]["scale"], seeds=seeds, columns=CONTRAST_NOTES.strip("\n")))
    blocks = [block for test in sorted(tests) for block in _contrast_section(*test, tests[test])]
    return Page(title="Contrastive pairs", blocks=(notes, *item_blocks(left_out), *blocks))


def _contrast_section(dataset: str, split: str, systems: Mapping[str, Sequence[Path]]) -> Iterator[Block]:
    """Yield the tables of a test, whose systems have the same pairs."""
    keys, title = {"data set": dataset, "test": split}, f"{dataset}, {split}"
    scores = {system: _same_pairs(files) for system, files in systems.items()}
    phenomena = {
        system: _by_seed([{ALL: PairCounts.of(own), **count_by_phenomenon(own)} for own in seeds])
        for system, seeds in scores.items()
    }
    names = list(dict.fromkeys(name for groups in phenomena.values() for name in groups))
    columns = [*text_columns("system"), *number_columns(*names, content="mean", digits=1)]
    rows = [
        [system, *(_accuracies(groups[name]) if name in groups else None for name in names)]
        for system, groups in phenomena.items()
    ]
    yield Heading(title)
    yield make_table(columns, rows, keys=keys)
    yield Heading(f"{title}: by phenomenon")
    yield _long_table(Column(name="phenomenon", content="code"), phenomena, keys)
    distances = {system: _by_seed(list(map(count_by_distance, seeds))) for system, seeds in scores.items()}
    if any(distances.values()):
        yield Heading(f"{title}: by distance")
        yield _long_table(Column(name="distance"), distances, keys)


def _same_pairs(files: Sequence[Path]) -> list[list[Any]]:
    """Read the scores of each seed of a system. Raises `UserError` if the seeds have other pairs."""
    scores = [list(read_contrast_scores(path)) for path in files]
    for path, own in zip(files, scores, strict=True):
        if [score[:2] for score in own] != [score[:2] for score in scores[0]]:
            raise UserError(f"{path} has other pairs than {files[0]}: delete the older file.")
    return scores


def _by_seed(counts: Sequence[Mapping[str, PairCounts]]) -> _Groups:
    return {name: [own[name] for own in counts] for name in counts[0]}


def _accuracies(counts: Sequence[PairCounts]) -> SeedMean:
    return SeedMean.over([own.accuracy for own in counts])


def _long_table(column: Column, systems: Mapping[str, _Groups], keys: Mapping[str, str]) -> Table:
    columns = [
        *(*text_columns("system"), column),
        *number_columns("pairs"),
        *number_columns("accuracy, %", content="mean", digits=1),
        *number_columns("95 % interval", content="interval", digits=1),
        *number_columns("ties", "unknown", content="mean"),
    ]
    rows = []
    for system, groups in systems.items():
        for name, own in groups.items():
            low, high = wilson_interval(fmean(counts.right for counts in own), own[0].pairs)
            means = [fmean(counts.ties for counts in own), fmean(counts.unknown for counts in own)]
            interval = Interval(100 * low, 100 * high)
            rows.append([system, name, own[0].pairs, _accuracies(own), interval, *means])
    return make_table(columns, rows, keys=keys)


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
    "contrast": lambda files, left_out, layout: contrast_page(files["scores"], left_out=left_out, layout=layout),
}
"""The pages by the names of the tables; each takes the files of its rule, and what its rule plans for it."""


def write_plain_table(name: str, files: Files, planned: Any, *, layout: Layout, table: Path) -> str:
    """Write a table in all formats; return the Markdown."""
    return write_page(PAGES[name](files, planned, layout), table)
