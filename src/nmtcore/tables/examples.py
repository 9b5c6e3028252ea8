"""Sentences that a baseline and another system translate differently, or the sentence that a paper shows."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.training import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.outputs import read_outputs
from nmtcore.evaluation.subsets import differing_sentences, scored_sentences
from nmtcore.parquet import read_rows
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
from nmtcore.tables.query import Frame, Results, Row, rows_by
from nmtcore.tables.sheets import run_items

_NO_EXAMPLE = dict.fromkeys([
    "seed", "sentence", "is_papers", "source", "reference", "target_words", "supertags",
    "translation", "chrf", "baseline_translation", "baseline_chrf", "reason",
])  # fmt: skip
"""What the row of a comparison has where there is no example; a sentence is its position in the test, from 0."""

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


def example_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield the examples of each column and system that is compared with another one, or with that of the first row.

    A comparison without an example has a row with the reason.
    """
    for column in table.columns:
        rows = [row.name for row in table.rows]
        pairs = table.compared_with or dict.fromkeys(rows[1:], rows[0])
        for name, other in pairs.items():
            first, cell = table.cell(other, column.name), table.cell(name, column.name)
            names = {"dataset": cell.ours or column.name, "test": cell.test or "test", "system": cell.row}
            names |= {"runs": cell.runs, "baseline": first.row, "baseline_runs": first.runs}
            reason = next(
                (
                    compared_cell.reason or f"{compared_cell.row} is not run"
                    for compared_cell in (first, cell)
                    if not compared_cell.source
                ),
                "",
            )
            compared = [{"reason": reason}] if reason else _compared(table, first, cell)
            yield from (names | _NO_EXAMPLE | row for row in compared)


def _compared(table: PlannedTable, first: Cell, second: Cell) -> list[Row]:
    """Compare two systems by their lowest seeds: on the paper's sentence, or on those that differ most."""
    files = second.source["files"]
    folders = {
        cell.row: {int(seed): Path(path) for seed, path in cell.source["files"]["hypotheses"].items()}
        for cell in (first, second)
    }
    outputs = read_outputs(folders)
    references = outputs.references
    pairs = _read_pairs(Path(files["pairs"]), files["supertags"] and Path(files["supertags"]))[: len(references)]
    shown = find_sentence([pair["source"] for pair in pairs], table.sentence) if table.sentence else None
    (_, baseline_lines), (seed, other) = (
        next(iter(outputs.translations[cell.row].items())) for cell in (first, second)
    )
    evaluation = build(EvaluationSettings, second.source["evaluation"], where=second.ours)
    if shown is None:
        sentences = differing_sentences(baseline_lines, other, references, evaluation, most=SHOWN)
    else:
        sentences = scored_sentences(baseline_lines, other, references, evaluation, rows=[shown])
    of_test = {"seed": seed}
    if not sentences:
        return [of_test | {"reason": "the two systems translate all sentences alike"}]
    return [
        {
            **of_test,
            **{"sentence": sentence.row, "is_papers": shown is not None, "reference": references[sentence.row]},
            **pairs[sentence.row],
            **{"baseline_translation": baseline_lines[sentence.row], "baseline_chrf": sentence.chrf},
            **{"translation": other[sentence.row], "chrf": sentence.other_chrf},
        }
        for sentence in sentences
    ]


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


def example_blocks(frame: Frame) -> list[Block]:
    """Show the examples, a section per comparison: its heading, and one small table per example."""
    blocks: list[Block] = []
    for (dataset, test, baseline, system), rows in rows_by(frame.rows, "dataset", "test", "baseline", "system").items():
        blocks.append(Heading(f"{dataset}, {test}: {baseline} and {system}"))
        if rows[0]["reason"]:
            blocks.append(Paragraph(f"No example: {rows[0]['reason']}."))
        elif frame.table.sentence and not rows[0]["is_papers"]:
            text = "The test lacks the paper's example, so the sentences that differ most are shown. The paper's: "
            blocks.append(Paragraph(text, corpus=frame.table.sentence))
        blocks += [_example_table(row) for row in rows if row["sentence"] is not None]
    if seeds := sorted({row["seed"] for row in frame.rows if row["seed"] is not None}):
        chosen = "" if all(row["is_papers"] for row in frame.rows) else _DIFFERING.format(shown=SHOWN).lstrip("\n")
        blocks.append(note(_NOTES.format(scale=frame.table.scale, seed=", ".join(map(str, seeds)), chosen=chosen)))
    return [*blocks, *item_blocks(run_items(frame.table))]


def _example_table(example: Row) -> Table:
    reference = example["reference"]
    if example["supertags"] is not None:
        tagged = zip(example["target_words"], example["supertags"], strict=True)
        reference = " ".join(f"{word}|{tag}" for word, tag in tagged)
    rows: list[list[Any]] = [["source", example["source"], None], ["reference", reference, None]]
    for side, name in (("baseline_", "baseline"), ("", "system")):
        score = with_origin([example[f"{side}chrf"]], example[f"{side}runs"])
        rows.append([example[name], example[f"{side}translation"], *score])
    columns = [
        Column(name=f"sentence {example['sentence']}", raw_name="text of"),
        Column(name="text", content="corpus"),
        *number_columns("chrF", digits=1),
    ]
    keys = {"data set": example["dataset"], "test": example["test"], "compared": example["system"]}
    return make_table(columns, rows, keys={**keys, "sentence": example["sentence"]})
