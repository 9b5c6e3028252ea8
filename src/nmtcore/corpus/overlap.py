"""Pairs of development and test splits that occur in the training split too, compared by hashes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

MOST_HELD_OUT = 500_000
"""Pairs of a development or test split that are compared with the training split."""


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Pairs of a development or test split that the training split has too."""

    compared: int
    """Pairs of the split that were compared."""
    pairs: int
    """Those of which both sides are a training pair."""
    sources: int
    """Those of which the source is the source of a training pair."""


class HeldOut:
    """The pairs of the other splits, as hashes, and which of them occur in training; white space does not count."""

    def __init__(self) -> None:
        self._digests: dict[str, tuple[Counter[bytes], Counter[bytes]]] = {}
        self._compared: Counter[str] = Counter()
        self._seen: tuple[set[bytes], set[bytes]] = (set(), set())
        self._all: tuple[set[bytes], set[bytes]] = (set(), set())

    def add(self, split: str, words: Sequence[Sequence[str]]) -> None:
        """Add a pair of a split, unless it already has `MOST_HELD_OUT`."""
        digests = self._digests.setdefault(split, (Counter(), Counter()))
        if self._compared[split] < MOST_HELD_OUT:
            self._compared[split] += 1
            for counts, every, digest in zip(digests, self._all, _digests(words), strict=True):
                counts[digest] += 1
                every.add(digest)

    def compare(self, words: Sequence[Sequence[str]]) -> None:
        """Note which held-out pairs a training pair equals."""
        for seen, every, digest in zip(self._seen, self._all, _digests(words), strict=True):
            if digest in every:
                seen.add(digest)

    def overlaps(self) -> dict[str, Overlap]:
        """Return the overlap of each split with the training pairs so far."""
        return {
            split: Overlap(
                compared=self._compared[split],
                pairs=sum(digests[0][digest] for digest in digests[0].keys() & self._seen[0]),
                sources=sum(digests[1][digest] for digest in digests[1].keys() & self._seen[1]),
            )
            for split, digests in self._digests.items()
        }


def _digests(words: Iterable[Sequence[str]]) -> tuple[bytes, bytes]:
    """Return 128-bit hashes of a pair and of its source."""
    source, target = (" ".join(side).encode("utf-8", "surrogatepass") for side in words)
    return (
        blake2b(source + b"\n" + target, digest_size=16).digest(),
        blake2b(source, digest_size=16).digest(),
    )
