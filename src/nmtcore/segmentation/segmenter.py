"""Words to subwords, with the word of every subword, and back."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.layout import file_name
from nmtcore.segmentation.bpe import Codes, join_pieces

CACHED_WORDS = 1 << 19
"""The cache is emptied when it holds so many words (some 150 MB)."""
_WHITE = frozenset(" \t\n\r\x0b\x0c")


def codes_name(settings: SegmentationSettings, side: str) -> str | None:
    """Name the codes file of a side; None where words stay whole."""
    if settings.kind == "words":
        return None
    return file_name("joint_codes") if settings.joint else file_name("codes", side=side)


class _Cache(dict[str, tuple[str, ...]]):
    """The pieces of words, cut when they are first asked for."""

    def __init__(self, cut: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= CACHED_WORDS:
            self.clear()
        if not word or not _WHITE.isdisjoint(word):
            raise ValueError(f"{word!r} is no word: words are not empty and hold no white space")
        cut = self[word] = self._cut(word)
        return cut


class SegmentedSentences(NamedTuple):
    """N sentences in P subwords: each subword is one of the Q pieces of the different words among them."""

    pieces: list[str]
    """(Q,) The pieces of one word after those of another."""
    piece_of_subword: np.ndarray
    """(P,) Which of `pieces` each subword is."""
    word_of_subword: np.ndarray
    """(P,) int32: the word of each subword, from 0 in its sentence."""
    lengths: np.ndarray
    """(N,) The subwords of each sentence."""


class Segmenter:
    """Cuts words as one segmentation does on one side."""

    def __init__(self, codes: Codes | None = None) -> None:
        """Cut by `codes`; None leaves words whole."""
        self._codes = codes
        self._cache = _Cache(codes.cut if codes else lambda word: (word,))

    @classmethod
    def load(cls, folder: str | Path, settings: SegmentationSettings, side: str) -> "Segmenter":
        """Read what `learn_segmentation` wrote (or a bundle copied)."""
        name = codes_name(settings, side)
        return cls(Codes.load(Path(folder) / name) if name else None)

    def segment(self, words: Sequence[str]) -> tuple[list[str], list[int]]:
        """Cut the words of one sentence; give the pieces and, for each, the number (from 0) of its word."""
        known = self._cache
        cuts = [known[word] for word in words]
        pieces = list(chain.from_iterable(cuts))
        if len(pieces) == len(cuts):
            return pieces, list(range(len(cuts)))
        return pieces, [number for number, cut in enumerate(cuts) for _ in cut]

    def segment_all(self, sentences: Iterable[Sequence[str]]) -> list[tuple[list[str], list[int]]]:
        """Cut many sentences."""
        return [self.segment(words) for words in sentences]

    def segment_batch(self, sentences: pa.ListArray) -> SegmentedSentences:
        """Cut the words of many sentences (lists of strings) at once: a loop over different words, none over words."""
        counts = sentences.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        encoded = sentences.flatten().dictionary_encode()
        if encoded.null_count:
            raise ValueError("a word is null")
        known = self._cache
        cuts = [known[word] for word in encoded.dictionary.to_pylist()]
        sizes = np.fromiter(map(len, cuts), np.int64, len(cuts))
        words = encoded.indices.to_numpy(zero_copy_only=False)
        size_of_word = sizes[words]
        ends, starts = np.cumsum(size_of_word), np.cumsum(sizes) - sizes
        total = int(size_of_word.sum())
        within = np.arange(total) - np.repeat(ends - size_of_word, size_of_word)
        first_word = np.cumsum(counts) - counts
        number = np.arange(len(words)) - np.repeat(first_word, counts)
        upto = np.concatenate([[0], ends])
        return SegmentedSentences(
            pieces=list(chain.from_iterable(cuts)),
            piece_of_subword=np.repeat(starts[words], size_of_word) + within,
            word_of_subword=np.repeat(number, size_of_word).astype(np.int32),
            lengths=upto[first_word + counts] - upto[first_word],
        )

    def join(self, pieces: Sequence[str]) -> list[str]:
        """Put pieces back together to words."""
        return join_pieces(list(pieces)) if self._codes else list(pieces)
