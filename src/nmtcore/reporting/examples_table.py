"""Sentences that a baseline and another system translate differently, or the sentence that a paper shows."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.outputs import read_outputs
from nmtcore.evaluation.subsets import differing_sentences, scored_sentences
from nmtcore.parquet import read_rows
from nmtcore.reporting.empty_translations import empty_outputs
from nmtcore.reporting.seed_items import run_items
from nmtcore.tables.blocks import (
    Block,
    Column,
    Heading,
    Paragraph,
    Table,
    item_blocks,
    make_table,
    note,
    number_columns,
    with_origin,
)
from nmtcore.tables.cells import Cell, PlannedTable

SHOWN = 10
"""Examples per pair of systems."""

_DIFFERING = """
The {shown} sentences of a test whose two translations differ most in chrF, the largest difference first; equal ones in
the order of the test.
"""

_NOTES = """
Scale {scale}, seed {seed}. {chosen}Sentence: its position in the test, from 0. In references that were analysed, each
word has its CCG supertag.
"""


def examples_data(table: PlannedTable) -> list[dict[str, Any]]:
    """List an entry per column and system that is compared with another one, or with that of the first row."""
    entries = []
    for column in table.columns:
        rows = [row.name for row in table.rows]
        pairs = table.compared_with or dict.fromkeys(rows[1:], rows[0])
        for name, other in pairs.items():
            first, cell = table.cell(other, column.name), table.cell(name, column.name)
            names = {
                "dataset": cell.ours or column.name, "scale": table.scale, "split": cell.test or "test",
                "baseline": first.row, "system": cell.row, "runs": [first.runs, cell.runs], "sentence": table.sentence,
            }  # fmt: skip
            reason = next((own.reason or f"{own.row} is not run" for own in (first, cell) if not own.source), "")
            empty = {"seeds": [], "reason": reason, "examples": [], "found": False, "empty": []}
            entries.append({**names, **(empty if reason else _compared(table, first, cell))})
    return entries


def _compared(table: PlannedTable, first: Cell, second: Cell) -> dict[str, Any]:
    """Compare two systems by their lowest seeds: on the paper's sentence, or on those that differ most."""
    files = second.source["files"]
    folders = {
        cell.row: {int(seed): Path(path) for seed, path in cell.source["files"]["hypotheses"].items()}
        for cell in (first, second)
    }
    outputs = read_outputs(folders)
    references = outputs.references
    pairs = _read_pairs(Path(files["pairs"]), files["supertags"] and Path(files["supertags"]))[: len(references)]
    row = find_sentence([pair["source"] for pair in pairs], table.sentence) if table.sentence else None
    (_, own), (seed, other) = (next(iter(outputs.translations[cell.row].items())) for cell in (first, second))
    evaluation = build(EvaluationSettings, second.source["evaluation"], where=second.ours)
    if row is None:
        sentences = differing_sentences(own, other, references, evaluation, most=SHOWN)
    else:
        sentences = scored_sentences(own, other, references, evaluation, rows=[row])
    examples = [
        {
            **{"sentence": sentence.row, "reference": references[sentence.row], **pairs[sentence.row]},
            "baseline": {"translation": own[sentence.row], "chrf": sentence.chrf},
            "system": {"translation": other[sentence.row], "chrf": sentence.other_chrf},
        }
        for sentence in sentences
    ]
    return {
        "seeds": [seed],
        "reason": None if sentences else "the two systems translate all sentences alike",
        "examples": examples,
        "found": row is not None,
        "empty": list(empty_outputs(outputs, second.ours, second.test)),
    }


def _read_pairs(pairs: Path, supertags: Path | None) -> list[dict[str, Any]]:
    """Read the source, the words of the reference and their supertags of each pair; without supertags they are None.

    Raises `UserError` if the numbers of sentences differ.
    """
    rows = list(read_rows(pairs, columns=["source", "target_words"]))
    categories: list[list[str] | None] = [None] * len(rows)
    if supertags is not None:
        categories = [row["ccg"] for row in read_rows(supertags, columns=["ccg"])]
        if len(categories) != len(rows):
            raise UserError(
                f"{supertags} has {len(categories):,} sentences, {pairs} has {len(rows):,}: delete the older."
            )
    return [{**row, "supertags": tags} for row, tags in zip(rows, categories, strict=True)]


def find_sentence(sources: Sequence[str], sentence: str) -> int | None:
    """Return the position of the first source text that contains a sentence; None if there is none.

    Spaces before punctuation, repeated spaces and case do not matter.
    """
    wanted = _without_spaces(sentence)
    return next((row for row, source in enumerate(sources) if wanted in _without_spaces(source)), None)


def _without_spaces(text: str) -> str:
    return " ".join(re.sub(r"\s+([^\w\s])", r"\1", text).split()).casefold()


def examples_blocks(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Show the examples, a section per entry: its heading, and one small table per example."""
    blocks = item_blocks(sentence for entry in entries for sentence in entry["empty"])
    for entry in entries:
        blocks.append(Heading(f"{entry['dataset']}, {entry['split']}: {entry['baseline']} and {entry['system']}"))
        if entry["reason"]:
            blocks.append(Paragraph(f"No example: {entry['reason']}."))
        elif entry["sentence"] and not entry["found"]:
            text = "The test lacks the paper's example, so the sentences that differ most are shown. The paper's: "
            blocks.append(Paragraph(text, corpus=entry["sentence"]))
        blocks += [_example_table(example, entry) for example in entry["examples"]]
    if seeds := sorted({seed for entry in entries for seed in entry["seeds"]}):
        chosen = "" if all(entry["found"] for entry in entries) else _DIFFERING.format(shown=SHOWN).lstrip("\n")
        blocks.append(note(_NOTES.format(scale=table.scale, seed=", ".join(map(str, seeds)), chosen=chosen)))
    return [*blocks, *item_blocks(run_items(table))]


def _example_table(example: Mapping[str, Any], entry: Mapping[str, Any]) -> Table:
    words, supertags = example["target_words"], example["supertags"]
    reference = example["reference"]
    if supertags is not None:
        reference = " ".join(f"{word}|{tag}" for word, tag in zip(words, supertags, strict=True))
    rows: list[list[Any]] = [["source", example["source"], None], ["reference", reference, None]]
    for key, runs in zip(("baseline", "system"), entry["runs"], strict=True):
        rows.append([entry[key], example[key]["translation"], *with_origin([example[key]["chrf"]], runs)])
    columns = [
        Column(name=f"sentence {example['sentence']}", raw_name="text of"),
        Column(name="text", content="corpus"),
        *number_columns("chrF", digits=1),
    ]
    keys = {"data set": entry["dataset"], "test": entry["split"], "compared": entry["system"]}
    return make_table(columns, rows, keys={**keys, "sentence": example["sentence"]})
