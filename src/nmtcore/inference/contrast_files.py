"""Files of scored contrastive pairs; no import of torch, since tables read them too."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from nmtcore.parquet import read_rows, write_rows

CONTRAST_SCORES_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("phenomenon", pa.string()),
        ("distance", pa.int64()),
        ("right", pa.float64()),
        ("wrong", pa.float64()),
        ("right_tokens", pa.int64()),
        ("wrong_tokens", pa.int64()),
        ("unknown", pa.int64()),
    ]
)
"""`contrast/{split}.parquet`, one row per pair, `id` counting them from 0: `ContrastScore`."""


class ContrastScore(NamedTuple):
    """The log-probabilities (natural) of a right and a wrong translation of the same source, whole sentences."""

    phenomenon: str
    distance: int | None
    right: float
    wrong: float
    right_tokens: int
    """Subwords of the right translation, and `</s>`."""
    wrong_tokens: int
    unknown: int
    """Subwords of both translations that the vocabulary lacks."""

    @property
    def prefers_right(self) -> bool:
        """Whether the right translation is the more probable one; it is not if both are equally probable."""
        return self.right > self.wrong

    @property
    def ties(self) -> bool:
        """Whether both are equally probable."""
        return self.right == self.wrong


def write_contrast_scores(path: Path, scores: Iterable[ContrastScore]) -> None:
    """Write scores as `CONTRAST_SCORES_SCHEMA`."""
    write_rows(path, CONTRAST_SCORES_SCHEMA, ({"id": n, **score._asdict()} for n, score in enumerate(scores)))


def read_contrast_scores(path: Path) -> Iterator[ContrastScore]:
    """Read the scores that `write_contrast_scores` wrote."""
    return (ContrastScore(**row) for row in read_rows(path, columns=list(ContrastScore._fields)))
