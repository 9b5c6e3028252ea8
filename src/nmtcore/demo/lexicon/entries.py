"""The entries of the bilingual lexicon."""

from dataclasses import dataclass
from typing import Literal

Gender = Literal["m", "f", "n"]
Case = Literal["nom", "acc", "dat", "gen"]
Number = Literal["sg", "pl"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Noun:
    """A noun in both languages; `english` is (singular, plural), with "_" between the words of a compound."""

    english: tuple[str, str]
    gender: Gender
    nominative: str
    genitive: str
    plural: str
    classes: frozenset[str]
    place: tuple[str, str] | None = None

    @property
    def mass(self) -> bool:
        """Return whether the noun has no plural."""
        return self.plural == "-"


@dataclass(frozen=True, kw_only=True, slots=True)
class EnglishVerb:
    """The principal parts of an English verb, and its particle."""

    base: str
    past: str
    participle: str
    particle: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class GermanVerb:
    """The principal parts of a German verb without its separable prefix, and the prefix, auxiliary and reflexivity."""

    infinitive: str
    present: str
    past: str
    participle: str
    prefix: str = ""
    sein: bool = False
    reflexive: bool = False

    @property
    def lemma(self) -> str:
        """Return the infinitive with its prefix."""
        return self.prefix + self.infinitive


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A preposition in both languages, and the case that the German one governs."""

    english: str
    german: str
    case: Case


@dataclass(frozen=True, kw_only=True, slots=True)
class Verb:
    """A verb in both languages with its frame and the classes of its subjects and objects.

    `frame` is one of intransitive, transitive, ditransitive, prepositional, located, placed, that, tell, whether,
    subject_control, object_control, raising. In a prepositional frame, `link.english` is "" if the English verb is
    transitive, and `link.german` is "" if the German verb has an object in `link.case` without a preposition. `takes`
    holds the classes of the object or prepositional object, `tools` those of an instrument (placed: of the goal).
    """

    english: EnglishVerb
    german: GermanVerb
    frame: str
    subjects: tuple[str, ...]
    takes: tuple[str, ...] = ()
    link: Link | None = None
    tools: tuple[str, ...] = ()
    infinitive: str = "to"

    @property
    def key(self) -> str:
        """Return a name that is unique among all entries."""
        return f"{self.english.base} {self.english.particle}/{self.german.lemma}/{self.frame}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Adjective:
    """An adjective in both languages with its comparatives and the classes of nouns that it describes."""

    english: str
    german: str
    english_more: str
    german_more: str
    stem: str
    classes: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Adverb:
    """An adverb in both languages; `slot` is time, often, manner, sentence, degree or plural."""

    english: str
    german: str
    slot: str
    tenses: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Name:
    """A proper name in both languages: of a person (gender m or f) or of a town (n)."""

    english: str
    german: str
    gender: Gender
