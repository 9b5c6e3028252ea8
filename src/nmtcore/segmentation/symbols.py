"""Symbols, from which merges are learned: characters, and several of them that were merged.

A symbol is a number, and a pair of symbols is a number made of both: first * SYMBOLS + second.
"""

from collections.abc import Collection, Iterable

import numpy as np

from nmtcore.errors import UserError
from nmtcore.segmentation.bpe import WORD_END

SYMBOLS = 1_000_003
"""More than there are symbols; a prime, so that few numbers of pairs have the same hash."""


class Symbols:
    """The symbols so far, each with its spelling."""

    def __init__(self, characters: Collection[str]) -> None:
        alphabet = sorted({*characters, *WORD_END}, reverse=True)
        self._symbols: dict[str, int] = {}
        self._spellings: list[str] = []
        self._keys: list[str] = []
        self._ranks = {ord(character): chr(rank) for rank, character in enumerate(alphabet)}
        self._end = chr(len(alphabet))

    def symbol(self, spelling: str) -> int:
        """Return the symbol with a spelling, a new one if there is none."""
        symbol = self._symbols.get(spelling)
        if symbol is None:
            symbol = self._symbols[spelling] = len(self._spellings)
            if symbol == SYMBOLS:
                raise UserError(f"More than {SYMBOLS:,} characters and merges: set a smaller segmentation.size.")
            self._spellings.append(spelling)
            self._keys.append(spelling.translate(self._ranks) + self._end)
        return symbol

    def __contains__(self, spelling: str) -> bool:
        return spelling in self._symbols

    def spell(self, symbols: Iterable[int]) -> list[str]:
        """Return the spellings of symbols."""
        return [self._spellings[symbol] for symbol in symbols]

    def spell_pair(self, pair: int) -> tuple[str, str]:
        """Return the spellings of both symbols of a pair."""
        first, second = divmod(pair, SYMBOLS)
        return self._spellings[first], self._spellings[second]

    def key(self, pair: int) -> str:
        """Return the sorting key of a pair: the greater the spellings, the smaller the key."""
        first, second = divmod(pair, SYMBOLS)
        return self._keys[first] + self._keys[second]


def symbols_of_text(text: str, ends: np.ndarray) -> tuple[Symbols, np.ndarray]:
    """Return the symbol of each character of the words; those at `ends` carry the mark of a word's end."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    characters = np.flatnonzero(np.bincount(codes)).tolist()
    symbols = Symbols(list(map(chr, characters)))
    table = np.zeros(characters[-1] + 1, np.int32)
    table[characters] = [symbols.symbol(chr(character)) for character in characters]
    at_end = np.zeros_like(table)
    at_end[characters] = [symbols.symbol(chr(character) + WORD_END) for character in characters]
    result = table[codes]
    result[ends] = at_end[codes[ends]]
    return symbols, result
