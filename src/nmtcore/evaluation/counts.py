"""Counts of sentences behind every score. They add up, so that any part or sample of a test can be scored.

A metric counts the sentences of a test once: a row is a sentence, a column what is counted. The sum over a test gives
its score, `counts[rows]` is a part of it, and `weights @ counts` are the sums of samples. B stands for sentences, A for
samples, F for the columns of a metric.

They are counted when a run is scored, and stored for whatever is computed from them: a file per split
(`write_counts`), whose row n is line n of the translations. A new measure of runs is a new column there.

Shapes: A draws, B sentences, F features.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nmtcore.errors import UserError
from nmtcore.parquet import open_file, read_batches, row_writer

RowScores = Callable[[np.ndarray], np.ndarray]
"""Scores (0 to 100) of sums of counts: from (A, F) to (A,), each row as if it were a test."""


@dataclass(frozen=True, kw_only=True)
class SentenceCounts:
    """What a metric counts in each sentence of a test, by one system and seed."""

    counts_BF: np.ndarray
    """A row per sentence, as floats: sums of whole numbers are exact up to 2^53, and float products are fast."""
    score: RowScores
    """The metric's function of sums."""
    signature: str = ""
    """Signature of the scores."""
    test: str = ""
    """Checksum of what the sentences are compared with (`checksum_of_test`): only the same tests are compared."""

    def __len__(self) -> int:
        return len(self.counts_BF)

    def rows(self, rows: np.ndarray | Sequence[int]) -> "SentenceCounts":
        """Select some of the sentences."""
        return replace(self, counts_BF=self.counts_BF[np.asarray(rows, dtype=np.int64)])

    def corpus_score(self) -> float:
        """Return the score of all sentences together. Raises `ValueError` if there are none."""
        if not len(self):
            raise ValueError("an empty set of sentences has no score")
        return float(self.score(self.counts_BF.sum(axis=0, keepdims=True))[0])

    def sampled_scores(self, weights_AB: np.ndarray) -> np.ndarray:
        """Return the score of each sample that has each sentence as often as its weights say: (A,)."""
        return self.score(weights_AB @ self.counts_BF)


def bleu_of_counts(counts_AF: np.ndarray, *, smoothed: bool = True) -> np.ndarray:
    """Compute BLEU of each row as sacreBLEU does for a corpus.

    Args:
        counts_AF: tokens of the translation and of the reference, then the matching n-grams and the translation's
            n-grams of orders 1 to 4.
        smoothed: whether each order without matches has half the count of the one before (sacreBLEU's `exp`); else
            it makes the score 0.
    """
    length_A, reference_A, matches_A4, totals_A4 = counts_AF[:, 0], counts_AF[:, 1], counts_AF[:, 2:6], counts_AF[:, 6:]
    unmatched_A4 = matches_A4 == 0
    smoothed_A4 = np.where(unmatched_A4, 0.5 ** np.cumsum(unmatched_A4, axis=1), matches_A4)
    with np.errstate(divide="ignore", invalid="ignore"):
        precisions_A = np.exp(np.log(100 * smoothed_A4 / totals_A4).mean(axis=1))
        scores_A = np.exp(np.minimum(0, 1 - reference_A / length_A)) * precisions_A
    zero_A = unmatched_A4.all(axis=1) if smoothed else unmatched_A4.any(axis=1)
    return np.where((totals_A4 > 0).all(axis=1) & ~zero_A, scores_A, 0.0)


def chrf_of_counts(counts_AF: np.ndarray) -> np.ndarray:
    """Compute chrF2 of each row, equal to sacreBLEU's to the last bit.

    `counts_AF` has, for each order from 1 to 6, the character n-grams of the translation, of the reference and of both.
    """
    own_A6, reference_A6, matches_A6 = np.moveaxis(counts_AF.reshape(len(counts_AF), 6, 3), 2, 0)
    counted_A6 = (own_A6 > 0) & (reference_A6 > 0)
    orders_A = np.maximum(counted_A6.sum(axis=1), 1)
    precision_A, recall_A = (
        np.divide(matches_A6, totals_A6, where=counted_A6, out=np.zeros(matches_A6.shape)).sum(axis=1) / orders_A
        for totals_A6 in (own_A6, reference_A6)
    )
    below_A = 4 * precision_A + recall_A
    return 100 * np.divide(5 * precision_A * recall_A, below_A, where=below_A > 0, out=np.zeros(len(below_A)))


def share_of_counts(counts_AF: np.ndarray) -> np.ndarray:
    """Return the first column of each row as a percentage of the second; 0 if that is 0.

    This is the score of all that are right among all that count (attachment), and of means of sentence scores, whose
    second column is, for a sentence that counts, the score that stands for 100: 1 of RIBES and COMET.
    """
    part_A, whole_A = counts_AF[:, 0], counts_AF[:, 1]
    return 100 * np.divide(part_A, whole_A, where=whole_A > 0, out=np.zeros(len(counts_AF)))


def length_ratio(bleu: SentenceCounts) -> float:
    """Return the length of the translations divided by that of the references, in BLEU's tokens; 0 without any."""
    length, reference = bleu.counts_BF[:, :2].sum(axis=0)
    return float(length / reference) if reference else 0.0


def empty_count(bleu: SentenceCounts) -> int:
    """Count the translations without a token."""
    return int((bleu.counts_BF[:, 0] == 0).sum())


def checksum_of_test(sentences: Iterable[Any]) -> str:
    """Return a checksum of the references of a test, or of plain values that say what each sentence is."""
    return hashlib.sha256(json.dumps(list(sentences)).encode()).hexdigest()


def write_counts(path: Path, counts: Mapping[str, SentenceCounts]) -> None:
    """Write the counts of a split by several measures: a row per sentence, and a column of lists per measure.

    The file's metadata has the `signatures` and the checksum of the test, which must be the same for all, as JSON.
    """
    (test,) = {counted.test for counted in counts.values()}
    signatures = {measure: counted.signature for measure, counted in counts.items()}
    fields = [
        pa.field(measure, pa.list_(pa.float64(), counted.counts_BF.shape[1])) for measure, counted in counts.items()
    ]
    schema = pa.schema(fields, metadata={"signatures": json.dumps(signatures), "test": test})
    columns = [
        pa.FixedSizeListArray.from_arrays(counted.counts_BF.ravel(), counted.counts_BF.shape[1])
        for counted in counts.values()
    ]
    with row_writer(path, schema) as writer:
        writer.write_batch(pa.table(columns, schema=schema))


def stored_measures(path: Path) -> list[str]:
    """List the measures that a file of counts has."""
    with open_file(path) as file:
        return list(file.schema_arrow.names)


def read_counts(path: Path, measure: str, score: RowScores = share_of_counts) -> SentenceCounts:
    """Read the counts of a split by a measure, whose function of sums is `score`.

    Raises `UserError` if the file has none by this measure.
    """
    with open_file(path) as file:
        schema = file.schema_arrow
    if measure not in schema.names:
        raise UserError(f"{path} has no counts of {measure}: delete it, and run the workflow to score the run again.")
    width = schema.field(measure).type.list_size
    batches = [batch.column(measure).flatten().to_numpy() for batch in read_batches(path, columns=[measure])]
    return SentenceCounts(
        counts_BF=np.concatenate([np.empty(0), *batches]).reshape(-1, width),
        score=score,
        signature=json.loads(schema.metadata[b"signatures"])[measure],
        test=schema.metadata[b"test"].decode(),
    )
