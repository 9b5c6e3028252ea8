"""Segmentation into subwords, and back: of words by byte pair encoding (subword-nmt; Sennrich et al. 2016), and of text
by SentencePiece (Kudo and Richardson 2018).

A codes file has subword-nmt's format: a version line, then one merge per line, in order of priority. The last character
of a word carries `</w>`, so that merges distinguish word ends from the same letters inside a word (version 0.2).
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.corpora import SegmentationSettings
from nmtcore.corpus.tokenisation import SPACE
from nmtcore.errors import LineError, UserError, quoted
from nmtcore.files import read_lines
from nmtcore.layout import file_name

SEPARATOR = "@@"
"""The end of every piece but the last of a word."""
VERSION = "#version: 0.2"
LONGEST_WORD = 500
"""Characters of the longest word. What is longer, perhaps a line of a megabyte without a space, is no word: no merges
are learned from it, and each 500 characters of it are cut by themselves."""
CACHED_WORDS = 1 << 19
"""The number of words whose pieces are kept (about 150 MB)."""
FARTHEST = 20
"""The most letters of a text, and of its words, that are left out at once where they differ."""
_WHITE_SPACE = frozenset(" \t\n\r\x0b\x0c")


def codes_name(settings: SegmentationSettings, side: str) -> str | None:
    """Return the name of the file of a side's codes or SentencePiece model; None if words stay whole."""
    if settings.kind == "words":
        return None
    if settings.kind == "sentencepiece":
        return file_name("pieces", side=side)
    return file_name("joint_codes") if settings.joint else file_name("codes", side=side)


def load_codes(path: str | Path) -> Any:
    """Read a codes file as subword-nmt's `BPE`. Raises `LineError` for a line that is not a merge."""
    from subword_nmt.apply_bpe import BPE

    lines = read_lines(path)
    if not lines or lines[0].strip() != VERSION:
        raise LineError(path, 1, f"expected '{VERSION}': this is not a codes file of subword-nmt 0.2 or later.")
    for number, line in enumerate(lines[1:], start=2):
        pair = line.strip("\r ").split(" ")
        if len(pair) != 2 or not all(pair):
            raise LineError(path, number, f"{quoted(line)} is not a merge: write two pieces with a space between them.")
    return BPE(StringIO("\n".join(lines)), merges=len(lines) - 1, separator=SEPARATOR)


class Subwords(NamedTuple):
    """The subwords of one sentence."""

    pieces: list[str]
    word_of_subword: list[int]
    """The word (from 0) of each piece, ascending; of pieces of text, a word but the last may have none."""


class Segmenter:
    """Segments words of one side into subwords, and joins subwords into words."""

    def __init__(self, codes: Any = None) -> None:
        """Segment by `codes` (of `load_codes`); None leaves words whole."""
        self._codes = codes
        self.counts: Counter[str] = Counter()
        """How pieces of text are aligned to words, so far."""
        self._pieces_of = lru_cache(CACHED_WORDS)(self._cut)

    @classmethod
    def load(cls, folder: str | Path, settings: SegmentationSettings, side: str) -> "Segmenter":
        """Load a segmenter from a folder written by `learn_segmentation`, or from a bundle."""
        name = codes_name(settings, side)
        if settings.kind == "sentencepiece":
            return TextSegmenter(Path(folder) / name)
        return cls(load_codes(Path(folder) / name) if name else None)

    def _cut(self, word: str) -> tuple[str, ...]:
        """Cut a word into pieces; all but the last end in `@@`."""
        if not word or not _WHITE_SPACE.isdisjoint(word):
            raise ValueError(f"{word!r} is not a word: words are not empty and contain no white space")
        if self._codes is None:
            return (word,)
        parts = [word[start : start + LONGEST_WORD] for start in range(0, len(word), LONGEST_WORD)]
        pieces: list[str] = []
        for part in parts:
            if pieces:
                pieces[-1] += SEPARATOR
            pieces += self._codes.segment_tokens([part])
        self._codes.cache.clear()
        return tuple(pieces)

    def segment(self, words: Sequence[str], text: str = "") -> Subwords:
        """Segment the words of one sentence; `text` is the sentence before it was split into words."""
        segmented = list(map(self._pieces_of, words))
        pieces = list(chain.from_iterable(segmented))
        if len(pieces) == len(segmented):
            return Subwords(pieces, list(range(len(segmented))))
        return Subwords(pieces, [word for word, word_pieces in enumerate(segmented) for _ in word_pieces])

    def join(self, pieces: Sequence[str]) -> list[str]:
        """Join pieces into words.

        If the last piece ends in `@@`, because a translation is truncated, it ends the last word. As with subword-nmt,
        a word that itself ends in `@@` is indistinguishable from a piece, so it is joined with the next word.
        """
        if self._codes is None:
            return list(pieces)
        words, start = [], ""
        for piece in pieces:
            if piece.endswith(SEPARATOR):
                start += piece.removesuffix(SEPARATOR)
            else:
                words.append(start + piece)
                start = ""
        return [*words, start] if start else words

    def first_pieces(self, pieces: Sequence[str]) -> list[int]:
        """Return the index of the first piece of each word that `join` makes of `pieces`.

        If the last piece is a mere `@@`, its index follows, although it makes no word.
        """
        if self._codes is None:
            return list(range(len(pieces)))
        ends = [i + 1 for i, piece in enumerate(pieces) if not piece.endswith(SEPARATOR)]
        return [start for start in (0, *ends) if start < len(pieces)]


