"""Byte pair encoding (Sennrich et al. 2016): segmentation of words by the merges of a codes file, as in subword-nmt.

The file has subword-nmt's format: a version line, then one merge per line, in order of priority. The last character of
a word carries `</w>`, so that merges distinguish word ends from the same letters inside a word (version 0.2).
"""

from collections.abc import Mapping
from heapq import heappop, heappush
from itertools import pairwise
from pathlib import Path

from nmtcore.errors import LineError, quoted
from nmtcore.files import read_lines

VERSION = "#version: 0.2"
WORD_END = "</w>"
SEPARATOR = "@@"
"""The end of every piece but the last of a word."""
LONG_WORD = 200
"""Characters of a word beyond which the merges are not applied one after another to the whole of it."""


class Codes:
    """The merges of one codes file, each with its rank."""

    def __init__(self, merges: list[tuple[str, str]]) -> None:
        self.ranks: dict[tuple[str, str], int] = {}
        for rank, pair in enumerate(merges):
            self.ranks.setdefault(pair, rank)

    @classmethod
    def load(cls, path: str | Path) -> "Codes":
        """Read a codes file. Raises `LineError` for a line that is not a merge."""
        lines = read_lines(path)
        if not lines or lines[0].strip() != VERSION:
            raise LineError(path, 1, f"expected '{VERSION}': this is not a codes file of subword-nmt 0.2 or later.")
        merges = []
        for number, line in enumerate(lines[1:], start=2):
            pair = tuple(line.strip("\r ").split(" "))
            if len(pair) != 2 or not all(pair):
                raise LineError(
                    path, number, f"{quoted(line)} is not a merge: write two pieces with a space between them."
                )
            merges.append(pair)
        return cls(merges)

    def cut(self, word: str) -> tuple[str, ...]:
        """Segment a word (not empty) into pieces; all but the last end in `@@`."""
        pieces, ranks = [*word[:-1], word[-1] + WORD_END], self.ranks
        if len(pieces) > LONG_WORD:
            pieces = _merge_all(pieces, ranks)
        while len(pieces) > 1:
            applicable = [(ranks[pair], pair) for pair in pairwise(pieces) if pair in ranks]
            if not applicable:
                break
            pieces = _merge(pieces, min(applicable)[1])
        # A word of one character stays that character, even if a merge could change its end.
        pieces[-1] = pieces[-1].removesuffix(WORD_END)
        return (*(piece + SEPARATOR for piece in pieces[:-1]), pieces[-1])


def _merge(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    """Merge every occurrence of `pair`, from the left: x x x becomes xx x."""
    first, second = pair
    joined_pair, last = first + second, len(pieces) - 1
    merged, i = [], 0
    while i <= last:
        if pieces[i] == first and i < last and pieces[i + 1] == second:
            merged.append(joined_pair)
            i += 2
        else:
            merged.append(pieces[i])
            i += 1
    return merged


def _merge_all(pieces: list[str], ranks: Mapping[tuple[str, str], int]) -> list[str]:
    """Apply all merges to a long word in order of their ranks, in n log n steps: what is not a word may be a megabyte.

    The places where a pair may occur are kept by pair, so that each merge touches only its own; a piece that was merged
    into the one before it is None.
    """
    merged: list[str | None] = list(pieces)
    after, before = list(range(1, len(pieces) + 1)), list(range(-1, len(pieces) - 1))
    places: dict[tuple[str, str], list[int]] = {}
    queue: list[tuple[int, tuple[str, str]]] = []

    def note(i: int) -> None:
        """Note the pair that begins at piece i, if it is a merge."""
        if i < 0 or after[i] == len(merged):
            return
        pair = merged[i], merged[after[i]]
        if pair in ranks:
            if pair not in places:
                places[pair] = []
                heappush(queue, (ranks[pair], pair))
            places[pair].append(i)

    for i in range(len(pieces)):
        note(i)
    while queue:
        _, pair = heappop(queue)
        changed = []
        for i in sorted(places.pop(pair)):
            j = after[i]
            if merged[i] == pair[0] and j < len(merged) and merged[j] == pair[1]:
                merged[i], merged[j] = pair[0] + pair[1], None
                after[i] = after[j]
                if after[j] < len(merged):
                    before[after[j]] = i
                changed.append(i)
        for i in changed:
            note(before[i])
            note(i)
    return [piece for piece in merged if piece is not None]


def first_pieces_of_words(pieces: list[str]) -> list[int]:
    """Return the index of the first piece of each word that `join_pieces` joins.

    If the last piece is a mere `@@`, its index follows, although it makes no word.
    """
    ends = [i + 1 for i, piece in enumerate(pieces) if not piece.endswith(SEPARATOR)]
    return [start for start in (0, *ends) if start < len(pieces)]


def join_pieces(pieces: list[str]) -> list[str]:
    """Undo `cut`: join pieces into words.

    If the last piece ends in `@@`, because a translation is truncated, it ends the last word. As with subword-nmt, a
    word that itself ends in `@@` is indistinguishable from a piece, so it is joined with the next word.
    """
    words, start = [], ""
    for piece in pieces:
        if piece.endswith(SEPARATOR):
            start += piece[: -len(SEPARATOR)]
        else:
            words.append(start + piece)
            start = ""
    return [*words, start] if start else words
