"""Tables of the accuracy of systems on contrastive pairs: by phenomenon, and by distance."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.errors import UserError
from nmtcore.evaluation.contrasts import PairCounts, count_by_distance, count_by_phenomenon, wilson_interval
from nmtcore.inference.schemas import ContrastScore, read_contrast_scores
from nmtcore.layout import Layout
from nmtcore.tables.blocks import (
    Block,
    Column,
    Heading,
    Interval,
    Page,
    SeedMean,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
)

ALL = "all"
"""The group of all contrastive pairs."""

_NOTES = """
Scale {scale}, seeds {seeds}; percentages, mean over seeds, and standard deviation if there are several. Accuracy: of
the pairs whose right translation is more probable under the model than the wrong one, by the log-probabilities of the
whole sentences, without dividing by their lengths (Sennrich 2017). Ties, equally probable translations, count as wrong.
Unknown: pairs with subwords that the vocabulary lacks, scored as `<unk>`. 95 % interval: Wilson's score interval of the
mean over seeds; it says how far the mean depends on the choice of pairs, as if all were independent, though several can
have the same source, and leaves training noise out. Distance: words from one of two related words to the other (1: they
are neighbours), or by which a word has moved, as the pairs say.
"""

Tests = Mapping[tuple[str, str], Mapping[str, Sequence[Sequence[ContrastScore]]]]
"""The scores of each seed by system, for each test (data set, name); the pairs of a test are the same."""


def contrast_page(tests: Tests, *, scale: str, seeds: Sequence[int | str], left_out: Sequence[str] = ()) -> Page:
    """Tabulate accuracies on contrastive pairs; `left_out` are sentences about what the tables leave out."""
    notes = note(_NOTES.format(scale=scale, seeds=", ".join(map(str, seeds))))
    blocks = [block for test in sorted(tests) for block in _test_blocks(*test, tests[test])]
    return Page(title="Contrastive pairs", blocks=(notes, *item_blocks(left_out), *blocks))


def stored_contrast_page(files: Sequence[Path], *, left_out: Sequence[str] = (), layout: Layout) -> Page:
    """Tabulate the scores of runs at one scale: `{dataset}/{system}/seed{seed}/contrast/{split}.parquet`.

    Raises `UserError` if the seeds of a system have other pairs.
    """
    tests: dict[tuple[str, str], dict[str, list[list[ContrastScore]]]] = {}
    first: dict[tuple[str, ...], Path] = {}
    parsed = [(layout.names(path, "contrast_scores"), path) for path in files]
    for names, path in parsed:
        test, system = (names["dataset"], names["split"]), names["system"]
        seeds = tests.setdefault(test, {}).setdefault(system, [])
        seeds.append(list(read_contrast_scores(path)))
        other = first.setdefault((*test, system), path)
        if [score[:2] for score in seeds[-1]] != [score[:2] for score in seeds[0]]:
            raise UserError(f"{path} has other pairs than {other}: delete the older file.")
    numbers = list(dict.fromkeys(names["seed"] for names, _ in parsed))
    return contrast_page(tests, scale=parsed[0][0]["scale"], seeds=numbers, left_out=left_out)


def _test_blocks(dataset: str, test: str, systems: Mapping[str, Sequence[Sequence[ContrastScore]]]) -> Iterator[Block]:
    """Yield the tables of a test: accuracies by phenomenon, then all numbers by phenomenon and by distance."""
    keys, title = {"data set": dataset, "test": test}, f"{dataset}, {test}"
    phenomena = _rows(systems, lambda scores: {ALL: PairCounts.of(scores), **count_by_phenomenon(scores)})
    accuracies: dict[str, dict[str, SeedMean]] = {}
    for system, name, _, accuracy, *_ in phenomena:
        accuracies.setdefault(system, {})[name] = accuracy
    names = list(dict.fromkeys(row[1] for row in phenomena))
    columns = [*text_columns("system"), *number_columns(*names, content="mean", digits=1)]
    yield Heading(title)
    yield make_table(
        columns, [[system, *map(by_phenomenon.get, names)] for system, by_phenomenon in accuracies.items()], keys=keys
    )
    parts = {"phenomenon": ("code", phenomena), "distance": ("text", _rows(systems, count_by_distance))}
    for name, (content, rows) in parts.items():
        if rows:
            columns = [
                *(*text_columns("system"), Column(name=name, content=content)),
                *number_columns("pairs"),
                *number_columns("accuracy, %", content="mean", digits=1),
                *number_columns("95 % interval", content="interval", digits=1),
                *number_columns("ties", "unknown", content="mean"),
            ]
            yield Heading(f"{title}: by {name}")
            yield make_table(columns, rows, keys=keys)


def _rows(
    systems: Mapping[str, Sequence[Sequence[ContrastScore]]],
    count: Callable[[Sequence[ContrastScore]], dict[str, PairCounts]],
) -> list[list[Any]]:
    """Count pairs by a group: system, group, pairs, accuracy, its interval, ties and unknown, as means over seeds."""
    rows: list[list[Any]] = []
    for system, seeds in systems.items():
        counts = list(map(count, seeds))
        for name, one in counts[0].items():
            group_counts = [seed[name] for seed in counts]
            accuracy = SeedMean.over([seed.accuracy for seed in group_counts])
            low, high = wilson_interval(fmean(seed.right for seed in group_counts), one.pairs)
            means = [fmean(seed.ties for seed in group_counts), fmean(seed.unknown for seed in group_counts)]
            rows.append([system, name, one.pairs, accuracy, Interval(100 * low, 100 * high), *means])
    return rows
