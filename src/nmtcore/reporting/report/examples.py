"""Example sentences of the report: the same for all systems of a data set, drawn at random, with source trees."""

import random
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.outputs import read_outputs
from nmtcore.evaluation.subsets import scored_sentences
from nmtcore.layout import Layout
from nmtcore.parquet import read_rows
from nmtcore.reporting.manifest import FINISHED
from nmtcore.reporting.report.runs import run_path
from nmtcore.reporting.tree_drawing import DrawnTree, tree_drawing

LENGTHS = (5, 20)
"""Fewest and most words of the source of an example; of all lengths if the test has too few such sentences."""


def draw_examples(layout: Layout, dataset: str, test: Mapping[str, Any], *, count: int) -> list[dict[str, Any]]:
    """Draw examples from the first sentences of the main test of a data set (`main_tests`); none if it was not read.

    Returns the `row`, `source` and drawn `tree` (None without a tree) of each.
    """
    pairs, trees, stop = (
        Path(layout.path("pairs", dataset=dataset, split=test["split"])),
        test["trees"],
        test["sentences"],
    )
    if not pairs.exists():
        return []
    rows = list(read_rows(pairs, columns=["source", "source_words"], stop=stop))
    analyses = []
    if trees is not None and Path(trees).exists():
        analyses = list(read_rows(trees, columns=["head", "deprel"], stop=stop))
    fitting = [i for i, row in enumerate(rows) if LENGTHS[0] <= len(row["source_words"]) <= LENGTHS[1]]
    candidates = fitting if len(fitting) >= count else range(len(rows))
    chosen = sorted(random.Random(dataset).sample(candidates, min(count, len(candidates))))
    return [
        {
            "row": i,
            "source": rows[i]["source"],
            "tree": _tree(f"tree-{dataset}-{i}", rows[i]["source_words"], **analyses[i]) if analyses else None,
        }
        for i in chosen
    ]


def _tree(id_: str, words: Sequence[str], head: Sequence[int] | None, deprel: Sequence[str]) -> dict[str, Any] | None:
    """Draw the tree of a sentence; None if it was not parsed."""
    from markupsafe import Markup

    if head is None:
        return None
    drawing = tree_drawing(DrawnTree("", words, head, deprel))
    size = {"width": round(drawing.width), "height": round(drawing.height)}
    return {"id": id_, "elements": Markup("".join(drawing.elements)), **size}


def translated_examples(
    examples: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]], test: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Add to examples what the first finished run makes of them; none if no run is finished.

    That are `reference`, `translation`, `chrf` and `pieces` (`edited_pieces`). Raises `UserError` if the run has
    translated fewer sentences.
    """
    finished = [run for run in runs if run["state"] == FINISHED]
    if not finished or not examples:
        return []
    folder, rows = run_path(finished[0], "hypotheses", split=test["split"]), [example["row"] for example in examples]
    outputs = read_outputs({"": {1: folder}})
    translations = outputs.translations[""][1]
    if rows[-1] >= len(translations):
        raise UserError(f"{folder} has fewer translations than another system: delete it and run the workflow again.")
    evaluation = build(EvaluationSettings, test["evaluation"], where=str(folder))
    scored = scored_sentences(translations, translations, outputs.references, evaluation, rows=rows)
    return [
        {
            **example,
            "reference": (reference := outputs.references[own.row]),
            "translation": (translation := translations[own.row]),
            "chrf": own.chrf,
            "pieces": edited_pieces(reference, translation),
        }
        for example, own in zip(examples, scored, strict=True)
    ]


def edited_pieces(reference: str, translation: str) -> list[tuple[str, str, str]]:
    """Compare a translation with a reference, word by word; character by character if the reference has no spaces.

    A piece is what both have or, then empty, what only the reference and only the translation have.
    """
    by_words = " " in reference.strip()
    separator = " " if by_words else ""
    first, second = (text.split() if by_words else list(text) for text in (reference, translation))
    pieces = []
    for _, start, end, other_start, other_end in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        missing, added = separator.join(first[start:end]), separator.join(second[other_start:other_end])
        pieces.append((missing, "", "") if missing == added else ("", missing, added))
    return pieces
