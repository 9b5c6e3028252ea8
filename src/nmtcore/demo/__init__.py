"""The demo corpus: English and German sentences from one grammar, with trees and categories.

A sentence is composed as a clause whose slots are filled (`sentences`, `grammar`), and realised in both languages
(`english`, `german`). Ambiguities of one language that the other resolves, and differences in word order, depend on the
structure: only the tree shows whether "sees the man with the telescope" is translated with "mit" or with "durch".
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

from nmtcore.config.formats import DEMO_PAIRS
from nmtcore.demo import english, german
from nmtcore.demo.grammar import Clause, Nominal, Prepositional, nodes
from nmtcore.demo.lexicon import Noun
from nmtcore.demo.sentences import compose
from nmtcore.demo.trees import Realisation, lay_out

SIZES = DEMO_PAIRS
"""Sentence pairs per split."""
HELD_OUT_RATE = 20
"""The inverse of the share of combinations that are held out of the training set."""

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


def generate_with_meanings(*, split: str, count: int, seed: int = 1) -> Iterator[tuple[Pair, Clause]]:
    """Yield the pairs of `generate`, each with the clause that both sides realise."""
    if split not in SIZES:
        raise ValueError(f"no split {split!r} in the demo corpus: choose one of {', '.join(SIZES)}")
    seen: set[tuple[str, str]] = set()
    for attempt in itertools.count(1):
        if len(seen) == count:
            return
        meaning = compose(f"demo {seed} {split} {attempt}")
        pair = _pair(meaning, split, seed, origin=f"demo-{split}:{len(seen) + 1}")
        if pair is not None and (pair.source.text, pair.target.text) not in seen:
            seen.add((pair.source.text, pair.target.text))
            yield pair, meaning


def _pair(meaning: Clause, split: str, seed: int, *, origin: str) -> Pair | None:
    """Realise a sentence in both languages; return None if it does not belong to the split."""
    if any(map(held_out, combinations(meaning))) == (split == "train"):
        return None
    words = english.sentence(meaning)
    doubled = any(first.form == second.form and first.upos == "ADV" for first, second in itertools.pairwise(words))
    if len(words) > _MAX_WORDS or doubled:
        return None
    source, target = lay_out(words, english=True), lay_out(german.sentence(meaning), english=False)
    if split != "train":
        half = ("dev", "test")[crc32(source.text.encode()) % 2]
        known, other_known = training_words(seed)
        if half != split or not known.issuperset(source.words) or not other_known.issuperset(target.words):
            return None
    return Pair(origin=origin, source=source, target=target)


@lru_cache(maxsize=2)
def training_words(seed: int) -> tuple[frozenset[str], frozenset[str]]:
    """Return the English and the German words of the first training pairs of a seed's corpus."""
    pairs = list(generate(split="train", count=_VOCABULARY_PAIRS, seed=seed))
    sides = ([pair.source for pair in pairs], [pair.target for pair in pairs])
    source, target = (frozenset(word for half in side for word in half.words) for side in sides)
    return source, target


def held_out(combination: str) -> bool:
    """Return whether a combination is excluded from training; the answer is the same on every machine."""
    return crc32(combination.encode()) % HELD_OUT_RATE == 0


def combinations(meaning: Clause) -> Iterator[str]:
    """Yield the names of the combinations in a sentence.

    A combination is a verb and its subject (with its number), a verb and its object, a noun and its adjective,
    a noun and a noun that modifies it (an attractor; with both numbers), or a noun and the verb of its relative clause.
    """
    for node in nodes(meaning):
        if isinstance(node, Nominal) and isinstance(node.word, Noun):
            yield from _of_noun(node, node.word.english[0])
        elif isinstance(node, Clause) and node.verb.frame != "existence":
            yield from _of_clause(node)


def _of_noun(phrase: Nominal, noun: str) -> Iterator[str]:
    for graded in phrase.adjectives:
        yield f"adjective {graded.adjective.english} {noun}"
    for other in (part.nominal for part in phrase.modifiers):
        if other.is_noun:
            yield f"attractor {noun} {phrase.number} {other.word.english[0]} {other.number}"
    if (clause := phrase.clause) is not None:
        subject = clause.subject is not None and clause.subject.relative
        role = "subject" if subject else clause.first or "owner"
        yield f"relative {noun} {role} {'be' if clause.verb.frame == 'copula' else clause.verb.key}"


def _of_clause(clause: Clause) -> Iterator[str]:
    subject, second = clause.subject, clause.joined
    predicates = [clause, second] if second is not None and second.subject is None else [clause]
    for predicate in predicates:
        if subject is not None and subject.is_noun and predicate.verb.frame != "copula":
            yield f"subject {subject.word.english[0]} {subject.number} {predicate.verb.key}"
    for slot in ("object", "recipient", "shifted", "argument"):
        value = clause.slots.get(slot)
        nominal = value.nominal if isinstance(value, Prepositional) else value
        if nominal is not None and nominal.is_noun:
            yield f"object {nominal.word.english[0]} {clause.verb.key}"
