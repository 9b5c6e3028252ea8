"""The combinations of words and structures that are held out of the training set."""

from collections.abc import Iterator
from zlib import crc32

from nmtcore.demo.lexicon.entries import Verb
from nmtcore.demo.meaning import (
    Clause,
    NounPhrase,
    Predicate,
    Prepositional,
    Relative,
    Sentence,
    nodes,
)

HELD_OUT_RATE = 20
"""The inverse of the share of combinations that are held out."""


def combinations(sentence: Sentence) -> Iterator[str]:
    """Yield the names of the combinations in a sentence.

    A combination is a verb and its subject (with its number), a verb and its object, a noun and its adjective,
    a noun and a noun that modifies it (an attractor; with both numbers), or a noun and the verb of its relative clause.
    """
    for node in nodes(sentence):
        if isinstance(node, NounPhrase):
            yield from _of_noun(node)
        elif isinstance(node, Predicate) and node.verb is not None:
            yield from _of_verb(node, node.verb)
        elif isinstance(node, Clause) and isinstance(node.subject, NounPhrase):
            for predicate in node.predicates:
                if predicate.verb is not None:
                    subject = node.subject
                    yield f"subject {subject.noun.english[0]} {subject.number} {predicate.verb.key}"


def _of_verb(predicate: Predicate, verb: Verb) -> Iterator[str]:
    nominals = [predicate.object, predicate.recipient, predicate.phrase.nominal if predicate.phrase else None]
    for nominal in nominals:
        if isinstance(nominal, NounPhrase):
            yield f"object {nominal.noun.english[0]} {verb.key}"


def _of_noun(phrase: NounPhrase) -> Iterator[str]:
    noun = phrase.noun.english[0]
    for graded in phrase.adjectives:
        yield f"adjective {graded.adjective.english} {noun}"
    others = [part.nominal for part in phrase.modifiers] + [phrase.genitive]
    for other in others:
        if isinstance(other, NounPhrase):
            yield f"attractor {noun} {phrase.number} {other.noun.english[0]} {other.number}"
    if phrase.clause is not None:
        verb = phrase.clause.predicates[0].verb
        yield f"relative {noun} {_role(phrase.clause)} {verb.key if verb else 'be'}"


def _role(clause: Clause) -> str:
    if isinstance(clause.subject, Relative):
        return "subject"
    if isinstance(clause.front, Prepositional):
        return "place"
    return "object" if isinstance(clause.predicates[0].object, Relative) else "owner"


def held_out(combination: str) -> bool:
    """Return whether a combination is excluded from training; the answer is the same on every machine."""
    return crc32(combination.encode()) % HELD_OUT_RATE == 0
