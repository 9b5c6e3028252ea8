"""How far two annotations of one split agree; with a gold treebank as the second: how good the first is."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import MatchCounts, is_punctuation
from nmtcore.files import write_json
from nmtcore.parquet import paired_batches

_COLUMNS = ["upos", "head", "deprel", "ccg", "reason"]
MEASURES = ("uas", "las", "las_subtypes", "upos", "ccg")


def compare_annotations(
    first: Path, second: Path, *, annotators: tuple[str, str], corpus: Path, side: str, output: Path
) -> dict[str, Any]:
    """Compare two annotations of one side of the same split, and write what was counted as JSON to `output`.

    `annotators` are the names of the two, which the result tells.

    Percentages of the words that both have: `uas` (same head), `las` (same head and label, subtypes after the colon
    ignored), `las_subtypes` (kept), `upos`, `ccg`; each with `_without_punctuation`; None where there is nothing to
    compare. Punctuation is what `second` tags PUNCT, or by its characters where it has no UPOS. Beside them sentences,
    those that both have heads for (`compared`), their words, and the nulls of each by reason.

    Streamed batch by batch. Files of other pairs, or an annotation of other words, are a `UserError`.
    """
    comparison = _Comparison()
    row = 0
    for words, one, other in _aligned(corpus, f"{side}_words", first, second):
        for values in zip(words.to_pylist(), one.to_pylist(), other.to_pylist(), strict=True):
            _check_lengths(values, (first, second), row)
            comparison.add(*values)
            row += 1
    result = {"first": annotators[0], "second": annotators[1], "side": side, **comparison.result()}
    write_json(output, result)
    return result


def _aligned(
    corpus: Path, words: str, first: Path, second: Path
) -> Iterator[tuple[pa.Array, pa.RecordBatch, pa.RecordBatch]]:
    """Yield the same rows of all three files."""
    streams = [paired_batches(corpus, path, columns=([words], _COLUMNS)) for path in (first, second)]
    rest: list[Any] = [None, None]
    while True:
        rest = [next(stream, None) if pair is None else pair for stream, pair in zip(streams, rest, strict=True)]
        if None in rest:
            return
        count = min(pair[0].num_rows for pair in rest)
        yield rest[0][0].slice(0, count).column(words), rest[0][1].slice(0, count), rest[1][1].slice(0, count)
        rest = [tuple(batch.slice(count) for batch in pair) if pair[0].num_rows > count else None for pair in rest]


def _check_lengths(values: tuple[list[str], dict, dict], paths: Sequence[Path], row: int) -> None:
    words, *annotations = values
    for path, annotation in zip(paths, annotations, strict=True):
        for column in _COLUMNS[:-1]:
            if annotation[column] is not None and len(annotation[column]) != len(words):
                raise UserError(
                    f"{path}, row {row}: {len(annotation[column])} entries in '{column}' for {len(words)} words: "
                    "it was made of another corpus; delete it and annotate again."
                )


class _Comparison:
    def __init__(self) -> None:
        self.sentences = 0
        self.counts = {measure: MatchCounts() for measure in MEASURES}
        self.nulls: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, words: list[str], first: dict[str, Any], second: dict[str, Any]) -> None:
        self.sentences += 1
        for nulls, annotation in zip(self.nulls, (first, second), strict=True):
            if annotation["reason"] is not None:
                nulls[annotation["reason"].split(":")[0]] += 1
        marks: list[bool] | None = None
        for measure, right in _matches(first, second).items():
            if right is not None:
                marks = is_punctuation(words, second["upos"]) if marks is None else marks
                self.counts[measure].add(right, marks)

    def result(self) -> dict[str, Any]:
        shares: dict[str, float | None] = {}
        for measure, count in self.counts.items():
            shares[measure] = count.micro
            shares[f"{measure}_without_punctuation"] = count.without_punctuation
        compared = self.counts["uas"]
        return {
            "sentences": self.sentences,
            "compared": compared.sentences,
            "words": compared.words,
            "words_without_punctuation": compared.plain,
            "nulls": {
                name: dict(nulls.most_common()) for name, nulls in zip(("first", "second"), self.nulls, strict=True)
            },
            **shares,
        }


def _matches(first: dict[str, Any], second: dict[str, Any]) -> dict[str, list[bool] | None]:
    """Say for each measure which words match; None where one of the annotations does not have it."""
    heads, labels = _same(first["head"], second["head"]), _same(first["deprel"], second["deprel"])
    plain = _same(
        *([d.split(":")[0] for d in a["deprel"]] if a["deprel"] is not None else None for a in (first, second))
    )
    return {
        "uas": heads,
        "las": _both(heads, plain),
        "las_subtypes": _both(heads, labels),
        "upos": _same(first["upos"], second["upos"]),
        "ccg": _same(first["ccg"], second["ccg"]),
    }


def _same(first: list[Any] | None, second: list[Any] | None) -> list[bool] | None:
    return None if first is None or second is None else [a == b for a, b in zip(first, second, strict=True)]


def _both(first: list[bool] | None, second: list[bool] | None) -> list[bool] | None:
    return None if first is None or second is None else [a and b for a, b in zip(first, second, strict=True)]
