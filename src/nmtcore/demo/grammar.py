"""The grammar of both languages: a clause is a table of slots, and each language puts the slots in its own order.

Slots and what fills them: subject, object, recipient (`Nominal`); shifted, a recipient after English "to"; argument,
agent, tool, place (`Prepositional`); time (`Adverb` or `Prepositional`); often, sentence, manner, together, and asked
(where, when, why), which are adverbs; complement of the copula (`Graded` or `Nominal`); content (a clause
or infinitive that the verb selects), adverbial and purpose (`Embedded`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from nmtcore.demo.lexicon import PRONOUNS, Adjective, Adverb, Gender, Link, Name, Noun, Number, Pronoun, Verb
from nmtcore.demo.trees import Word

Tense = Literal["present", "past", "perfect", "pluperfect", "future"]
Agreement = tuple[int, Number]
"""The person and the number of a finite verb."""

_ENGLISH = "negation often sentence verbs particle recipient object late_particle shifted argument complement content"
_ENGLISH += " agent tool place manner together time adverbial purpose"
_SUBJECT = "pronoun_subject reflexive early_subject object_pronoun recipient_pronoun subject"
_MIDDLE = "sentence time often progressive recipient place tool agent together object gladly manner indefinite_object"
_MIDDLE += " shifted negation argument complement raised"
_AFTER = "extraposed content adverbial purpose"
ORDER = {
    "statement": f"mark front to subject finite {_ENGLISH}",
    "question": f"front finite subject {_ENGLISH}",
    "second": f"front finite {_SUBJECT} {_MIDDLE} particle verbs {_AFTER}",
    "final": f"mark front {_SUBJECT} {_MIDDLE} verbs finite {_AFTER}",
}
"""The order of slots: of English statements (and all embedded clauses) and questions, and of German clauses whose
finite verb is second or last. Some slots hold a form of another: in German, a pronoun precedes the nouns."""
ADJUNCTS = ("agent", "tool", "place", "manner", "together", "time", "often", "sentence")
"""The slots of adverbs and of phrases that the verb does not select."""
_NEGATED = ("the", "this", "that", "a", "")
"""Determiners of objects with which the scope of a negation is clear; the first three also of subjects."""


@dataclass(frozen=True, slots=True)
class Graded:
    """An adjective with an adverb of degree (or none), or a comparative: older `than` a nominal."""

    adjective: Adjective
    degree: Adverb | None = None
    than: "Nominal | None" = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Nominal:
    """A noun with its determiner, adjectives and modifiers; a name; a pronoun; or two of them, with `joined`.

    `determiner` is the English word, or "" for none; an `owner` (my, Anna's, the teacher's, whose) replaces it. If
    `relative`, this is the relative pronoun of the noun. `antecedent` is the gender of a pronoun in German if that
    differs from the English one.
    """

    word: Noun | Name | Pronoun
    number: Number = "sg"
    determiner: str = "the"
    count: tuple[str, str] | None = None
    adjectives: tuple[Graded, ...] = ()
    owner: "Nominal | None" = None
    modifiers: tuple["Prepositional", ...] = ()
    clause: "Clause | None" = None
    joined: "Nominal | None" = None
    relative: bool = False
    antecedent: Gender | None = None

    @property
    def is_noun(self) -> bool:
        """Return whether this is one noun phrase: no name, no pronoun, and not two."""
        return isinstance(self.word, Noun) and not self.relative and self.joined is None

    @property
    def classes(self) -> frozenset[str]:
        """Return the classes of the noun; pronouns, names and two nouns are persons."""
        return self.word.classes if isinstance(self.word, Noun) and self.joined is None else frozenset({"person"})

    @property
    def agreement(self) -> Agreement:
        """Return the person and the number of a verb whose subject this is."""
        if self.joined is not None:
            return 3, "pl"
        return (self.word.person, self.word.number) if isinstance(self.word, Pronoun) else (3, self.number)

    @property
    def questions(self) -> bool:
        """Return whether this is `who`, `what` or `which ...`."""
        return self.word is PRONOUNS["who"] or self.word is PRONOUNS["what"] or self.determiner == "which"

    @property
    def leads(self) -> bool:
        """Return whether this begins with a question word or relative pronoun, so that it is in front of its clause."""
        return self.relative or self.questions or (self.owner is not None and self.owner.relative)


@dataclass(frozen=True, slots=True)
class Prepositional:
    """A prepositional phrase."""

    link: Link
    nominal: Nominal


@dataclass(frozen=True, slots=True)
class Embedded:
    """A clause within another, after `marker`.

    As content: that, bare (that is left out), whether, "" (a question word), or "to", an infinitive. As an adverbial:
    a subordinating conjunction. As a purpose: `in order` (um ... zu) or `without` (ohne ... zu), with an infinitive.
    """

    marker: str
    clause: "Clause"


Slot = Nominal | Prepositional | Adverb | Graded | Embedded


@dataclass(kw_only=True, slots=True)
class Clause:
    """A verb with its subject (None for an infinitive and for a second predicate) and the other slots.

    `modal` is an English modal, or "want" or "like" (German: gern). `front` is the slot before everything else.
    `joined` is a second clause, or a second predicate of the subject, after `conjunction`. `fault` is what a
    contrastive pair makes wrong: the "number" of the verb, or its "position", which is that of the other language.
    """

    verb: Verb
    subject: Nominal | None = None
    tense: Tense = "present"
    modal: str = ""
    passive: bool = False
    negated: bool = False
    progressive: bool = False
    question: bool = False
    front: str = ""
    slots: dict[str, Slot] = field(default_factory=dict)
    joined: "Clause | None" = None
    conjunction: str = "and"
    fault: str = ""

    @property
    def object(self) -> Nominal | None:
        """Return the direct object."""
        return self.slots.get("object")

    @property
    def first(self) -> str:
        """Return the slot in front: the object if it is or begins with a question word or relative pronoun."""
        return "object" if self.object is not None and self.object.leads else self.front

    def drop(self, *slots: str) -> "Clause":
        """Empty slots of this clause and of its second predicate; return the clause."""
        for slot in slots:
            self.slots.pop(slot, None)
        if self.joined is not None:
            self.joined.drop(*slots)
        return self

    def agreement(self, inherited: Agreement) -> Agreement:
        """Return the person and the number of the verb; those of an infinitive or second predicate are `inherited`."""
        person, number = self.subject.agreement if self.subject else inherited
        return (person, "sg" if number == "pl" else "pl") if self.fault == "number" else (person, number)


def pronouns(english: str) -> tuple[Nominal, ...]:
    """Return pronouns by their English subject forms."""
    return tuple(Nominal(word=PRONOUNS[form]) for form in english.split())


def negate(clause: Clause, subject: Nominal) -> None:
    """Negate a clause unless its determiners or clauses make the negation ambiguous."""
    if subject.is_noun and subject.owner is None and subject.determiner not in _NEGATED[:3]:
        return
    argument = clause.slots.get("argument")
    for nominal in (clause.object, argument.nominal if isinstance(argument, Prepositional) else None):
        if nominal is not None and (nominal.joined or nominal.clause):
            return
        bare = nominal is not None and nominal.is_noun and nominal.owner is None
        if bare and (nominal.determiner not in _NEGATED or nominal.count):
            return
    time = clause.slots.get("time")
    clause.drop(*ADJUNCTS)
    if isinstance(time, Adverb):
        clause.slots["time"] = time
    if "shifted" in clause.slots:
        clause.slots["recipient"] = clause.slots.pop("shifted")
    clause.negated = True


def relation(slot: str, value: Embedded) -> str:
    """Return the relation of an embedded clause or infinitive to the head of its clause."""
    return "advcl" if slot != "content" else "xcomp" if value.marker == "to" else "ccomp"


def subject_relation(clause: Clause) -> str:
    """Return the relation of a subject to the head of its clause."""
    return "expl" if clause.verb.frame == "existence" else "nsubj:pass" if clause.passive else "nsubj"


def arrange(order: list[str], filled: dict[str, list[Word]]) -> list[Word]:
    """Return the words of all slots in an order."""
    return [word for slot in order for word in filled.get(slot, ())]


def nodes(node: Clause | Slot) -> Iterator[Clause | Slot]:
    """Yield a clause, or what fills a slot, and everything below it."""
    yield node
    parts: list[Clause | Slot | None] = []
    if isinstance(node, Clause):
        parts = [node.subject, *node.slots.values(), node.joined]
    elif isinstance(node, Nominal):
        parts = [node.owner, *node.modifiers, node.clause, node.joined]
    elif isinstance(node, Prepositional):
        parts = [node.nominal]
    elif isinstance(node, Embedded):
        parts = [node.clause]
    elif isinstance(node, Graded):
        parts = [node.than]
    for part in parts:
        if part is not None:
            yield from nodes(part)
