"""Tables of examples: the sentence that a paper shows, or those that two systems translate most differently."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.planned_tables import PlannedCell, PlannedColumn, PlannedTable
from nmtcore.config.typed import build
from nmtcore.evaluation.outputs import read_outputs
from nmtcore.layout import Layout
from nmtcore.reporting.empty_translations import empty_outputs
from nmtcore.reporting.examples_table import (
    ExampleTest,
    example_blocks,
    example_entry,
    example_notes,
    read_example_pairs,
)
from nmtcore.reporting.seed_items import run_items
from nmtcore.reporting.table import Block, Paragraph, item_blocks, note
from nmtcore.reporting.table_content import TableContent


def examples_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Show the example of a paper where the test has it, or else the sentences whose translations differ most."""
    entries = [entry for column in table.columns for entry in _entries(table, column, layout)]
    blocks = item_blocks(sentence for entry in entries for sentence in entry.pop("empty", ()))
    for entry in entries:
        heading, *others = example_blocks(entry)
        blocks += [heading, *_about_sentence(entry), *others]
    seeds = sorted({seed for entry in entries for seed in entry["seeds"]})
    if seeds:
        blocks.append(note(example_notes(table.scale, seeds, differing=not all(entry["found"] for entry in entries))))
    blocks += item_blocks(run_items(table))
    return TableContent(blocks=blocks, data=entries)


def _entries(table: PlannedTable, column: PlannedColumn, layout: Layout) -> Iterator[dict[str, Any]]:
    """Yield an entry per system that is compared with the first row's."""
    first, *others = [table.cell(row.name, column.name) for row in table.rows]
    for cell in others:
        names = {
            "dataset": cell.dataset or column.name, "scale": table.scale, "split": cell.split or "test",
            "baseline": first.row, "system": cell.row, "runs": [first.runs, cell.runs],
        }  # fmt: skip
        reason = next((own.reason or f"{own.row} is not run" for own in (first, cell) if own.runs is None), "")
        if reason:
            yield {**names, "seeds": [], "reason": reason, "examples": [], "sentence": "", "found": False}
        else:
            yield {**names, **_compared(table, first, cell, layout)}


def _compared(table: PlannedTable, first: PlannedCell, second: PlannedCell, layout: Layout) -> dict[str, Any]:
    """Compare two systems by their lowest seeds."""
    names = {"dataset": second.dataset, "split": second.split}
    supertags = table.more.get("supertags", {}).get(second.dataset, {}).get(second.split)
    folders = {}
    for cell in (first, second):
        runs = table.runs[cell.runs]
        seed = min(runs.seeds)
        path = layout.path("hypotheses", scale=table.scale, dataset=runs.dataset, system=runs.system, seed=seed)
        folders[cell.row] = {seed: Path(path)}
    test = ExampleTest(
        sentences=read_example_pairs(Path(layout.path("pairs", **names)), supertags and Path(supertags)),
        outputs=read_outputs(folders, second.split),
        evaluation=build(EvaluationSettings, table.evaluation[second.dataset], where=second.dataset),
    )
    sentence = table.more.get("sentence", "")
    sources = [pair["source"] for pair in test.sentences[: len(test.outputs.references)]]
    row = find_sentence(sources, sentence) if sentence else None
    entry = example_entry(test, first.row, second.row, rows=None if row is None else [row])
    empty = list(empty_outputs(test.outputs, second.dataset, second.split))
    return {**entry, "sentence": sentence, "found": row is not None, "empty": empty}


def find_sentence(sources: Sequence[str], sentence: str) -> int | None:
    """Return the position of the first source text that contains a sentence; None if there is none.

    Spaces before punctuation, repeated spaces and case do not matter.
    """
    wanted = _without_spaces(sentence)
    return next((row for row, source in enumerate(sources) if wanted in _without_spaces(source)), None)


def _without_spaces(text: str) -> str:
    return " ".join(re.sub(r"\s+([^\w\s])", r"\1", text).split()).casefold()


def _about_sentence(entry: dict[str, Any]) -> Iterator[Block]:
    """Say that a test lacks the sentence that the paper shows."""
    if entry["sentence"] and not entry["found"] and not entry["reason"]:
        text = "The test lacks the paper's example, so the sentences that differ most are shown. The paper's: "
        yield Paragraph(text, corpus=entry["sentence"])
