"""BLEU on subsets of a test, by construction and by constituent, compared with a baseline: one table and one JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.evaluation.compare import SAMPLES, SystemScores, compare_systems
from nmtcore.evaluation.metrics import METRICS
from nmtcore.evaluation.outputs import read_outputs
from nmtcore.evaluation.subsets import FEW, read_subsets
from nmtcore.evaluation.summary import summarise_seeds
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.difference_columns import difference_columns
from nmtcore.reporting.empty_translations import empty_outputs
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.seed_items import one_seed_sentence
from nmtcore.reporting.table import (
    Column,
    Interval,
    Items,
    Page,
    SeedMean,
    TableCell,
    item_blocks,
    make_table,
    note,
    number_columns,
    percentage,
    text_columns,
)

ALL = "all sentences"
"""The name of the subset that is the whole test."""

SUBSETS_BY = {"ccg": "{side} supertags", "constituency": "{side} phrases", None: ""}
"""What subsets are made from, by the column of the annotation."""

_NOTES = """
Scale {scale}; mean over seeds, and standard deviation if there are several. A sentence may be in several subsets. By
target supertags: sentences whose reference has a CCG supertag of this construction; by phrases: sentences with a phrase
of this label on that side. Share: percentage of the test's sentences. Few: fewer than {few} sentences, too few to
conclude anything. Difference: BLEU minus that of {baseline} on the same sentences. Its 95 % interval joins
the variance over {samples:,} paired bootstrap samples of the subset's sentences with the variance over seeds.
"""


def write_construction_table(
    hypotheses: Sequence[Path],
    *,
    tests: Mapping[str, Mapping[str, Any]],
    baseline: str,
    left_out: Sequence[tuple[str, str, str]] = (),
    layout: Layout,
    scale: str,
    json: Path,
    table: Path,
) -> str:
    """Tabulate the BLEU of systems on subsets of each data set's main test, as JSON and Markdown; return the Markdown.

    Args:
        hypotheses: `{dataset}/{system}/seed{seed}/hypotheses` of every run, at one scale.
        tests: for each data set its main test: the `split`, the settings of its `evaluation`, and the `annotations` as
            (side, column, path); a data set without annotations is not in the table.
        baseline: the system that others are compared with.
        left_out: data set, system and reason of each system that was not run on a data set.
        layout: names the data set, system and seed of each path.
        scale: name of the scale.
        json: output, a list with one entry per data set, subset and system.
        table: output as Markdown.
    """
    runs = runs_by_dataset(hypotheses, layout)
    entries = [
        {"dataset": dataset, "scale": scale, **entry}
        for dataset, test in tests.items()
        if test["annotations"] and dataset in runs
        for entry in _test_entries(runs[dataset], test, baseline, where=dataset)
    ]
    missing = [(dataset, system, reason) for dataset, system, reason in left_out if tests[dataset]["annotations"]]
    entries += [
        {"dataset": dataset, "scale": scale, **_missing_entry(tests[dataset], system, baseline, reason)}
        for dataset, system, reason in missing
    ]
    write_json(json, entries)
    without = [dataset for dataset, test in tests.items() if not test["annotations"]]
    empty = [
        sentence
        for dataset in dict.fromkeys(entry["dataset"] for entry in entries if entry["seeds"])
        for split in [tests[dataset]["split"]]
        for sentence in empty_outputs(read_outputs(runs[dataset], split), dataset, split)
    ]
    return write_page(_page(entries, baseline=baseline, scale=scale, without=without, empty=empty), table)


def runs_by_dataset(hypotheses: Sequence[Path], layout: Layout) -> dict[str, dict[str, dict[int, Path]]]:
    """Group folders of translations as {data set: {system: {seed: folder}}}, in their order."""
    runs: dict[str, dict[str, dict[int, Path]]] = {}
    for folder in hypotheses:
        names = layout.names(folder, "hypotheses")
        runs.setdefault(names["dataset"], {}).setdefault(names["system"], {})[int(names["seed"])] = folder
    return runs


def _test_entries(
    systems: Mapping[str, Mapping[int, Path]], test: Mapping[str, Any], baseline: str, *, where: str
) -> Iterator[dict[str, Any]]:
    """Yield the entries of a test: of all its sentences, then of the subsets by each annotation."""
    evaluation = build(EvaluationSettings, test["evaluation"], where=where)
    outputs = read_outputs(systems, test["split"])
    statistics = {
        name: [METRICS["bleu"].count(lines, outputs.references, evaluation) for lines in seeds.values()]
        for name, seeds in outputs.translations.items()
    }
    sentences = len(outputs.references)
    against = baseline if baseline in systems else None
    common = {"split": test["split"], "baseline": baseline, "test_sentences": sentences}

    def entries(subset: str, rows: np.ndarray, **names: Any) -> Iterator[dict[str, Any]]:
        parts = {name: [seed.rows(rows) for seed in seeds] for name, seeds in statistics.items()}
        scores = compare_systems(parts, baseline=against) if len(rows) else {}
        for name, seeds in systems.items():
            yield {
                **common,
                **names,
                "subset": subset,
                "system": name,
                "seeds": list(seeds),
                "sentences": len(rows),
                "share": 100 * len(rows) / sentences,
                "signature": statistics[name][0].signature,
                **_score_values(scores.get(name)),
                "reason": None if len(rows) else "no sentences",
            }

    yield from entries(ALL, np.arange(sentences), side=None, column=None, unanalysed=0)
    for side, column, path in test["annotations"]:
        subsets = read_subsets(Path(path), column, sentences=sentences)
        for subset, rows in subsets.rows.items():
            yield from entries(subset, rows, side=side, column=column, unanalysed=subsets.unanalysed)


def _score_values(scores: SystemScores | None) -> dict[str, Any]:
    if scores is None:
        return {"bleu": None, "difference": None}
    bleu = summarise_seeds([{"bleu": score} for score in scores.scores])["bleu"]
    return {"bleu": bleu, "difference": asdict(scores.difference) if scores.difference else None}


def _missing_entry(test: Mapping[str, Any], system: str, baseline: str, reason: str) -> dict[str, Any]:
    """Make the only entry of a system that was not run on a data set."""
    names = {"split": test["split"], "baseline": baseline, "side": None, "column": None, "system": system}
    empty = dict.fromkeys(("test_sentences", "sentences", "share", "signature", "bleu", "difference"))
    return {**names, "subset": ALL, "seeds": [], "unanalysed": 0, **empty, "reason": f"the data set has {reason}"}


_COLUMNS = (
    *text_columns("data set", "test", "subsets by", "subset", "system"),
    *number_columns("sentences"),
    *number_columns("share, %", digits=2),
    Column(name="BLEU", content="mean", digits=1),
    *difference_columns(),
)


def _page(
    entries: Sequence[Mapping[str, Any]], *, baseline: str, scale: str, without: Sequence[str], empty: Sequence[str]
) -> Page:
    notes = _NOTES.format(scale=scale, baseline=baseline, samples=SAMPLES, few=FEW)
    items = list(dict.fromkeys(_items(entries)))
    items += [
        f"{dataset}: neither supertags of the target side nor constituents to make subsets." for dataset in without
    ]
    listed = [Items(tuple(items))] if items else []
    rows = make_table(_COLUMNS, [_row(entry) for entry in entries])
    blocks = (*item_blocks(empty), rows, note(notes), *listed)
    return Page(title="BLEU by construction", blocks=blocks)


def _items(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield sentences about seeds, signatures, missing analyses and empty cells."""
    seeds = sorted({seed for entry in entries for seed in entry["seeds"]})
    if len(seeds) > 1:
        yield f"Seeds {', '.join(map(str, seeds))}."
    if any(entry["difference"] and entry["difference"]["seed_error"] is None for entry in entries):
        runs = {f"{entry['system']} on {entry['dataset']}": len(entry["seeds"]) for entry in entries if entry["seeds"]}
        single = [name for name, count in runs.items() if count == 1]
        yield one_seed_sentence("all" if len(single) == len(runs) else ", ".join(single))
    for entry in entries:
        if entry["signature"]:
            yield f"BLEU on {entry['dataset']}: {entry['signature']}."
    for entry in entries:
        place = f"{entry['dataset']}, {entry['split']}"
        if entry["unanalysed"]:
            share = f"{entry['unanalysed']:,} of {entry['test_sentences']:,} sentences"
            yield f"{place}: {share} have no analysis for subsets by {_subsets_by(entry)}."
        if entry["reason"] and not entry["seeds"]:
            yield f"{entry['dataset']}: {entry['system']} was not run, since {entry['reason']}."


def _subsets_by(entry: Mapping[str, Any]) -> str:
    return SUBSETS_BY[entry["column"]].format(side=entry["side"])


def _row(entry: Mapping[str, Any]) -> list[Any]:
    sentences, compared = entry["sentences"], entry["difference"]
    mark = " (few)" if sentences and sentences < FEW else " (none)" if sentences == 0 else ""
    return [
        *(entry["dataset"], entry["split"], _subsets_by(entry), entry["subset"], entry["system"]),
        TableCell(sentences, mark),
        percentage(sentences, entry["test_sentences"]),
        SeedMean.of(entry["bleu"]),
        None if compared is None else compared["delta"],
        None if compared is None else Interval(*compared["interval"]),
    ]
