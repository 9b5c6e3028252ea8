"""Learning the merges of byte pair encoding from counts of words: the same merges as subword-nmt's, much faster.

An index has the positions of each pair of symbols, so that a merge visits only these; a heap yields the most frequent
pair.

What subword-nmt learns depends on three details, which are the same here: of pairs with equal counts, the one with the
greater spelling comes first; rare pairs are set aside (`_PairCounts`); and the counts of a few pairs differ from their
occurrences (`PairIndex`).
"""

from collections.abc import Mapping
from heapq import heapify, heappop, heappush, heapreplace

from nmtcore.segmentation.pair_index import PairIndex
from nmtcore.segmentation.symbols import Symbols

MINIMUM_COUNT = 2
"""The count of the rarest pair that is merged."""
_MERGES_PER_PRUNING = 100


def learn_merges(words: Mapping[str, int], size: int) -> list[tuple[str, str]]:
    """Learn at most `size` merges from the counts of distinct words, in order of priority."""
    index = PairIndex(words)
    pairs = index.count_pairs()
    if not pairs:
        return []
    counts = _PairCounts(pairs, index.symbols)
    merges: list[tuple[str, str]] = []
    while len(merges) < size and (pair := counts.most_frequent(len(merges))) is not None:
        counts.update(pair, index.merge(pair))
        if len(merges) % _MERGES_PER_PRUNING == 0:
            counts.prune()
        merges.append(index.symbols.spell_pair(pair))
    return merges


class _PairCounts:
    """The counts of all pairs in the text.

    `_frequent` has the pairs above a threshold and all that changed since the last pruning, which sets the rarer of
    them aside. A pair that is set aside and occurs again in new places (because ab + c and a + bc make one symbol) is
    counted in these alone, as by subword-nmt; what it loses is subtracted at the next pruning. If no frequent pair
    is above the threshold, all pairs return and the threshold is lowered.
    """

    def __init__(self, counts: dict[int, int], symbols: Symbols) -> None:
        self._symbols = symbols
        self._all = counts
        self._frequent = dict(counts)
        self._threshold = max(counts.values()) / 10
        self._rare = {pair for pair, count in counts.items() if count < self._threshold}
        self._heap = self._heap_of_frequent()

    def _heap_of_frequent(self) -> list[tuple[int, str, int]]:
        frequent, key = self._frequent.items(), self._symbols.key
        heap = [(-count, key(pair), pair) for pair, count in frequent if count >= self._threshold]
        heapify(heap)
        return heap

    def most_frequent(self, merges: int) -> int | None:
        """Return the most frequent pair after a number of merges; None if no pair is frequent enough."""
        pair = self._top()
        if pair is None:
            self._lower_threshold(merges)
            pair = self._top()
        return pair if pair is not None and self._frequent[pair] >= MINIMUM_COUNT else None

    def _top(self) -> int | None:
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

    def update(self, merged: int, changes: dict[int, int]) -> None:
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