class TextSegmenter(Segmenter):
    """Segments the text of one side into pieces by a SentencePiece model, aligns them to words, and joins them.

    A piece belongs to the word of its first letter, so that a word without such a letter has no piece; without a letter
    (a space, or what no word has), to the next word. The last piece belongs to the last word in any case: so it tells
    their number.
    """

    def __init__(self, path: Path) -> None:
        """Load a model. Raises `UserError` if the file is none."""
        from sentencepiece import SentencePieceProcessor

        try:
            self.model = SentencePieceProcessor(model_proto=path.read_bytes())
        except RuntimeError as error:
            raise UserError(f"{path} is no model of SentencePiece ({error}): copy or train it again.") from error
        self.counts = Counter()

    def segment(self, words: Sequence[str], text: str = "") -> Subwords:
        """Segment the text of one sentence: no pieces if it has no words, `<unk>` if only it has pieces of none."""
        if not words:
            return Subwords([], [])
        encoded = self.model.encode(text, return_type="offset_mapping")
        pieces, spans = encoded["pieces"] or ["<unk>"], encoded["offsets"] or [(0, 0)]
        places, owners, unaligned = align(text, words)
        owners.append(len(words) - 1)
        word_of_subword = [owners[bisect_left(places, start)] for start, _ in spans[:-1]] + owners[-1:]
        self.counts["words"] += len(words)
        self.counts["words without a piece"] += len(words) - len(set(word_of_subword))
        self.counts["pieces"] += len(pieces)
        self.counts["unaligned letters"] += unaligned
        return Subwords(pieces, word_of_subword)

    def join(self, pieces: Sequence[str]) -> list[str]:
        """Join pieces into text, and return what is between its spaces."""
        return "".join(pieces).replace(SPACE, " ").split()

    def first_pieces(self, pieces: Sequence[str]) -> list[int]:
        """Return the index of the first piece of each word that `join` makes of `pieces`."""
        piece_of_character = [i for i, piece in enumerate(pieces) for _ in piece]
        text = "".join(pieces).replace(SPACE, " ")
        return [piece_of_character[match.start()] for match in re.finditer(r" ?\S+", text)]


def align(text: str, words: Sequence[str]) -> tuple[list[int], list[int], int]:
    """Align the letters of a text (all but white space and `SPACE`) with those of its words, in order.

    Where they differ, the fewest letters are left out; those of the text belong to the first word that has others
    instead. Returns the places and the words (from 0) of the letters that belong to words, and how many, of text and
    words, have no equal one on the other side.
    """
    letters, places = _letters(enumerate(text))
    expected, owners = _letters((number, letter) for number, word in enumerate(words) for letter in word)
    if letters == expected:
        return places, owners, 0
    aligned: list[tuple[int, int]] = []
    i = j = unaligned = 0
    while i < len(letters) or j < len(expected):
        more, fewer = _difference(letters[i : i + FARTHEST], expected[j : j + FARTHEST])
        aligned += zip(places[i : i + more], owners[j : j + 1] * more if fewer else (), strict=False)
        i, j, unaligned = i + more, j + fewer, unaligned + more + fewer
        if letters[i : i + 1] == expected[j : j + 1]:
            aligned += zip(places[i : i + 1], owners[j : j + 1], strict=True)
            i, j = i + 1, j + 1
    return [place for place, _ in aligned], [number for _, number in aligned], unaligned


def _letters(characters: Iterable[tuple[int, str]]) -> tuple[list[str], list[int]]:
    """Return the letters among numbered characters, and their numbers."""
    chosen = [(letter, number) for number, letter in characters if not letter.isspace() and letter != SPACE]
    return [letter for letter, _ in chosen], [number for _, number in chosen]


def _difference(letters: Sequence[str], expected: Sequence[str]) -> tuple[int, int]:
    """Return how many letters to leave out on each side, so that the next two are equal: the fewest in all, of equal
    sums the fewest of the text, or all if none are equal."""
    for both in range(len(letters) + len(expected) - 1):
        for more in range(max(0, both - len(expected) + 1), min(both + 1, len(letters))):
            if letters[more] == expected[both - more]:
                return more, both - more
    return len(letters), len(expected)
