"""Learning the merges of byte pair encoding from counts of words: the same merges as subword-nmt's, much faster.

A symbol (a character, or several that were merged) is written as one character of a private alphabet, so that a word is
a string of symbols, a pair of symbols a string of two, and a merge a replacement in a string. An index has the words
of each pair, so that a merge visits only these; a heap yields the most frequent pair.

What subword-nmt learns depends on three details, which are the same here: of pairs with equal counts, the one with the
greater spelling comes first; rare pairs are set aside (`_PairCounts`); and the counts of a few pairs differ from their
occurrences (`_PairIndex`).
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush, heapreplace
from operator import add

from nmtcore.errors import UserError
from nmtcore.segmentation.bpe import WORD_END

MINIMUM_COUNT = 2
"""The count of the rarest pair that is merged."""
_MERGES_PER_PRUNING = 100


def learn_merges(words: Mapping[str, int], size: int) -> list[tuple[str, str]]:
    """Learn at most `size` merges from the counts of distinct words, in order of priority."""
    symbols = _Symbols(words)
    index = _PairIndex(words, symbols)
    pairs = index.count_pairs()
    if not pairs:
        return []
    counts = _PairCounts(pairs, symbols)
    merges: list[tuple[str, str]] = []
    while len(merges) < size and (pair := counts.most_frequent(len(merges))):
        first, second = symbols.spell(pair)
        counts.update(pair, index.merge(pair))
        if len(merges) % _MERGES_PER_PRUNING == 0:
            counts.prune()
        merges.append((first, second))
    return merges


class _Symbols:
    """The symbols so far, each with its spelling."""

    def __init__(self, words: Iterable[str]) -> None:
        alphabet = sorted({character for word in words for character in word} | set(WORD_END), reverse=True)
        self._symbols: dict[str, str] = {}
        self._spellings: list[str] = []
        self._keys: list[str] = []
        self._positions = {ord(character): chr(position) for position, character in enumerate(alphabet)}
        self._end = chr(len(alphabet))

    def symbol(self, spelling: str) -> str:
        """Return the symbol with a spelling, a new one if there is none."""
        symbol = self._symbols.get(spelling)
        if symbol is None:
            if len(self._spellings) > sys.maxunicode:
                raise UserError(f"More than {sys.maxunicode:,} characters and merges: set a smaller segmentation.size.")
            symbol = self._symbols[spelling] = chr(len(self._spellings))
            self._spellings.append(spelling)
            self._keys.append(spelling.translate(self._positions) + self._end)
        return symbol

    def __contains__(self, spelling: str) -> bool:
        return spelling in self._symbols

    def word(self, spellings: Iterable[str]) -> str:
        """Return a word of symbols with these spellings."""
        return "".join(map(self.symbol, spellings))

    def words(self, words: Iterable[str]) -> list[str]:
        """Return words as one symbol per character; the last carries the mark of a word's end."""
        table = {ord(character): self.symbol(character) for character in {*"".join(words)}}
        return [word[:-1].translate(table) + self.symbol(word[-1] + WORD_END) for word in words]

    def spell(self, word: str) -> list[str]:
        """Return the spellings of the symbols of a word or pair."""
        return [self._spellings[ord(symbol)] for symbol in word]

    def key(self, pair: str) -> str:
        """Return the sorting key of a pair: the greater the spellings, the smaller the key."""
        return self._keys[ord(pair[0])] + self._keys[ord(pair[1])]


