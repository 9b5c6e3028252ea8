"""The words of the demo corpus in both languages, read from `lexicon.txt`, which explains the fields of its entries."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

Gender = Literal["m", "f", "n"]
Case = Literal["nom", "acc", "dat", "gen"]
Number = Literal["sg", "pl"]


@dataclass(frozen=True, slots=True)
class Link:
    """A preposition in both languages ("" for none), and the case that the German one governs."""

    english: str
    german: str
    case: Case


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun in both languages; `english` is (singular, plural), with "_" between the words of a compound."""

    english: tuple[str, str]
    gender: Gender
    nominative: str
    genitive: str
    plural: str
    classes: frozenset[str]
    place: Link | None

    @property
    def mass(self) -> bool:
        """Return whether the noun has no plural."""
        return self.plural == "-"


@dataclass(frozen=True, slots=True)
class Name:
    """A proper name in both languages: of a person (gender m or f) or of a town (n)."""

    english: str
    german: str
    gender: Gender


@dataclass(frozen=True, slots=True)
class Pronoun:
    """A personal pronoun, who, what or there; `gender` is "" except in the third person singular.

    The English forms are subject, object and owner; the German ones nominative, accusative, dative and the possessive.
    """

    english: tuple[str, ...]
    german: tuple[str, ...]
    person: int
    number: Number
    gender: Gender | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """The principal parts of an English verb, and its particle."""

    base: str
    past: str
    participle: str
    particle: str


