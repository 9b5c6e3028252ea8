"""The abstract syntax of the demo corpus's sentences, which both languages realise."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, Literal

from nmtcore.demo.lexicon.entries import Adjective, Adverb, Gender, Link, Name, Noun, Number, Verb

Tense = Literal["present", "past", "perfect", "pluperfect", "future"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pronoun:
    """A personal pronoun; `german` is the gender of its German antecedent if that differs from the English one."""

    person: int
    number: Number
    gender: Gender = "n"
    german: Gender | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A person or a town with a name."""

    name: Name


@dataclass(frozen=True, kw_only=True, slots=True)
class Relative:
    """A relative pronoun, with the noun that its clause modifies."""

    noun: Noun
    number: Number


@dataclass(frozen=True, kw_only=True, slots=True)
class Interrogative:
    """`who` (a person) or `what`; `which NOUN` is a `NounPhrase` with the determiner "which"."""

    person: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Graded:
    """An adjective with an adverb of degree (or none)."""

    adjective: Adjective
    degree: Adverb | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NounPhrase:
    """A noun with its determiner, adjectives and modifiers.

    `determiner` is the English word, or "" for none. `owner` replaces it: a `Pronoun` (my), a `Relative` (whose), a
    `Named` or a `NounPhrase` (the teacher's). `genitive` is an owner after "of".
    """

    noun: Noun
    number: Number = "sg"
    determiner: str = "the"
    count: tuple[str, str] | None = None
    adjectives: tuple[Graded, ...] = ()
    owner: "Pronoun | Relative | Named | NounPhrase | None" = None
    genitive: "NounPhrase | None" = None
    modifiers: tuple["Prepositional", ...] = ()
    clause: "Clause | None" = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Joined:
    """Two coordinated noun phrases or names."""

    first: "NounPhrase | Named"
    second: "NounPhrase | Named"


Nominal = Pronoun | Named | Relative | Interrogative | NounPhrase | Joined


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepositional:
    """A prepositional phrase; `slot` is its place in a clause: time, place, tool, agent, direction or argument."""

    link: Link
    nominal: Nominal
    slot: str = "place"


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """An interrogative adverb: where, when, why."""

    english: str
    german: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Subordinate:
    """An adverbial clause with its English conjunction."""

    marker: str
    clause: "Clause"


@dataclass(frozen=True, kw_only=True, slots=True)
class Purpose:
    """An adverbial infinitive: `in order to` (um ... zu) or, negative, `without` (ohne ... zu)."""

    negative: bool
    predicate: "Predicate"


Adjunct = Adverb | Prepositional | Question | Subordinate | Purpose


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """A comparative with its standard: older than the nominal."""

    adjective: Adjective
    than: Nominal


@dataclass(frozen=True, kw_only=True, slots=True)
class Predicate:
    """A verb with its arguments and adjuncts; if `verb` is None, the copula with its `complement`.

    `content` is a finite clause (`marker` is that, bare, whether, or "" before a question word) or an infinitive.
    `shifted` puts the recipient into a phrase with "to". `attitude` is "", "like" (German: gern) or "want" (wollen).
    """

    verb: Verb | None
    object: Nominal | None = None
    recipient: Nominal | None = None
    phrase: Prepositional | None = None
    content: "Clause | Predicate | None" = None
    marker: str = ""
    complement: Graded | Compared | NounPhrase | None = None
    adjuncts: tuple[Adjunct, ...] = ()
    tense: Tense = "present"
    modal: str = ""
    passive: bool = False
    negated: bool = False
    progressive: bool = False
    shifted: bool = False
    attitude: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Clause:
    """A subject with one predicate, or two joined by `conjunction`; `front` precedes everything else."""

    subject: Nominal
    predicates: tuple[Predicate, ...]
    conjunction: str = "and"
    front: Adjunct | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Existence:
    """An existential clause: there is something somewhere."""

    nominal: NounPhrase
    place: Prepositional
    tense: Tense = "present"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """A statement of one clause or of two joined by `conjunction`, or a question of one clause."""

    clauses: tuple[Clause | Existence, ...]
    conjunction: str = ""
    question: bool = False


def nodes(meaning: Any) -> Iterator[Any]:
    """Yield `meaning` and every node of the abstract syntax below it; lexical entries are leaves."""
    yield meaning
    for name in _field_names(type(meaning)):
        value = getattr(meaning, name)
        for child in value if isinstance(value, tuple) else (value,):
            if child is not None and _field_names(type(child)):
                yield from nodes(child)


def substitute(meaning: Any, old: Any, new: Any) -> Any:
    """Return `meaning` with the node `old` (the same object) replaced by `new`, wherever it is."""
    if meaning is old:
        return new
    changes = {}
    for name in _field_names(type(meaning)):
        value = getattr(meaning, name)
        changed = (
            tuple(substitute(child, old, new) for child in value)
            if isinstance(value, tuple)
            else substitute(value, old, new)
        )
        if changed is not value and changed != value:
            changes[name] = changed
    return replace(meaning, **changes) if changes else meaning


@cache
def _field_names(node_class: type) -> tuple[str, ...]:
    """Return the names of a node's fields, or () for lexical entries and values that are no nodes."""
    if not is_dataclass(node_class) or node_class in (Noun, Verb, Adjective, Adverb, Link, Name):
        return ()
    return tuple(field.name for field in fields(node_class))


def agreement(nominal: Nominal) -> tuple[int, Number]:
    """Return the person and the number of a verb whose subject is `nominal`."""
    if isinstance(nominal, Pronoun):
        return nominal.person, nominal.number
    if isinstance(nominal, Joined):
        return 3, "pl"
    if isinstance(nominal, (NounPhrase, Relative)):
        return 3, nominal.number
    return 3, "sg"


def verb_agreement(clause: Clause, *, disagreeing: Clause | None = None) -> tuple[int, Number]:
    """Return the person and the number of a clause's verbs: those of its subject; the other number if `disagreeing`."""
    person, number = agreement(clause.subject)
    if clause is not disagreeing:
        return person, number
    return person, "sg" if number == "pl" else "pl"


def wh_role(clause: Clause) -> str | None:
    """Return the role of the question word in `clause` (subject, object or front), or None if there is none."""
    if _has_question_word(clause.subject):
        return "subject"
    if _has_question_word(clause.predicates[0].object):
        return "object"
    return "front" if isinstance(clause.front, Question) else None


def _has_question_word(nominal: Nominal | None) -> bool:
    if isinstance(nominal, NounPhrase):
        return nominal.determiner == "which"
    return isinstance(nominal, Interrogative)
