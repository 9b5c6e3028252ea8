"""Agreement between two annotations of a split; if the second is a gold treebank, the accuracy of the first."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import count_matches, is_punctuation, percent
from nmtcore.files import write_json
from nmtcore.parquet import paired_batches

_COLUMNS = ["upos", "head", "deprel", "ccg", "reason"]
MEASURES = ("uas", "las", "las_subtypes", "upos", "ccg")


def compare_annotations(
    first: Path, second: Path, *, annotators: tuple[str, str], corpus: Path, side: str, output: Path
) -> dict[str, Any]:
    """Compare two annotations of one side of a split, and write the counts to `output` (JSON) with their `annotators`.

    Percentages of the words with both annotations: `uas` (same head), `las` (same head and label, without subtypes
    after the colon), `las_subtypes` (with them), `upos`, `ccg`; each also `_without_punctuation`; None if there are
    no words. Punctuation is what `second` tags PUNCT, or, if it has no UPOS, words of punctuation characters. Also
    counts the sentences, those with heads from both (`compared`), their words, and each annotation's nulls by reason.

    Files are streamed batch by batch. Raises `UserError` if the files hold different pairs or words.
    """
    counts = {measure: np.zeros(4, dtype=int) for measure in MEASURES}
    nulls: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    sentences = compared = 0
    for rows in zip(*(_annotated(corpus, f"{side}_words", path) for path in (first, second)), strict=True):
        (words, own), (_, other) = rows
        sentences += 1
        for reasons, (_, annotation) in zip(nulls, rows, strict=True):
            if annotation["reason"] is not None:
                reasons[annotation["reason"].split(":")[0]] += 1
        matches = {measure: right for measure, right in _matches(own, other).items() if right is not None}
        marks = is_punctuation(words, other["upos"]) if matches else []
        for measure, right in matches.items():
            counts[measure] += count_matches(right, marks)
        compared += "uas" in matches
    percentages: dict[str, float | None] = {}
    for measure, own_counts in counts.items():
        right, words, right_without, words_without = own_counts.tolist()
        percentages[measure] = percent(right, words)
        percentages[f"{measure}_without_punctuation"] = percent(right_without, words_without)
    _, words, _, words_without = counts["uas"].tolist()
    result = {
        **{"first": annotators[0], "second": annotators[1], "side": side},
        **{"sentences": sentences, "compared": compared},
        **{"words": words, "words_without_punctuation": words_without},
        "nulls": {name: dict(own.most_common()) for name, own in zip(("first", "second"), nulls, strict=True)},
        **percentages,
    }
    write_json(output, result)
    return result


def _annotated(corpus: Path, words: str, path: Path) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield the words and the annotation of each sentence. Raises `UserError` if they do not belong together."""
    row = 0
    for pairs, annotations in paired_batches(corpus, path, columns=([words], _COLUMNS)):
        for sentence, annotation in zip(pairs.column(words).to_pylist(), annotations.to_pylist(), strict=True):
            for column in _COLUMNS[:-1]:
                if annotation[column] is not None and len(annotation[column]) != len(sentence):
                    raise UserError(
                        f"{path}, row {row}: {len(annotation[column])} values in '{column}', but {len(sentence)} "
                        "words: the annotation is of another corpus; delete it and annotate again."
                    )
            yield sentence, annotation
            row += 1


def _matches(first: dict[str, Any], second: dict[str, Any]) -> dict[str, list[bool] | None]:
    """Mark the words that match, by measure; None if one of the annotations lacks what is compared."""
    heads, labels = _equal(first["head"], second["head"]), _equal(first["deprel"], second["deprel"])
    labels_without_subtypes = _equal(
        *([d.split(":")[0] for d in a["deprel"]] if a["deprel"] is not None else None for a in (first, second))
    )
    return {
        "uas": heads,
        "las": _both_match(heads, labels_without_subtypes),
        "las_subtypes": _both_match(heads, labels),
        "upos": _equal(first["upos"], second["upos"]),
        "ccg": _equal(first["ccg"], second["ccg"]),
    }


def _equal(first: list[Any] | None, second: list[Any] | None) -> list[bool] | None:
    return None if first is None or second is None else [a == b for a, b in zip(first, second, strict=True)]


def _both_match(first: list[bool] | None, second: list[bool] | None) -> list[bool] | None:
    return None if first is None or second is None else [a and b for a, b in zip(first, second, strict=True)]