class _PairIndex:
    """The distinct words in symbols, and for each pair the words in which it occurs.

    subword-nmt counts how often a pair occurs in a word by rules of its own: if a merge makes a symbol that is already
    in the word, the pairs of the old symbol are counted again, and x x x becomes xx x with a count of -1 for x x. What
    it counts in addition to the occurrences is in `_surplus`, by pair and word: it merges a pair in those words only in
    which its count is positive.
    """

    def __init__(self, words: Mapping[str, int], symbols: _Symbols) -> None:
        self._symbols = symbols
        self._words = symbols.words(words)
        self._counts = list(words.values())
        self._with_space = {number for number, word in enumerate(words) if any(map(str.isspace, word))}
        self._surplus: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self._words_of_pair: dict[str, list[int]] = defaultdict(list)
        """Every word in which a pair occurs or has a surplus; others and repetitions do no harm."""
        for number, word in enumerate(self._words):
            for pair in pairs_of(word):
                self._words_of_pair[pair].append(number)

    def count_pairs(self) -> dict[str, int]:
        """Return the counts of all pairs in the text, before the first merge."""
        return {pair: self._sum_counts(numbers) for pair, numbers in self._words_of_pair.items()}

    def _sum_counts(self, numbers: list[int]) -> int:
        counts = self._counts
        return sum([counts[number] for number in numbers])

    def merge(self, pair: str) -> dict[str, int]:
        """Merge a pair in all its words; return the changes to the counts of other pairs in the text."""
        first, second = pair
        spelling = "".join(self._symbols.spell(pair))
        all_need_care = first == second or spelling in self._symbols
        merged = self._symbols.symbol(spelling)
        surplus = self._surplus.pop(pair, {})
        words = self._words
        changes: dict[str, int] = defaultdict(int)
        before: dict[str, list[int]] = defaultdict(list)
        after: dict[str, list[int]] = defaultdict(list)
        numbers = self._words_of_pair.pop(pair, [])
        with_care = set(numbers) if all_need_care else (self._with_space | surplus.keys()).intersection(numbers)
        if with_care:
            numbers = [number for number in numbers if number not in with_care]
        for number in numbers:
            start, occurrence, end = words[number].partition(pair)
            if not occurrence:
                continue
            if pair in end:
                with_care.add(number)
            else:
                words[number] = start + merged + end
                if start:
                    before[start[-1]].append(number)
                if end:
                    after[end[0]].append(number)
        for symbol, places in before.items():
            new, count = symbol + merged, self._sum_counts(places)
            changes[symbol + first] -= count
            changes[new], self._words_of_pair[new] = count, places
        for symbol, places in after.items():
            new, count = merged + symbol, self._sum_counts(places)
            changes[second + symbol] -= count
            changes[new], self._words_of_pair[new] = count, places
        for number in with_care:
            self._merge_with_care(number, pair, merged, surplus.get(number, 0), changes)
        changes.pop(pair, None)
        return changes

    def _merge_with_care(self, number: int, pair: str, merged: str, surplus: int, changes: dict[str, int]) -> None:
        """Merge all occurrences of a pair in one word, by subword-nmt's rules of counting."""
        word, count = self._words[number], self._counts[number]
        occurrences = Counter(pairs_of(word))
        if occurrences[pair] + surplus < 1:
            if occurrences[pair]:
                self._words_of_pair[pair].append(number)
                self._surplus[pair][number] = -occurrences[pair]
            return
        counted: Counter[str] = Counter()
        position = word.find(pair)
        while position >= 0:
            if position:
                counted[word[position - 1 : position + 1]] -= 1
            if len(word) > position + 2 and word[position + 2 : position + 4] != pair:
                counted[word[position + 1 : position + 3]] -= 1
            position = word.find(pair, position + 2)
        word = self._merge_with_space(word, pair) if number in self._with_space else word.replace(pair, merged)
        self._words[number] = word
        for new in pairs_of(word):
            if merged in new:
                counted[new] += 1
                self._words_of_pair[new].append(number)
        for changed, times in counted.items():
            changes[changed] += times * count
        occurrences[pair] = 0  # its count begins anew
        counted.subtract(pairs_of(word))
        counted.update(occurrences)
        for changed, times in counted.items():
            if times:
                self._surplus[changed][number] += times
                self._words_of_pair[changed].append(number)

    def _merge_with_space(self, word: str, pair: str) -> str:
        """Merge a pair in a word that has white space within it, such as 10 000 with a no-break space.

        If subword-nmt merges 0 0 in such a word, it does so also between symbols that end and begin with these
        symbols next to white space.
        """
        first, second = self._symbols.spell(pair)
        occurrence = re.compile(rf"(?<!\S){re.escape(f'{first} {second}')}(?!\S)")
        merged = occurrence.sub(lambda _: first + second, " ".join(self._symbols.spell(word)))
        return self._symbols.word(merged.split(" "))


def pairs_of(word: str) -> Iterable[str]:
    """Return the pairs of a word, from left to right."""
    return map(add, word, word[1:])


class _PairCounts:
    """The counts of all pairs in the text.

    `_frequent` has the pairs above a threshold and all that changed since the last pruning, which sets the rarer of
    them aside. A pair that is set aside and occurs again in new places (because ab + c and a + bc make one symbol) is
    counted in these alone, as by subword-nmt; what it loses is subtracted at the next pruning. If no frequent pair
    is above the threshold, all pairs return and the threshold is lowered.
    """

    def __init__(self, counts: dict[str, int], symbols: _Symbols) -> None:
        self._symbols = symbols
        self._all = counts
        self._frequent = dict(counts)
        self._threshold = max(counts.values()) / 10
        self._rare = {pair for pair, count in counts.items() if count < self._threshold}
        self._heap = self._heap_of_frequent()

    def _heap_of_frequent(self) -> list[tuple[int, str, str]]:
        frequent, key = self._frequent.items(), self._symbols.key
        heap = [(-count, key(pair), pair) for pair, count in frequent if count >= self._threshold]
        heapify(heap)
        return heap

    def most_frequent(self, merges: int) -> str | None:
        """Return the most frequent pair after a number of merges; None if no pair is frequent enough."""
        pair = self._top()
        if pair is None:
            self._lower_threshold(merges)
            pair = self._top()
        return pair if pair is not None and self._frequent[pair] >= MINIMUM_COUNT else None

    def _top(self) -> str | None:
        """Return the most frequent pair above the threshold; drop and correct old entries of the heap."""
        heap = self._heap
        while heap:
            old, key, pair = heap[0]
            count = self._frequent.get(pair, 0)
            if count == -old:
                return pair
            if self._threshold <= count < -old:
                heapreplace(heap, (-count, key, pair))
            else:  # it is too rare, or a newer entry has its count
                heappop(heap)
        return None

    def _lower_threshold(self, merges: int) -> None:
        self.prune()
        self._threshold = max(self._all.values()) * merges / (merges + 10000.0)
        self._frequent = {pair: count for pair, count in self._all.items() if count >= self._threshold}
        self._heap = self._heap_of_frequent()

    def update(self, merged: str, changes: dict[str, int]) -> None:
        """Apply the changes that follow from merging a pair."""
        frequent, rare, heap = self._frequent, self._rare, self._heap
        threshold, key = self._threshold, self._symbols.key
        for pair, change in changes.items():
            count = frequent[pair] = frequent.get(pair, 0) + change
            if count < threshold:
                rare.add(pair)
            elif change > 0:
                heappush(heap, (-count, key(pair), pair))
        frequent[merged] = 0
        rare.add(merged)

    def prune(self) -> None:
        """Set aside all pairs that have become rarer than the threshold."""
        for pair in self._rare:
            count = self._frequent[pair]
            if count < self._threshold:
                del self._frequent[pair]
                self._all[pair] = self._all.get(pair, 0) + count if count < 0 else count
        self._rare.clear()
