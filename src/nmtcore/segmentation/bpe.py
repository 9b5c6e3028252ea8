"""Byte pair encoding (Sennrich et al. 2016): cut words by the merges of a codes file, as subword-nmt does.

The file has subword-nmt's format: a version line, then one merge a line, the earlier the stronger. A word's last
character carries `</w>`, so that merges tell word ends from the same letters inside a word (version 0.2).
"""

from itertools import pairwise
from pathlib import Path

from nmtcore.errors import LineError
from nmtcore.files import read_lines

VERSION = "#version: 0.2"
WORD_END = "</w>"
SEPARATOR = "@@"
"""What a piece ends in that is not its word's last."""


class Codes:
    """The merges of one codes file, each with its rank."""

    def __init__(self, merges: list[tuple[str, str]]) -> None:
        self.ranks: dict[tuple[str, str], int] = {}
        for rank, pair in enumerate(merges):
            self.ranks.setdefault(pair, rank)

    @classmethod
    def load(cls, path: str | Path) -> "Codes":
        """Read a codes file. Raises `LineError` at a line that is no merge."""
        lines = read_lines(path)
        if not lines or lines[0].strip() != VERSION:
            raise LineError(path, 1, f"expected '{VERSION}': this is no codes file of subword-nmt 0.2 or later.")
        merges = []
        for number, line in enumerate(lines[1:], start=2):
            pair = tuple(line.strip("\r ").split(" "))
            if len(pair) != 2 or not all(pair):
                raise LineError(path, number, f"'{line}' is no merge, which is two pieces with a space between.")
            merges.append(pair)
        return cls(merges)

    def cut(self, word: str) -> tuple[str, ...]:
        """Cut a word (not empty) into pieces; all but the last end in `@@`."""
        pieces, ranks = [*word[:-1], word[-1] + WORD_END], self.ranks
        while len(pieces) > 1:
            known = [(ranks[pair], pair) for pair in pairwise(pieces) if pair in ranks]
            if not known:
                break
            pieces = _merged(pieces, min(known)[1])
        # A word of one character is that character, even where a merge might have made its end another.
        pieces[-1] = pieces[-1].removesuffix(WORD_END)
        return (*(piece + SEPARATOR for piece in pieces[:-1]), pieces[-1])


def _merged(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    """Merge every occurrence of `pair`, from the left: x x x becomes xx x."""
    first, second = pair
    whole, last = first + second, len(pieces) - 1
    merged, i = [], 0
    while i <= last:
        if pieces[i] == first and i < last and pieces[i + 1] == second:
            merged.append(whole)
            i += 2
        else:
            merged.append(pieces[i])
            i += 1
    return merged


def join_pieces(pieces: list[str]) -> list[str]:
    """Undo `cut`: put pieces back together to words.

    A last piece that ends in `@@`, as a translation that was broken off has it, ends its word. As with subword-nmt, a
    word that itself ends in `@@` cannot be told from a piece and is joined with the next word.
    """
    words, begun = [], ""
    for piece in pieces:
        if piece.endswith(SEPARATOR):
            begun += piece[: -len(SEPARATOR)]
        else:
            words.append(begun + piece)
            begun = ""
    return [*words, begun] if begun else words
