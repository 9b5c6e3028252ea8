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
        count, tree = len(self.words), " and a tree" if self.heads is not None else ""
        if _words_outside(count):
            chosen = (
                f"the first sentence with {count} words{tree}, since none has {FEWEST_WORDS} to {MOST_WORDS} and no "
                "number is nearer"
            )
        else:
            chosen = f"the first sentence with {FEWEST_WORDS} to {MOST_WORDS} words{tree}"
        return {**self._asdict(), "chosen": chosen}


def _words_outside(words: int) -> int:
    """Return by how many words a sentence is too short or too long for a figure; 0 if it is neither."""
    return max(FEWEST_WORDS - words, words - MOST_WORDS, 0)


def choose_sentence(pairs: Path, trees: Path | None = None, *, ids: Collection[int] | None = None) -> ShownSentence:
    """Choose the first sentence with `FEWEST_WORDS` to `MOST_WORDS` words and, with `trees`, a tree.

    If there is none, it is the first sentence whose number of words is nearest to these.

    Args:
        pairs: the sentence pairs of a split.
        trees: the annotation of the source side.
        ids: the sentences to choose from; all by default.

    Raises:
        UserError: if there is no sentence with words and, with `trees`, a tree.
    """
    best: ShownSentence | None = None
    for row in _sentence_rows(pairs, trees):
        words = row["source_words"]
        if not words or (ids is not None and row["id"] not in ids) or (trees is not None and row["head"] is None):
            continue
        if best is None or _words_outside(len(words)) < _words_outside(len(best.words)):
            best = ShownSentence(row["id"], words, row.get("head"), row.get("deprel"), row.get("upos"))
        if not _words_outside(len(words)):
            break
    if best is not None:
        return best
    among = "" if ids is None else f" among the {len(ids)} to choose from"
    raise UserError(
        f"{pairs} has no sentence with words{'' if trees is None else ' and a tree'}"
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
