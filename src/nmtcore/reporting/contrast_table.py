"""The accuracy of the configured systems on contrastive pairs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError
from nmtcore.evaluation.contrasts import PairCounts, count_by_distance, count_by_phenomenon, wilson_interval
from nmtcore.evaluation.summary import summarise_seeds
from nmtcore.inference.schemas import read_contrast_scores
from nmtcore.layout import Layout
from nmtcore.reporting.contrast_report import CONTRAST_NOTES
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Interval,
    Items,
    Page,
    SeedMean,
    Table,
    make_table,
    note,
    number_columns,
    text_columns,
)

ALL = "all"
"""The group of all pairs."""

_NOTES = """
Scale {scale}, seeds {seeds}; percentages, mean over seeds, and standard deviation if there are several. The intervals
below are those of the mean over seeds: they say how far it depends on the choice of pairs, not on training.
{columns}
"""


def contrast_page(scores: Sequence[Path], *, left_out: Sequence[str] = (), layout: Layout) -> Page:
    """Tabulate accuracies by phenomenon and by distance.

    Args:
        scores: `{dataset}/{system}/seed{seed}/contrast/{split}.parquet` of every run, at one scale.
        left_out: sentences about what the table leaves out.
        layout: names the data set, system, seed and split of each path.
    """
    runs: dict[tuple[str, ...], dict[int, Path]] = {}
    for path in scores:
        names = layout.names(path, "contrast_scores")
        key = tuple(names[name] for name in ("dataset", "split", "system", "scale"))
        runs.setdefault(key, {})[int(names["seed"])] = path
    entries = [_entry(*key, seeds) for key, seeds in sorted(runs.items(), key=lambda item: item[0][:2])]
    seeds = dict.fromkeys(seed for entry in entries for seed in entry["seeds"])
    notes = note(
        _NOTES.format(scale=entries[0]["scale"], seeds=", ".join(map(str, seeds)), columns=CONTRAST_NOTES.strip("\n"))
    )
    tests: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in entries:
        tests.setdefault((entry["dataset"], entry["split"]), []).append(entry)
    items = [Items(tuple(left_out))] if left_out else []
    blocks = [block for own in tests.values() for block in _section(own)]
    return Page(title="Contrastive pairs", blocks=(notes, *items, *blocks))


def _entry(dataset: str, split: str, system: str, scale: str, files: Mapping[int, Path]) -> dict[str, Any]:
    """Summarise the scores of a system over its seeds. Raises `UserError` if the seeds have other pairs."""
    scores = {seed: list(read_contrast_scores(path)) for seed, path in files.items()}
    first = next(iter(scores.values()))
    for seed, path in files.items():
        if [own[:2] for own in scores[seed]] != [own[:2] for own in first]:
            raise UserError(f"{path} has other pairs than {next(iter(files.values()))}: delete the older file.")
    return {
        "dataset": dataset,
        "split": split,
        "system": system,
        "scale": scale,
        "seeds": list(files),
        "phenomena": _groups([{ALL: PairCounts.of(own), **count_by_phenomenon(own)} for own in scores.values()]),
        "distances": _groups([count_by_distance(own) for own in scores.values()]),
    }


def _groups(counts: Sequence[Mapping[str, PairCounts]]) -> dict[str, dict[str, Any]]:
    """Summarise the counts of each group over seeds."""
    return {name: _summary([own[name] for own in counts]) for name in counts[0]}


def _summary(counts: Sequence[PairCounts]) -> dict[str, Any]:
    low, high = wilson_interval(sum(own.right for own in counts) / len(counts), counts[0].pairs)
    values = [{"accuracy": own.accuracy, "ties": own.ties, "unknown": own.unknown} for own in counts]
    return {"pairs": counts[0].pairs, **summarise_seeds(values), "low": 100 * low, "high": 100 * high}


def _section(entries: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    """Yield the tables of a test, whose systems have the same pairs."""
    names = {"data set": entries[0]["dataset"], "test": entries[0]["split"]}
    yield Heading(", ".join(names.values()))
    yield _overview(entries, names)
    yield Heading(f"{', '.join(names.values())}: by phenomenon")
    yield _long_table("phenomenon", "phenomena", entries, names)
    if any(entry["distances"] for entry in entries):
        yield Heading(f"{', '.join(names.values())}: by distance")
        yield _long_table("distance", "distances", entries, names)


def _overview(entries: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Table:
    """Make a table with a row per system and a column per phenomenon, in the order of the first system's."""
    groups = list(dict.fromkeys(name for entry in entries for name in entry["phenomena"]))
    columns = [*text_columns("system"), *number_columns(*groups, content="mean", digits=1)]
    rows = [
        [entry["system"], *(SeedMean.of(entry["phenomena"].get(name, {}).get("accuracy")) for name in groups)]
        for entry in entries
    ]
    return make_table(columns, rows, keys=names)


def _long_table(name: str, key: str, entries: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> Table:
    columns = [
        *text_columns("system"),
        Column(name=name, content="code" if name == "phenomenon" else "text"),
        *number_columns("pairs"),
        *number_columns("accuracy, %", content="mean", digits=1),
        *number_columns("95 % interval", content="interval", digits=1),
        *number_columns("ties", "unknown", content="mean"),
    ]
    rows = [
        [
            entry["system"],
            group,
            own["pairs"],
            SeedMean.of(own["accuracy"]),
            Interval(own["low"], own["high"]),
            own["ties"]["mean"],
            own["unknown"]["mean"],
        ]
        for entry in entries
        for group, own in entry[key].items()
    ]
    return make_table(columns, rows, keys=names)