@dataclass(frozen=True, slots=True)
class GermanVerb:
    """The principal parts of a German verb without its separable prefix, and the prefix, auxiliary and reflexivity."""

    infinitive: str
    present: str
    past: str
    participle: str
    prefix: str
    sein: bool
    reflexive: bool

    @property
    def lemma(self) -> str:
        """Return the infinitive with its prefix."""
        return self.prefix + self.infinitive


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb in both languages with its frame, which is the name of its section, and the classes of its arguments.

    In a prepositional frame, `link.english` is "" if the English verb is transitive, and `link.german` is "" if the
    German verb has an object in `link.case` without a preposition. `takes` holds the classes of the object or
    prepositional object, `tools` those of an instrument (placed: of the goal; "ing": an infinitive is a gerund).
    """

    english: EnglishVerb
    german: GermanVerb
    frame: str
    subjects: tuple[str, ...]
    takes: tuple[str, ...]
    link: Link | None
    tools: tuple[str, ...]

    @property
    def key(self) -> str:
        """Return a name that is unique among all entries."""
        return f"{self.english.base} {self.english.particle}/{self.german.lemma}/{self.frame}"


@dataclass(frozen=True, slots=True)
class Adjective:
    """An adjective in both languages with its comparatives and the classes of nouns that it describes."""

    english: str
    english_more: str
    german: str
    german_more: str
    classes: frozenset[str]
    stem: str


@dataclass(frozen=True, slots=True)
class Adverb:
    """An adverb in both languages; `slot` is time, often, manner, sentence, degree, together or asked."""

    english: str
    german: str
    slot: str
    tenses: tuple[str, ...]


def _sections() -> dict[str, list[list[str]]]:
    """Read the lexicon: the entries of every section, each as a list of its fields."""
    sections: dict[str, list[list[str]]] = {}
    for line in Path(__file__).with_name("lexicon.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            entries = sections[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            entries += [[field.strip() for field in entry.split("|")] for entry in line.strip(",").split(",")]
    return sections


_SECTIONS = _sections()


def words(section: str) -> tuple[str, ...]:
    """Return the words of a section that is a list."""
    return tuple(word for entry in _SECTIONS[section] for word in entry[0].split())


def _link(text: str) -> Link | None:
    return Link(*(part.strip("-").replace("_", " ") for part in text.split())) if text.strip("-") else None


def _noun(english: str, german: str, classes: str, place: str = "") -> Noun:
    singular, plural = english.split()
    tags = frozenset([*classes.split(), singular, singular.split("_")[-1]])
    return Noun((singular, plural), *german.split(), tags, _link(f"{place} dat" if place else ""))


def _verb(
    frame: str, english: str, german: str, subjects: str = "", takes: str = "", link: str = "", tools: str = ""
) -> Verb:
    english, _, particle = english.partition("+")
    base, *forms = english.split()
    past = forms[0] if forms else _regular_past(base)
    reflexive = german.startswith("sich ")
    infinitive, *parts = german.removeprefix("sich ").split()
    prefix, _, infinitive = infinitive.rpartition("+")
    return Verb(
        EnglishVerb(base, past, forms[-1] if forms else past, particle.strip()),
        GermanVerb(infinitive, *parts[:3], prefix, parts[3:] == ["sein"], reflexive),
        frame,
        tuple(subjects.split()),
        tuple(takes.split()),
        _link(link),
        tuple(tools.split()),
    )


def _regular_past(base: str) -> str:
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + ("d" if base.endswith("e") else "ed")


def _pronoun(english: str, german: str, agreement: str) -> Pronoun:
    person, number, *gender = agreement.split()
    return Pronoun(tuple(english.split()), tuple(german.split()), int(person), number, *gender)


def _adjective(english: str, german: str, classes: str, stem: str = "") -> Adjective:
    return Adjective(*english.split(), *german.split(), frozenset(classes.split()), stem or german.split()[0])


NOUNS = tuple(_noun(*entry) for entry in _SECTIONS["nouns"])
FRAMES = {
    frame: tuple(_verb(frame, *entry) for entry in entries)
    for section, entries in _SECTIONS.items()
    for kind_of_word, _, frame in [section.partition(" ")]
    if kind_of_word == "verbs"
}
"""The verbs by frame."""
AUXILIARIES = {entry[0].split()[0]: _verb("auxiliaries", *entry) for entry in _SECTIONS["auxiliaries"]}
"""Auxiliaries, modals, want and like, by their English base."""
PRONOUNS = {entry[0].split()[0]: _pronoun(*entry) for entry in _SECTIONS["pronouns"]}
"""Pronouns by their English subject."""
ADJECTIVES = tuple(_adjective(*entry) for entry in _SECTIONS["adjectives"])
PEOPLE, TOWNS = (tuple(Name(*entry.split()) for (entry,) in _SECTIONS[section]) for section in ("people", "towns"))
DETERMINERS = dict(entry.split() for (entry,) in _SECTIONS["determiners"])
"""The types of English determiners, and of their German translations, in Universal Dependencies."""
NUMBERS = tuple(tuple(entry.split()) for (entry,) in _SECTIONS["numbers"])
CONJUNCTIONS = {
    english.replace("_", " "): german for (entry,) in _SECTIONS["conjunctions"] for english, german in [entry.split()]
}
"""German conjunctions by English ones; "when" is "als" in the past."""
WITH = Link("with", "mit", "dat")
THROUGH = Link("with", "durch", "acc")
"""The link of instruments to see with; "with a friend" is "mit"."""


@cache
def of_class(*tags: str) -> tuple[Noun, ...]:
    """Return the nouns that belong to any of the classes, in the order of the lexicon."""
    return tuple(noun for noun in NOUNS if not noun.classes.isdisjoint(tags))


@cache
def verbs_for(frame: str, classes: frozenset[str]) -> tuple[Verb, ...]:
    """Return the verbs of a frame that can have a subject of these classes."""
    return tuple(verb for verb in FRAMES[frame] if classes.intersection(verb.subjects))


@cache
def verbs_taking(noun: Noun) -> tuple[Verb, ...]:
    """Return the transitive verbs that can have a person as their subject and the noun as their object."""
    return tuple(
        verb for verb in FRAMES["transitive"] if "person" in verb.subjects and noun.classes.intersection(verb.takes)
    )


@cache
def adjectives_for(noun: Noun) -> tuple[Adjective, ...]:
    """Return the adjectives that can describe a noun."""
    return tuple(entry for entry in ADJECTIVES if entry.classes & noun.classes)


@cache
def adverbs(slot: str, tense: str = "") -> tuple[Adverb, ...]:
    """Return the adverbs of a slot; if a tense is given, only those that go with it."""
    rows = (entry.split() for (entry,) in _SECTIONS[f"adverbs {slot}"])
    entries = (Adverb(english, german, slot, tuple(tenses)) for english, german, *tenses in rows)
    return tuple(entry for entry in entries if not tense or tense in entry.tenses)


@cache
def attributes(noun: Noun) -> tuple[tuple[Link | None, tuple[str, ...]], ...]:
    """Return the links of phrases that can modify a noun (None: that of a place), and the classes of their nouns."""
    fitting = (entry for entry in _SECTIONS["attributes"] if noun.classes.intersection(entry[0].split()))
    return tuple((_link(link), tuple(inner.split())) for _, link, inner in fitting)


@cache
def owners(noun: Noun) -> tuple[str, ...]:
    """Return the classes of the nouns that a noun can have as a genitive."""
    fitting = (inner for outer, inner in _SECTIONS["genitives"] if noun.classes.intersection(outer.split()))
    return tuple(next(fitting, "").split())


def location(noun: Noun) -> Link:
    """Return the locative preposition of a noun: in the house, at the lake, on the table."""
    return noun.place or (Link("in", "in", "dat") if "container" in noun.classes else Link("on", "auf", "dat"))
