"""The demo corpus: English and German sentences from one synchronous grammar, with trees and categories.

A sentence is composed as abstract syntax (`composing`, `meaning`) and realised in both languages (`english`, `german`).
The ambiguities of the one language that the other resolves, and the orders in which they differ, hang on the
structure: nothing but the tree tells whether "sees the man with the telescope" is "mit" or "durch".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from zlib import crc32

from nmtcore.demo.combinations import combinations, held_out
from nmtcore.demo.composing.sentences import compose
from nmtcore.demo.english.clauses import English
from nmtcore.demo.german.clauses import German
from nmtcore.demo.phrases import constituents
from nmtcore.demo.trees import Realisation, lay_out

SIZES = {"train": 20000, "dev": 500, "test": 500}
"""The splits and their sizes in sentence pairs."""

_LONGEST = 32
"""The most words (with punctuation) of an English sentence."""

_KNOWN = 5000
"""The words of dev and test all occur in so many first pairs of the training set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One sentence in both languages; `origin` is "demo-split:number"."""

    origin: str
    source: Realisation
    target: Realisation


def generate(*, split: str, count: int, seed: int = 1) -> Iterator[Pair]:
    """Yield `count` sentence pairs of a split: English source, German target, both annotated.

    The same seed gives the same pairs everywhere, and a longer run begins with the shorter one. No pair occurs
    twice. Sentences of dev and test each hold a combination (`combinations`) that no training sentence holds, and
    only words of the training set. ValueError for an unknown split.
    """
    if split not in SIZES:
        raise ValueError(f"no split {split!r} in the demo corpus: choose one of {', '.join(SIZES)}")
    seen: set[tuple[str, str]] = set()
    attempt = 0
    for number in range(1, count + 1):
        while True:
            attempt += 1
            pair = _pair(split, seed, attempt, origin=f"demo-{split}:{number}")
            if pair is not None and (pair.source.text, pair.target.text) not in seen:
                break
        seen.add((pair.source.text, pair.target.text))
        yield pair


def swap(pair: Pair) -> Pair:
    """Return the pair with its sides exchanged: German source, English target."""
    return Pair(origin=pair.origin, source=pair.target, target=pair.source)


def _pair(split: str, seed: int, attempt: int, *, origin: str) -> Pair | None:
    """Make the pair of one attempt; None where it doesn't belong to the split."""
    sentence = compose(f"demo {seed} {split} {attempt}")
    if any(map(held_out, combinations(sentence))) == (split == "train"):
        return None
    english = English().sentence(sentence)
    if len(english) > _LONGEST:
        return None
    source, target = lay_out(english, ccg=True, bracketed=constituents), lay_out(German().sentence(sentence), ccg=False)
    if split != "train":
        half = ("dev", "test")[crc32(source.text.encode()) % 2]
        words, other_words = _vocabulary(seed)
        if half != split or not words.issuperset(source.words) or not other_words.issuperset(target.words):
            return None
    return Pair(origin=origin, source=source, target=target)


@lru_cache(maxsize=2)
def _vocabulary(seed: int) -> tuple[frozenset[str], frozenset[str]]:
    pairs = list(islice(generate(split="train", count=_KNOWN, seed=seed), _KNOWN))
    return (
        frozenset(word for pair in pairs for word in pair.source.words),
        frozenset(word for pair in pairs for word in pair.target.words),
    )
