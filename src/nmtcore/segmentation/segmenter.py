"""Segmentation of words into subwords, with the word of every subword, and back."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.layout import file_name
from nmtcore.segmentation.bpe import Codes, first_pieces_of_words, join_pieces

CACHED_WORDS = 1 << 19
"""The number of words at which the cache is cleared (about 150 MB)."""
_WHITE_SPACE = frozenset(" \t\n\r\x0b\x0c")


def codes_name(settings: SegmentationSettings, side: str) -> str | None:
    """Return the name of the codes file of a side; None if words stay whole."""
    if settings.kind == "words":
        return None
    return file_name("joint_codes") if settings.joint else file_name("codes", side=side)


class _Cache(dict[str, tuple[str, ...]]):
    """The pieces of words, computed at first use."""

    def __init__(self, cut: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= CACHED_WORDS:
            self.clear()
        if not word or not _WHITE_SPACE.isdisjoint(word):
            raise ValueError(f"{word!r} is not a word: words are not empty and contain no white space")
        pieces = self[word] = self._cut(word)
        return pieces


class Subwords(NamedTuple):
    """The subwords of one sentence."""

    pieces: list[str]
    word_of_subword: list[int]
    """The word (from 0) of each piece."""


class SegmentedSentences(NamedTuple):
    """B sentences in J subwords, sentence after sentence; each subword is one of the pieces of their distinct words."""

    pieces: list[str]
    """The pieces of the distinct words, word after word."""
    piece_of_subword_J: np.ndarray
    """The index of each subword in `pieces`."""
    word_of_subword_J: np.ndarray
    """The word of each subword, from 0 in its sentence (int32)."""
    subwords_B: np.ndarray
    """The number of subwords of each sentence."""


class Segmenter:
    """Segments words of one side into subwords, and joins subwords into words."""

    def __init__(self, codes: Codes | None = None) -> None:
        """Segment by `codes`; None leaves words whole."""
        self._codes = codes
        self._pieces_of = _Cache(codes.cut if codes else lambda word: (word,))

    @classmethod
    def load(cls, folder: str | Path, settings: SegmentationSettings, side: str) -> "Segmenter":
        """Load a segmenter from a folder written by `learn_segmentation`, or from a bundle."""
        name = codes_name(settings, side)
        return cls(Codes.load(Path(folder) / name) if name else None)

    def segment(self, words: Sequence[str]) -> Subwords:
        """Segment the words of one sentence."""
        pieces_of = self._pieces_of
        segmented = [pieces_of[word] for word in words]
        pieces = list(chain.from_iterable(segmented))
        if len(pieces) == len(segmented):
            return Subwords(pieces, list(range(len(segmented))))
        return Subwords(pieces, [word for word, word_pieces in enumerate(segmented) for _ in word_pieces])

    def segment_all(self, sentences: Iterable[Sequence[str]]) -> list[Subwords]:
        """Segment sentences one by one."""
        return [self.segment(words) for words in sentences]

    def segment_batch(self, sentences: pa.ListArray) -> SegmentedSentences:
        """Segment sentences (lists of strings) at once, with a loop over distinct words only."""
        words_B = sentences.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        encoded = sentences.flatten().dictionary_encode()
        if encoded.null_count:
            raise ValueError("a word is null")
        pieces_of = self._pieces_of
        # Of the distinct words: their pieces, how many, and the index of the first.
        segmented = [pieces_of[word] for word in encoded.dictionary.to_pylist()]
        sizes = np.fromiter(map(len, segmented), np.int64, len(segmented))
        starts = np.cumsum(sizes) - sizes

        type_W = encoded.indices.to_numpy(zero_copy_only=False)
        size_W = sizes[type_W]
        end_W = np.cumsum(size_W)
        offset_J = np.arange(int(size_W.sum())) - np.repeat(end_W - size_W, size_W)
        first_word_B = np.cumsum(words_B) - words_B
        number_W = np.arange(len(type_W)) - np.repeat(first_word_B, words_B)
        subwords_before = np.concatenate([[0], end_W])
        return SegmentedSentences(
            pieces=list(chain.from_iterable(segmented)),
            piece_of_subword_J=np.repeat(starts[type_W], size_W) + offset_J,
            word_of_subword_J=np.repeat(number_W, size_W).astype(np.int32),
            subwords_B=subwords_before[first_word_B + words_B] - subwords_before[first_word_B],
        )

    def join(self, pieces: Sequence[str]) -> list[str]:
        """Join pieces into words."""
        return join_pieces(list(pieces)) if self._codes else list(pieces)

    def first_pieces(self, pieces: Sequence[str]) -> list[int]:
        """Return the index of the first piece of each word that `join` makes of `pieces`."""
        return first_pieces_of_words(list(pieces)) if self._codes else list(range(len(pieces)))
