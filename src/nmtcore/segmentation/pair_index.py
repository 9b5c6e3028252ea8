"""The pairs of symbols in the distinct words of a text: where each occurs, and what a merge changes.

All words are one array of symbols (`symbols.py`), linked to the symbols before and after. A pair with many positions is
merged at all of them at once, by operations on arrays; one with few, position by position, which is then faster.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from itertools import accumulate, pairwise

import numpy as np

from nmtcore.segmentation.symbols import SYMBOLS, symbols_of_text

_FREE = -1
"""In place of a symbol: before and after each word, and where a symbol was merged with the one before."""
_FEW = 100
"""A pair with up to so many positions is merged position by position."""


class PairIndex:
    """The distinct words of a text in symbols, and for each pair the positions of its first symbol.

    subword-nmt counts how often a pair occurs in a word by rules of its own: if a merge makes a symbol that is already
    in the word, the pairs of the old symbol are counted again, and x x x becomes xx x with a count of -1 for x x. What
    it counts in addition to the occurrences is in `_surplus`, by pair and word: it merges a pair in those words only in
    which its count is positive.
    """

    def __init__(self, words: Mapping[str, int]) -> None:
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        word_of_character = np.repeat(np.arange(len(words)), lengths)
        positions = 1 + np.arange(len(word_of_character)) + word_of_character
        size = len(positions) + len(words) + 1
        ends = np.cumsum(lengths)
        self._starts = 1 + ends - lengths + np.arange(len(words))
        self._symbol = np.full(size, _FREE, np.int32)
        self.symbols, self._symbol[positions] = symbols_of_text("".join(words), ends - 1)
        self._before = np.arange(-1, size - 1, dtype=np.int32)
        self._after = np.arange(1, size + 1, dtype=np.int32)
        self._after[-1] = size - 1
        self._word = np.zeros(size, np.int32)
        self._word[positions] = word_of_character
        self._counts = np.fromiter(words.values(), np.int64, len(words))
        """The count of each word in the text."""
        self._with_space = _words_with_space(words)
        self._surplus: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self._positions: dict[int, np.ndarray | list[int]] = {}
        """All positions of each pair, without repetitions, and some at which it no longer occurs."""

    def count_pairs(self) -> dict[int, int]:
        """Index all pairs; return their counts in the text. This comes before the first merge."""
        positions = np.flatnonzero((self._symbol[:-1] != _FREE) & (self._symbol[1:] != _FREE)).astype(np.int32)
        firsts = self._symbol[positions].astype(np.int64)
        return dict(self._add_all(firsts * SYMBOLS + self._symbol[positions + 1], positions))

    def _add_all(self, pairs: np.ndarray, positions: np.ndarray) -> list[tuple[int, int]]:
        """Index pairs at positions; return each distinct pair and its count in the text."""
        if not len(pairs):
            return []
        order = np.argsort(pairs)
        pairs, positions = pairs[order], positions[order]
        starts = np.concatenate([[0], np.flatnonzero(pairs[1:] != pairs[:-1]) + 1])
        counts = np.add.reduceat(self._counts[self._word[positions]], starts).tolist()
        distinct = pairs[starts].tolist()
        for pair, (start, end) in zip(distinct, pairwise([*starts.tolist(), len(pairs)]), strict=True):
            self._add(pair, positions[start:end])
        return list(zip(distinct, counts, strict=True))

    def _add(self, pair: int, positions: np.ndarray | list[int]) -> None:
        if pair in self._positions:
            self._positions[pair] = [*self._positions[pair], *positions]
        else:
            self._positions[pair] = positions

    def merge(self, pair: int) -> dict[int, int]:
        """Merge a pair in all its words; return the changes to the counts of other pairs in the text."""
        first, second = divmod(pair, SYMBOLS)
        spelling = "".join(self.symbols.spell_pair(pair))
        is_known = spelling in self.symbols
        merged = self.symbols.symbol(spelling)
        positions = self._positions.pop(pair, [])
        surplus = self._surplus.pop(pair, {})
        with_care = set(surplus)
        if is_known:
            with_care.update(self._word[self._symbol == merged].tolist())
        if first == second:
            with_care.update(self._words_with_three(first, positions))
        if self._with_space:
            with_care.update(self._with_space.intersection(self._word[positions].tolist()))
        changes: dict[int, int] = defaultdict(int)
        merge = self._merge_few if len(positions) <= _FEW else self._merge_many
        merge(first, second, merged, positions, with_care, changes)
        for number in with_care:
            self._merge_with_care(number, pair, merged, surplus.get(number, 0), changes)
        changes.pop(pair, None)
        return changes

    def _words_with_three(self, symbol: int, positions: np.ndarray | list[int]) -> list[int]:
        """Return the words in which a symbol occurs three times in a row, from the positions of its pair."""
        first = np.asarray(positions, np.int32)
        second = self._after[first]
        third = self._after[second]
        has_three = (self._symbol[first] == symbol) & (self._symbol[second] == symbol) & (self._symbol[third] == symbol)
        return self._word[first[has_three]].tolist()

    def _merge_many(
        self,
        first: int,
        second: int,
        merged: int,
        positions: np.ndarray | list[int],
        with_care: set[int],
        changes: dict[int, int],
    ) -> None:
        """Merge a pair in all words but those in `with_care`, at all positions at once; add to `changes`."""
        symbol, before, after = self._symbol, self._before, self._after
        starts = np.asarray(positions)
        occurs = (symbol[starts] == first) & (symbol[after[starts]] == second)
        if with_care:
            occurs &= ~np.isin(self._word[starts], list(with_care))
        starts = starts[occurs]
        nexts = after[after[starts]]
        symbol[after[starts]] = _FREE
        symbol[starts] = merged
        after[starts] = nexts
        before[nexts] = starts
        lefts = before[starts]
        left, right = symbol[lefts].astype(np.int64), symbol[nexts].astype(np.int64)
        has_left = left != _FREE
        has_right = (right != _FREE) & (right != merged)  # two new symbols in a row: the second one has a left one
        pairs = np.concatenate([left[has_left] * SYMBOLS + merged, merged * SYMBOLS + right[has_right]])
        for pair, count in self._add_all(pairs, np.concatenate([lefts[has_left], starts[has_right]])):
            one, other = divmod(pair, SYMBOLS)
            if other == merged:
                changes[(second if one == merged else one) * SYMBOLS + first] -= count
            else:
                changes[second * SYMBOLS + other] -= count
            changes[pair] += count

    def _merge_few(
        self,
        first: int,
        second: int,
        merged: int,
        positions: np.ndarray | list[int],
        with_care: set[int],
        changes: dict[int, int],
    ) -> None:
        """Do the same as `_merge_many`, from left to right."""
        symbol, before, after = memoryview(self._symbol), memoryview(self._before), memoryview(self._after)
        words, counts = memoryview(self._word), memoryview(self._counts)
        new: dict[int, list[int]] = defaultdict(list)
        if not isinstance(positions, list):
            positions = positions.tolist()
        for start in sorted(positions):
            end = after[start]
            if symbol[start] != first or symbol[end] != second or (word := words[start]) in with_care:
                continue
            count, left, right = counts[word], before[start], after[end]
            symbol[start], symbol[end], after[start], before[right] = merged, _FREE, right, start
            other = symbol[left]
            if other != _FREE:
                pair = other * SYMBOLS + merged
                changes[(second if other == merged else other) * SYMBOLS + first] -= count
                changes[pair] += count
                new[pair].append(left)
            other = symbol[right]
            if other != _FREE and (other != first or symbol[after[right]] != second):
                pair = merged * SYMBOLS + other
                changes[second * SYMBOLS + other] -= count
                changes[pair] += count
                new[pair].append(start)
        for pair, places in new.items():
            self._add(pair, places)

    def _merge_with_care(self, number: int, pair: int, merged: int, surplus: int, changes: dict[int, int]) -> None:
        """Merge all occurrences of a pair in one word, by subword-nmt's rules of counting."""
        places = self._places(number)
        word = self._symbol[places].tolist()
        pairs = _pairs_of(word)
        occurrences = Counter(pairs)
        if occurrences[pair] + surplus < 1:
            if occurrences[pair]:
                self._add(pair, [place for place, other in zip(places, pairs, strict=False) if other == pair])
                self._surplus[pair][number] = -occurrences[pair]
            return
        counted = _lost_pairs(pairs, pair)
        new_places, new_word = self._merge_spellings(places, word, pair)
        self._replace(places, new_places, new_word)
        old_pairs, new_pairs = dict(zip(places, pairs, strict=False)), _pairs_of(new_word)
        for place, new in zip(new_places, new_pairs, strict=False):
            if merged in divmod(new, SYMBOLS):
                counted[new] += 1
            if new != old_pairs[place]:
                self._add(new, [place])
        count = int(self._counts[number])
        for changed, times in counted.items():
            changes[changed] += times * count
        occurrences[pair] = 0  # its count begins anew
        counted.subtract(new_pairs)
        counted.update(occurrences)
        for changed, times in counted.items():
            if times:
                self._surplus[changed][number] += times

    def _places(self, number: int) -> list[int]:
        """Return the positions of the symbols of a word."""
        places, place = [], int(self._starts[number])
        while self._symbol[place] != _FREE:
            places.append(place)
            place = int(self._after[place])
        return places

    def _merge_spellings(self, places: list[int], word: list[int], pair: int) -> tuple[list[int], list[int]]:
        """Merge a pair in a word as subword-nmt does; return the positions and the symbols of the new word.

        If a word has white space within it, such as 10 000 with a no-break space, and subword-nmt merges 0 0, it does
        so also between symbols that end and begin with these symbols next to white space.
        """
        first, second = self.symbols.spell_pair(pair)
        occurrence = re.compile(rf"(?<!\S){re.escape(f'{first} {second}')}(?!\S)")
        old = self.symbols.spell(word)
        new = occurrence.sub(lambda _: first + second, " ".join(old)).split(" ")
        place_at = dict(zip(accumulate(map(len, old), initial=0), places, strict=False))
        starts = list(accumulate(map(len, new), initial=0))[:-1]
        return [place_at[start] for start in starts], [self.symbols.symbol(spelling) for spelling in new]

    def _replace(self, places: list[int], new_places: list[int], new_word: list[int]) -> None:
        """Replace the symbols of a word."""
        end = int(self._after[places[-1]])
        self._symbol[places] = _FREE
        self._symbol[new_places] = new_word
        for place, following in pairwise([*new_places, end]):
            self._after[place], self._before[following] = following, place


def _words_with_space(words: Collection[str]) -> set[int]:
    """Return the numbers of the words that have white space within them."""
    spaces = set(filter(str.isspace, set("".join(words))))
    return {number for number, word in enumerate(words) if not spaces.isdisjoint(word)} if spaces else set()


def _pairs_of(word: list[int]) -> list[int]:
    """Return the pairs of a word, from left to right."""
    return [first * SYMBOLS + second for first, second in pairwise(word)]


def _lost_pairs(pairs: list[int], merged: int) -> Counter[int]:
    """Return how often subword-nmt subtracts the neighbours of a merged pair from the counts of a word's pairs."""
    counted: Counter[int] = Counter()
    position = 0
    while position < len(pairs):
        if pairs[position] != merged:
            position += 1
            continue
        if position:
            counted[pairs[position - 1]] -= 1
        if position + 1 < len(pairs) and pairs[position + 2 : position + 3] != [merged]:
            counted[pairs[position + 1]] -= 1
        position += 2
    return counted
