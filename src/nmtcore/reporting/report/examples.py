"""Example sentences of the report: the same for all systems of a data set, drawn at random, with source trees."""

import random
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.subsets import scored_sentences
from nmtcore.parquet import read_rows
from nmtcore.reporting.svg import Drawing
from nmtcore.reporting.tree_drawing import DrawnTree, tree_drawing

EXAMPLES = 3
"""Sentences per data set."""

LENGTHS = (5, 20)
"""Fewest and most words of the source of an example; of all lengths if the test has too few such sentences."""


class EditedPiece(NamedTuple):
    """A piece of a reference and a translation; one of `missing` and `added` may be empty, both are if they agree."""

    same: str = ""
    missing: str = ""
    """What only the reference has."""
    added: str = ""
    """What only the translation has."""


def draw_examples(
    pairs: Path, trees: Path | None, *, name: str, sentences: int, count: int = EXAMPLES
) -> list[dict[str, Any]]:
    """Draw examples from the first sentences of a test.

    Args:
        pairs: the sentence pairs of the test.
        trees: an annotation of its sources with dependency trees; None: there is none.
        name: the data set, which is the seed.
        sentences: how many sentences of the test were translated.
        count: how many to draw.

    Returns the `row`, `source`, `words`, and `heads` and `labels` (None without a tree) of each example.
    """
    rows = list(islice(read_rows(pairs, columns=["source", "source_words"]), sentences))
    fitting = [i for i, row in enumerate(rows) if LENGTHS[0] <= len(row["source_words"]) <= LENGTHS[1]]
    candidates = fitting if len(fitting) >= count else range(len(rows))
    chosen = sorted(random.Random(name).sample(candidates, min(count, len(candidates))))
    analyses: dict[int, Mapping[str, Any]] = {}
    if trees is not None and chosen:
        columns = ["head", "deprel"]
        numbered = enumerate(islice(read_rows(trees, columns=columns), chosen[-1] + 1))
        analyses = {number: row for number, row in numbered if number in chosen}
    return [
        {
            "row": number,
            "source": rows[number]["source"],
            "words": rows[number]["source_words"],
            "heads": analyses.get(number, {}).get("head"),
            "labels": analyses.get(number, {}).get("deprel"),
        }
        for number in chosen
    ]


def example_tree(example: Mapping[str, Any]) -> Drawing | None:
    """Draw the tree of the source of an example; None if it has none."""
    if example["heads"] is None or len(example["heads"]) != len(example["words"]):
        return None
    return tree_drawing(DrawnTree("", example["words"], example["heads"], example["labels"]))


def translated_examples(
    examples: Sequence[Mapping[str, Any]],
    translations: Sequence[str],
    references: Sequence[str],
    evaluation: EvaluationSettings,
) -> list[dict[str, Any]]:
    """Return the `row`, `reference`, `translation`, `chrf` and `pieces` (`edited_pieces`) of each example in a test."""
    rows = [example["row"] for example in examples]
    scored = scored_sentences(translations, translations, references, evaluation, rows=rows)
    return [
        {
            "row": sentence.row,
            "reference": references[sentence.row],
            "translation": translations[sentence.row],
            "chrf": sentence.chrf,
            "pieces": edited_pieces(references[sentence.row], translations[sentence.row]),
        }
        for sentence in scored
    ]


def edited_pieces(reference: str, translation: str) -> list[EditedPiece]:
    """Compare a translation with a reference, word by word; character by character if the reference has no spaces."""
    by_words = " " in reference.strip()
    separator = " " if by_words else ""
    first, second = (text.split() if by_words else list(text) for text in (reference, translation))
    pieces = []
    for _, start, end, other_start, other_end in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        missing, added = separator.join(first[start:end]), separator.join(second[other_start:other_end])
        pieces.append(EditedPiece(same=missing) if missing == added else EditedPiece(missing=missing, added=added))
    return pieces
