"""The sentence that a figure of attention or of trees shows: the first of a test that is neither short nor long."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import is_punctuation
from nmtcore.parquet import paired_batches, read_batches

FEWEST_WORDS, MOST_WORDS = 8, 15
"""Numbers of words of the sentence that a figure shows."""


class ShownSentence(NamedTuple):
    """A sentence of the source side and its tree, one entry per word; None for what its annotation lacks."""

    id: int
    words: list[str]
    heads: list[int] | None = None
    """1-based, 0 = root."""
    labels: list[str] | None = None
    upos: list[str] | None = None

    @property
    def punctuation(self) -> list[bool]:
        """Mark the words that are punctuation."""
        return is_punctuation(self.words, self.upos)

    def as_json(self) -> dict[str, Any]:
        """Return the sentence and how it was chosen, as plain values."""
        tree = " and a tree" if self.heads is not None else ""
        return {**self._asdict(), "chosen": f"the first sentence with {FEWEST_WORDS} to {MOST_WORDS} words{tree}"}


def choose_sentence(pairs: Path, trees: Path | None = None, *, ids: Collection[int] | None = None) -> ShownSentence:
    """Choose the first sentence with `FEWEST_WORDS` to `MOST_WORDS` words and, with `trees`, a tree.

    Args:
        pairs: the sentence pairs of a split.
        trees: the annotation of the source side.
        ids: the sentences to choose from; all by default.

    Raises:
        UserError: if there is no such sentence.
    """
    for row in _sentence_rows(pairs, trees):
        long_enough = FEWEST_WORDS <= len(row["source_words"]) <= MOST_WORDS
        if long_enough and (ids is None or row["id"] in ids) and (trees is None or row["head"] is not None):
            return ShownSentence(row["id"], row["source_words"], row.get("head"), row.get("deprel"), row.get("upos"))
    among = "" if ids is None else f" among the {len(ids)} to choose from"
    raise UserError(
        f"{pairs} has no sentence with {FEWEST_WORDS} to {MOST_WORDS} words{'' if trees is None else ' and a tree'}"
        f"{among}, so there is nothing to draw: leave this figure out, or use a larger scale."
    )


def _sentence_rows(pairs: Path, trees: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the ids and words of sentences, with their trees if there are any."""
    if trees is None:
        for batch in read_batches(pairs, columns=["id", "source_words"]):
            yield from batch.to_pylist()
        return
    for words, annotation in paired_batches(pairs, trees, columns=(["source_words"], ["head", "deprel", "upos"])):
        for row, tree in zip(words.to_pylist(), annotation.to_pylist(), strict=True):
            yield {**row, **tree}
