"""The demo corpus: English and German sentences from one synchronous grammar, with trees and categories.

A sentence is composed as abstract syntax (`composing`, `meaning`) and realised in both languages (`english`, `german`).
Ambiguities of one language that the other resolves, and differences in word order, depend on the structure: only the
tree shows whether "sees the man with the telescope" is translated with "mit" or with "durch".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from zlib import crc32

from nmtcore.config.formats import DEMO_PAIRS
from nmtcore.demo.combinations import combinations, held_out
from nmtcore.demo.composing.sentences import compose
from nmtcore.demo.english.clauses import English
from nmtcore.demo.german.clauses import German
from nmtcore.demo.meaning import Sentence
from nmtcore.demo.phrases import constituents
from nmtcore.demo.trees import Realisation, lay_out

SIZES = DEMO_PAIRS
"""Sentence pairs per split."""

_MAX_WORDS = 32
"""Maximum length of an English sentence in words, punctuation included."""

_VOCABULARY_PAIRS = 5000
"""Number of training pairs, from the first, that contain all words of dev and test."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One sentence in both languages; `origin` is "demo-split:number"."""

    origin: str
    source: Realisation
    target: Realisation


def generate(*, split: str, count: int, seed: int = 1) -> Iterator[Pair]:
    """Yield `count` sentence pairs of a split: English source, German target, both annotated.

    A seed gives the same pairs on every machine, and a larger `count` only adds pairs at the end. No pair occurs
    twice. Every sentence of dev and test has a combination (`combinations`) that no training sentence has, and all its
    words occur in the training set. Raises ValueError for an unknown split.
    """
    return (pair for pair, _ in generate_with_meanings(split=split, count=count, seed=seed))


def generate_with_meanings(*, split: str, count: int, seed: int = 1) -> Iterator[tuple[Pair, Sentence]]:
    """Yield the pairs of `generate`, each with the abstract syntax that both sides realise."""
    if split not in SIZES:
        raise ValueError(f"no split {split!r} in the demo corpus: choose one of {', '.join(SIZES)}")
    seen: set[tuple[str, str]] = set()
    attempt = 0
    for number in range(1, count + 1):
        while True:
            attempt += 1
            sentence = compose(f"demo {seed} {split} {attempt}")
            pair = _pair(sentence, split, seed, origin=f"demo-{split}:{number}")
            if pair is not None and (pair.source.text, pair.target.text) not in seen:
                break
        seen.add((pair.source.text, pair.target.text))
        yield pair, sentence


def swap(pair: Pair) -> Pair:
    """Return the pair with its sides exchanged: German source, English target."""
    return Pair(origin=pair.origin, source=pair.target, target=pair.source)


def _pair(sentence: Sentence, split: str, seed: int, *, origin: str) -> Pair | None:
    """Realise a sentence in both languages; return None if it does not belong to the split."""
    if any(map(held_out, combinations(sentence))) == (split == "train"):
        return None
    english = English().sentence(sentence)
    if len(english) > _MAX_WORDS:
        return None
    source, target = lay_out(english, ccg=True, bracketed=constituents), lay_out(German().sentence(sentence), ccg=False)
    if split != "train":
        half = ("dev", "test")[crc32(source.text.encode()) % 2]
        words, other_words = training_words(seed)
        if half != split or not words.issuperset(source.words) or not other_words.issuperset(target.words):
            return None
    return Pair(origin=origin, source=source, target=target)


@lru_cache(maxsize=2)
def training_words(seed: int) -> tuple[frozenset[str], frozenset[str]]:
    """Return the English and the German words of the first training pairs of a seed's corpus."""
    pairs = list(islice(generate(split="train", count=_VOCABULARY_PAIRS, seed=seed), _VOCABULARY_PAIRS))
    return (
        frozenset(word for pair in pairs for word in pair.source.words),
        frozenset(word for pair in pairs for word in pair.target.words),
    )
