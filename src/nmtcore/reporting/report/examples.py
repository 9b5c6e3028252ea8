"""Example sentences of the report: the same for all systems of a data set, drawn at random, with source trees."""

import random
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.differing import scored_sentences
from nmtcore.evaluation.outputs import read_outputs
from nmtcore.parquet import read_rows
from nmtcore.reporting.svg import Drawing
from nmtcore.reporting.tree_drawing import DrawnTree, tree_drawing

LENGTHS = (5, 20)
"""Fewest and most words of the source of an example; of all lengths if the test has too few such sentences."""


def draw_examples(
    pairs: Path, trees: Path | None, *, name: str, sentences: int | None, count: int
) -> list[dict[str, Any]]:
    """Draw examples from the first sentences of a test.

    Args:
        pairs: the sentence pairs of the test.
        trees: an annotation of its sources with dependency trees; None: there is none.
        name: the data set, which is the seed.
        sentences: how many sentences of the test were translated; None: all.
        count: how many to draw.

    Returns the `row`, `source`, `words` and, with trees, `head` and `deprel` of each example.
    """
    rows = list(read_rows(pairs, columns=["source", "source_words"], stop=sentences))
    analyses = [] if trees is None else list(read_rows(trees, columns=["head", "deprel"], stop=sentences))
    fitting = [i for i, row in enumerate(rows) if LENGTHS[0] <= len(row["source_words"]) <= LENGTHS[1]]
    candidates = fitting if len(fitting) >= count else range(len(rows))
    chosen = sorted(random.Random(name).sample(candidates, min(count, len(candidates))))
    return [
        {"row": i, "source": rows[i]["source"], "words": rows[i]["source_words"], **(analyses[i] if analyses else {})}
        for i in chosen
    ]


def example_tree(example: Mapping[str, Any]) -> Drawing | None:
    """Draw the tree of the source of an example; None if it has none."""
    if example.get("head") is None or len(example["head"]) != len(example["words"]):
        return None
    return tree_drawing(DrawnTree("", example["words"], example["head"], example["deprel"]))


def translated_examples(
    examples: Sequence[Mapping[str, Any]], folder: Path, test: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Add to the examples of a test (`main_tests`) what a run, with its `folder` of translations, makes of them.

    That are `reference`, `translation`, `chrf` and `pieces` (`edited_pieces`).
    """
    outputs = read_outputs({"": {1: folder}}, test["split"])
    rows, translations = [example["row"] for example in examples], outputs.translations[""][1]
    if rows and rows[-1] >= len(translations):
        raise UserError(f"{folder} has fewer translations than another system.")
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
