"""Agreement between two annotations of a split; if the second is a gold treebank, the accuracy of the first."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

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
    comparison = _Comparison()
    row = 0
    for batch in _aligned_batches(corpus, f"{side}_words", first, second):
        for values in zip(*(column.to_pylist() for column in batch), strict=True):
            _check_word_counts(values, (first, second), row)
            comparison.add(*values)
            row += 1
    result = {"first": annotators[0], "second": annotators[1], "side": side, **comparison.result()}
    write_json(output, result)
    return result


class _AlignedBatch(NamedTuple):
    words: pa.Array
    first: pa.RecordBatch
    second: pa.RecordBatch


def _aligned_batches(corpus: Path, words: str, first: Path, second: Path) -> Iterator[_AlignedBatch]:
    """Yield the words and both annotations of the same rows, batch by batch."""
    streams = [paired_batches(corpus, path, columns=([words], _COLUMNS)) for path in (first, second)]
    remaining: list[Any] = [None, None]
    while True:
        remaining = [pair or next(stream, None) for stream, pair in zip(streams, remaining, strict=True)]
        if None in remaining:
            return
        (corpus_batch, first_batch), (_, second_batch) = remaining
        rows = min(first_batch.num_rows, second_batch.num_rows)
        yield _AlignedBatch(
            corpus_batch.slice(0, rows).column(words), first_batch.slice(0, rows), second_batch.slice(0, rows)
        )
        remaining = [
            tuple(batch.slice(rows) for batch in pair) if pair[0].num_rows > rows else None for pair in remaining
        ]


def _check_word_counts(values: tuple[list[str], dict, dict], paths: Sequence[Path], row: int) -> None:
    words, *annotations = values
    for path, annotation in zip(paths, annotations, strict=True):
        for column in _COLUMNS[:-1]:
            if annotation[column] is not None and len(annotation[column]) != len(words):
                raise UserError(
                    f"{path}, row {row}: {len(annotation[column])} values in '{column}', but {len(words)} words: "
                    "the annotation is of another corpus; delete it and annotate again."
                )


class _Comparison:
    """Running counts of the comparison, sentence by sentence."""

    def __init__(self) -> None:
        self.sentences = 0
        self.compared = 0
        self.counts = {measure: np.zeros(4, dtype=int) for measure in MEASURES}
        self.nulls: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, words: list[str], first: dict[str, Any], second: dict[str, Any]) -> None:
        self.sentences += 1
        for nulls, annotation in zip(self.nulls, (first, second), strict=True):
            if annotation["reason"] is not None:
                nulls[annotation["reason"].split(":")[0]] += 1
        marks: list[bool] | None = None
        for measure, matches in _matches(first, second).items():
            if matches is not None:
                marks = is_punctuation(words, second["upos"]) if marks is None else marks
                self.counts[measure] += count_matches(matches, marks)
                self.compared += measure == "uas"

    def result(self) -> dict[str, Any]:
        percentages: dict[str, float | None] = {}
        for measure, counts in self.counts.items():
            right, words, right_without, words_without = counts.tolist()
            percentages[measure] = percent(right, words)
            percentages[f"{measure}_without_punctuation"] = percent(right_without, words_without)
        _, words, _, words_without = self.counts["uas"].tolist()
        return {
            "sentences": self.sentences,
            "compared": self.compared,
            "words": words,
            "words_without_punctuation": words_without,
            "nulls": {
                name: dict(nulls.most_common()) for name, nulls in zip(("first", "second"), self.nulls, strict=True)
            },
            **percentages,
        }


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
