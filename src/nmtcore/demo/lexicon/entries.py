"""The entries of the bilingual lexicon."""

from dataclasses import dataclass
from typing import Literal

Gender = Literal["m", "f", "n"]
Case = Literal["nom", "acc", "dat", "gen"]
Number = Literal["sg", "pl"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Noun:
    """A noun of both languages; `english` is (singular, plural) with "_" between the words of a compound."""

    english: tuple[str, str]
    gender: Gender
    nominative: str
    genitive: str
    plural: str
    classes: frozenset[str]
    place: tuple[str, str] | None = None

    @property
    def mass(self) -> bool:
        """Whether the noun has no plural."""
        return self.plural == "-"


@dataclass(frozen=True, kw_only=True, slots=True)
class EnglishVerb:
    """The English forms of a verb that rules can't give, and the particle that goes with it."""

    base: str
    past: str
    participle: str
    particle: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class GermanVerb:
    """The German principal parts without prefix, and the separable prefix, the perfect auxiliary, reflexivity."""

    infinitive: str
    present: str
    past: str
    participle: str
    prefix: str = ""
    sein: bool = False
    reflexive: bool = False

    @property
    def lemma(self) -> str:
        """The infinitive with its prefix."""
        return self.prefix + self.infinitive


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A preposition of both languages, and the case that the German one governs."""

    english: str
    german: str
    case: Case


@dataclass(frozen=True, kw_only=True, slots=True)
class Verb:
    """A verb of both languages with its frame and the classes of nouns that it takes.

    `frame` is one of intransitive, transitive, ditransitive, prepositional (English preposition `link.english`,
    "" where the English verb is transitive; German `link.german`, "" where the German verb has a bare object in
    `link.case`), located, placed, that, whether, subject_control, object_control, raising.
    `takes` holds the classes of the object or of the prepositional object; `tools` those of an instrument.
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
        """A name that no other entry has."""
        return f"{self.english.base} {self.english.particle}/{self.german.lemma}/{self.frame}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Adjective:
    """An adjective of both languages with its comparatives and the classes of nouns that it describes."""

    english: str
    german: str
    english_more: str
    german_more: str
    stem: str
    classes: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Adverb:
    """An adverb of both languages; `slot` is time, often, manner, sentence, degree or plural."""

    english: str
    german: str
    slot: str
    tenses: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Name:
    """A proper name of both languages, of a person (gender m or f) or a town (n)."""

    english: str
    german: str
    gender: Gender
