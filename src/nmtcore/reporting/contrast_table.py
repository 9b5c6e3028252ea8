"""Tables of the accuracy of systems on contrastive pairs: by phenomenon, and by distance."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from nmtcore.errors import UserError
from nmtcore.evaluation.contrasts import PairCounts, count_by_distance, count_by_phenomenon, wilson_interval
from nmtcore.inference.schemas import ContrastScore, read_contrast_scores
from nmtcore.layout import Layout
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Interval,
    Page,
    SeedMean,
    Table,
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

_Groups = dict[str, list[PairCounts]]
"""The counts of each seed by phenomenon or by distance."""


def contrast_page(tests: Tests, *, scale: str, seeds: Sequence[int | str], left_out: Sequence[str] = ()) -> Page:
    """Tabulate accuracies on contrastive pairs; `left_out` are sentences about what the tables leave out."""
    notes = note(_NOTES.format(scale=scale, seeds=", ".join(map(str, seeds))))
    blocks = [block for test in sorted(tests) for block in _section(*test, tests[test])]
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


def _section(dataset: str, test: str, systems: Mapping[str, Sequence[Sequence[ContrastScore]]]) -> Iterator[Block]:
    """Yield the tables of a test."""
    keys, title = {"data set": dataset, "test": test}, f"{dataset}, {test}"
    phenomena = {
        system: _by_seed([{ALL: PairCounts.of(own), **count_by_phenomenon(own)} for own in seeds])
        for system, seeds in systems.items()
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
    distances = {system: _by_seed(list(map(count_by_distance, seeds))) for system, seeds in systems.items()}
    if any(distances.values()):
        yield Heading(f"{title}: by distance")
        yield _long_table(Column(name="distance"), distances, keys)


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
