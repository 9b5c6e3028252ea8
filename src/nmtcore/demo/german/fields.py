"""The topological fields of a German clause."""

from dataclasses import dataclass, field

from nmtcore.demo.lexicon.entries import Adverb, Case
from nmtcore.demo.meaning import (
    Adjunct,
    Nominal,
    NounPhrase,
    Predicate,
    Prepositional,
    Relative,
)
from nmtcore.demo.trees import Word

_EARLY = {"sentence": 0, "time": 1, "often": 2}


@dataclass(kw_only=True, slots=True)
class Fields:
    """The words of a verb phrase by field; `verbs` are in the order of a final cluster, the outermost last."""

    head: Word
    verbs: list[Word] = field(default_factory=list)
    particle: list[Word] = field(default_factory=list)
    reflexive: list[Word] = field(default_factory=list)
    pronouns: list[Word] = field(default_factory=list)
    middle: list[Word] = field(default_factory=list)
    after: list[Word] = field(default_factory=list)

    def second(self) -> tuple[Word, list[Word]]:
        """Return the finite verb of a verb-second clause, and the words after the middle field."""
        return self.verbs[-1], self.particle + self.verbs[:-1] + self.after

    def final(self) -> list[Word]:
        """Return all words after the subject of a verb-final clause."""
        return self.reflexive + self.pronouns + self.middle + self.verbs + self.after


class Slots:
    """The adjuncts of a predicate, sorted by their position in the German middle field."""

    def __init__(self, adjuncts: tuple[Adjunct, ...]) -> None:
        early: list[tuple[int, Adverb | Prepositional]] = []
        self.places: list[Adverb | Prepositional] = []
        self.manner: list[Adverb | Prepositional] = []
        for part in adjuncts:
            if isinstance(part, Prepositional):
                if part.slot == "time":
                    early.append((_EARLY["time"], part))
                elif part.slot == "direction":
                    self.manner.append(part)
                else:
                    self.places.append(part)
            elif isinstance(part, Adverb):
                if part.slot in _EARLY:
                    early.append((_EARLY[part.slot], part))
                else:
                    (self.places if part.slot == "plural" else self.manner).append(part)
        self.early = [part for _, part in sorted(early, key=lambda item: item[0])]


def direct_object(meaning: Predicate) -> tuple[Nominal | None, Case]:
    """Return the German direct object and its case."""
    phrase = meaning.phrase
    if phrase is not None and not phrase.link.german:
        return phrase.nominal, phrase.link.case
    link = meaning.verb.link if meaning.verb and meaning.verb.frame == "object_control" else None
    return (None if meaning.passive else meaning.object), link.case if link else "acc"


def takes_kein(nominal: Nominal | None) -> bool:
    """Return whether the negation of a clause is realised as this nominal's determiner kein."""
    return (
        isinstance(nominal, NounPhrase)
        and nominal.determiner in ("a", "")
        and nominal.owner is None
        and nominal.count is None
    )


def kein_somewhere(meaning: Predicate) -> bool:
    """Return whether a nominal of the predicate realises its negation."""
    return takes_kein(direct_object(meaning)[0]) or (
        isinstance(meaning.complement, NounPhrase) and takes_kein(meaning.complement)
    )


def indefinite(nominal: Nominal | None) -> bool:
    """Return whether adverbs of manner precede this object."""
    return isinstance(nominal, NounPhrase) and nominal.owner is None and nominal.determiner in ("a", "", "some", "many")


def owned_by_relative(nominal: Nominal) -> bool:
    """Return whether a nominal begins with dessen or deren."""
    return isinstance(nominal, NounPhrase) and isinstance(nominal.owner, Relative)
