"""Sentences that a baseline and another system translate differently, as Markdown and one JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.differing import ScoredSentence, differing_sentences, scored_sentences
from nmtcore.evaluation.outputs import SplitOutputs, read_outputs
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.parquet import read_rows
from nmtcore.reporting.constructions_table import runs_by_dataset
from nmtcore.reporting.empty_translations import empty_outputs
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Page,
    Paragraph,
    Table,
    item_blocks,
    make_table,
    note,
    number_columns,
    with_origin,
)

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


def write_example_table(
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
    """Show what systems translate differently from the baseline, as JSON and Markdown; return the Markdown.

    Args:
        hypotheses: `{dataset}/{system}/seed{seed}/hypotheses`, one run per data set and system, at one scale.
        tests: for each data set its main test: `split`, `evaluation`, `annotations` as (side, column, path).
        baseline: the system that others are compared with.
        left_out: data set, system and reason of each system that was not run on a data set.
        layout: names the data set, system and seed of each path, and finds the sentence pairs.
        scale: name of the scale.
        json: output, a list with one entry per data set and system other than the baseline.
        table: output as Markdown, a section per entry.
    """
    entries, empty = [], []
    for dataset, folders in runs_by_dataset(hypotheses, layout).items():
        split = tests[dataset]["split"]
        supertags = [Path(path) for _, column, path in tests[dataset]["annotations"] if column == "ccg"]
        pairs = Path(layout.path("pairs", dataset=dataset, split=split))
        test = ExampleTest(
            sentences=read_example_pairs(pairs, supertags[-1] if supertags else None),
            outputs=read_outputs(folders, split),
            evaluation=build(EvaluationSettings, tests[dataset]["evaluation"], where=dataset),
            left_out={system: reason for name, system, reason in left_out if name == dataset},
        )
        empty += empty_outputs(test.outputs, dataset, split)
        common = {"dataset": dataset, "scale": scale, "split": split, "baseline": baseline}
        for system in (*folders, *test.left_out):
            if system != baseline:
                names = {"system": system, "runs": [f"{dataset}/{baseline}", f"{dataset}/{system}"]}
                entries.append({**common, **names, **example_entry(test, baseline, system)})
    write_json(json, entries)
    seeds = sorted({seed for entry in entries for seed in entry["seeds"]})
    blocks = [*item_blocks(empty), *(block for entry in entries for block in example_blocks(entry))]
    return write_page(Page(title="Examples", blocks=(*blocks, note(example_notes(scale, seeds)))), table)


def example_notes(scale: str, seeds: Sequence[int], *, differing: bool = True) -> str:
    """Describe examples by some seeds; `differing`: whether they were chosen by how much their translations differ."""
    chosen = _DIFFERING.format(shown=SHOWN).lstrip("\n") if differing else ""
    return _NOTES.format(scale=scale, seed=", ".join(map(str, seeds)), chosen=chosen)


@dataclass(frozen=True, kw_only=True)
class ExampleTest:
    """A test that examples are taken from."""

    sentences: list[dict[str, Any]]
    """`id`, `source`, the words of the reference and their supertags (None: there are none) of each pair."""
    outputs: SplitOutputs
    evaluation: EvaluationSettings
    left_out: dict[str, str] = field(default_factory=dict)
    """What the data set lacks for each system that was not run on it."""


def read_example_pairs(pairs: Path, supertags: Path | None) -> list[dict[str, Any]]:
    """Read the `sentences` of `ExampleTest`; without supertags they have None.

    Raises `UserError` if the numbers of sentences differ.
    """
    rows = list(read_rows(pairs, columns=["id", "source", "target_words"]))
    categories: list[list[str] | None] = [None] * len(rows)
    if supertags is not None:
        categories = [row["ccg"] for row in read_rows(supertags, columns=["ccg"])]
        if len(categories) != len(rows):
            raise UserError(
                f"{supertags} has {len(categories):,} sentences, {pairs} has {len(rows):,}: delete the older."
            )
    return [{**row, "supertags": tags} for row, tags in zip(rows, categories, strict=True)]


def example_entry(
    test: ExampleTest, baseline: str, system: str, *, rows: Sequence[int] | None = None
) -> dict[str, Any]:
    """Make the entry of a system; if one of the two systems was not run, it has a reason and no examples.

    Args:
        test: the test.
        baseline: name of one of its systems.
        system: name of another.
        rows: positions of the sentences to show; None: those whose translations differ most.
    """
    for name in (baseline, system):
        if name not in test.outputs.translations:
            names = f", since the data set has {test.left_out[name]}" if name in test.left_out else ""
            return {"seeds": [], "reason": f"{name} was not run{names}", "examples": []}
    runs = [next(iter(test.outputs.translations[name].items())) for name in (baseline, system)]
    translations = [lines for _, lines in runs]
    references = test.outputs.references
    if rows is None:
        sentences = differing_sentences(*translations, references, test.evaluation, most=SHOWN)
    else:
        sentences = scored_sentences(*translations, references, test.evaluation, rows=rows)
    return {
        "seeds": [runs[1][0]],
        "reason": None if sentences else "the two systems translate all sentences alike",
        "examples": [_example(sentence, test, *translations) for sentence in sentences],
    }


def _example(
    sentence: ScoredSentence, test: ExampleTest, translations: Sequence[str], others: Sequence[str]
) -> dict[str, Any]:
    row = sentence.row
    pair = test.sentences[row]
    return {
        "sentence": row,
        "id": pair["id"],
        "source": pair["source"],
        "reference": test.outputs.references[row],
        "reference_words": pair["target_words"],
        "supertags": pair["supertags"],
        "baseline": {"translation": translations[row], "chrf": sentence.chrf},
        "system": {"translation": others[row], "chrf": sentence.other_chrf},
    }


def example_blocks(entry: Mapping[str, Any]) -> Iterator[Block]:
    """Yield the parts of a section: its heading, and one small table per example."""
    yield Heading(f"{entry['dataset']}, {entry['split']}: {entry['baseline']} and {entry['system']}")
    if entry["reason"]:
        yield Paragraph(f"No example: {entry['reason']}.")
    for example in entry["examples"]:
        yield _example_table(example, entry)


def _example_table(example: Mapping[str, Any], entry: Mapping[str, Any]) -> Table:
    words, supertags = example["reference_words"], example["supertags"]
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
