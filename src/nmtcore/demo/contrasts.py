"""Contrastive pairs of the demo corpus: its translations, each with wrong ones that differ in one phenomenon.

`number`: the finite verb of a clause has the wrong number (not after German `sie`, which can be both);
`number_attractor`: the same, if a noun of the wrong number is between the subject and the verb. `verb_main`: the finite
verb of a statement with something in front is where the source language has it, after the subject in German and before
it in English. `verb_subordinate`: so is that of a clause after a conjunction, after the subject in German and at the
end in English. `attachment_verb`: an English prepositional phrase after an object, here one of the verb, is translated
as if it belonged to the object; `attachment_object`: the other way round. English does not show which it is, so that
only the tree, or a likely sense, tells them apart (English to German only).

The source is the same for both, and all words of wrong translations occur in the training set.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from nmtcore.demo import Pair, english, generate_with_meanings, german, training_words
from nmtcore.demo.grammar import Clause, Embedded, Prepositional, nodes
from nmtcore.demo.lexicon import PRONOUNS, THROUGH, WITH
from nmtcore.demo.trees import Word, lay_out, without_double_marks

PHENOMENA = ("number", "number_attractor", "verb_main", "verb_subordinate", "attachment_verb", "attachment_object")
"""All phenomena."""


class WrongRealisation(NamedTuple):
    """A wrong translation; `distance` is the words from the subject's head to the verb, or by which the verb moved."""

    text: str
    words: list[str]
    phenomenon: str
    distance: int | None


class DemoContrasts(NamedTuple):
    """A sentence pair with wrong translations of its source."""

    pair: Pair
    wrong: list[WrongRealisation]


def generate_contrasts(*, split: str, count: int, seed: int = 1, target: str = "de") -> Iterator[DemoContrasts]:
    """Yield the first `count` pairs of a split of the demo corpus with wrong translations into `target`, de or en.

    A pair may have none, or several by one phenomenon, each in another clause. The pairs are those of
    `nmtcore.demo.generate`, with English as their source in either case.
    """
    known = training_words(seed)[target == "de"]
    for pair, meaning in generate_with_meanings(split=split, count=count, seed=seed):
        wrong: dict[str, WrongRealisation] = {}
        for error in wrong_translations(meaning, target):
            if known.issuperset(error.words):
                wrong.setdefault(error.text, error)
        yield DemoContrasts(pair, list(wrong.values()))


def wrong_translations(meaning: Clause, target: str) -> Iterator[WrongRealisation]:
    """Yield the wrong realisations of a sentence in a language, de or en, by phenomenon."""
    clauses = [node for node in nodes(meaning) if isinstance(node, Clause)]
    for clause in clauses:
        yield from _wrong_number(meaning, clause, target)
    if meaning.front and not meaning.question:
        yield from _wrong_position(meaning, meaning, target, "verb_main")
    for node in nodes(meaning):
        marked = isinstance(node, Embedded) and node.marker not in ("", "to", "in order", "without")
        # German has "dass" where English has nothing. English has no place for the verb after two predicates.
        if marked and (target == "de" or (node.marker != "bare" and node.clause.joined is None)):
            yield from _wrong_position(meaning, node.clause, target, "verb_subordinate")
    if target == "de":
        for clause in clauses:
            yield from _wrong_attachments(meaning, clause)


def _realise(meaning: Clause, target: str, clause: Clause, **changes: Any) -> list[Word]:
    """Realise a sentence in which one clause is changed."""
    unchanged = {name: getattr(clause, name) for name in changes}
    for name, value in changes.items():
        setattr(clause, name, value)
    words = (german if target == "de" else english).sentence(meaning)
    for name, value in unchanged.items():
        setattr(clause, name, value)
    return without_double_marks(words)


def _wrong(words: list[Word], phenomenon: str, distance: int | None) -> WrongRealisation:
    realisation = lay_out(words, english=False)
    return WrongRealisation(realisation.text, realisation.words, phenomenon, distance)


def _with_fault(meaning: Clause, target: str, clause: Clause, fault: str) -> tuple[list[Word], list[Word], list[int]]:
    """Return the right words, those with a fault in one clause, and the positions at which they differ."""
    right, wrong = _realise(meaning, target, clause), _realise(meaning, target, clause, fault=fault)
    forms = enumerate(zip(right, wrong, strict=True))
    return right, wrong, [at for at, (word, other) in forms if word.form != other.form]


def _wrong_number(meaning: Clause, clause: Clause, target: str) -> Iterator[WrongRealisation]:
    """Change the number of the verb of a clause with one predicate and a subject in the third person."""
    subject = clause.subject
    double = clause.joined is not None and clause.joined.subject is None
    if subject is None or subject.agreement[0] != 3 or double or clause.verb.frame == "existence":
        return
    if subject.word in (PRONOUNS["who"], PRONOUNS["what"], *((PRONOUNS["they"],) if target == "de" else ())):
        return
    right, words, different = _with_fault(meaning, target, clause, "number")
    if len(different) != 1:
        return
    verb = right[different[0]]
    top = verb.head if verb.deprel in ("aux", "aux:pass", "cop") else verb
    head = next(at for at, word in enumerate(right) if word.head is top and word.deprel.startswith("nsubj"))
    if right[head].lemma == "sie":
        return
    between = right[min(different[0], head) + 1 : max(different[0], head)]
    attracted = any(_attracts(word, right[head], verb) for word in between)
    yield _wrong(words, "number_attractor" if attracted else "number", abs(different[0] - head))


def _attracts(word: Word, subject: Word, verb: Word) -> bool:
    """Return whether a word is a noun of another number than a verb, and no conjunct of the subject."""
    conjunct = word.head is subject and word.deprel == "conj"
    return word.upos == "NOUN" and not conjunct and _number(word) not in ("", _number(verb))


def _number(word: Word) -> str:
    return next((part for part in word.feats.split("|") if part.startswith("Number=")), "")


def _wrong_position(meaning: Clause, clause: Clause, target: str, phenomenon: str) -> Iterator[WrongRealisation]:
    """Put the finite verb of a clause where the other language has it."""
    _, words, different = _with_fault(meaning, target, clause, "position")
    if different:
        yield _wrong(words, phenomenon, different[-1] - different[0])


def _wrong_attachments(meaning: Clause, clause: Clause) -> Iterator[WrongRealisation]:
    """Realise the other tree of a prepositional phrase after an object, if English has the same words for it."""
    source = [word.form for word in _realise(meaning, "en", clause)]
    for slots, phenomenon in _reattached(clause):
        if [word.form for word in _realise(meaning, "en", clause, slots=slots)] == source:
            yield _wrong(_realise(meaning, "de", clause, slots=slots), phenomenon, None)


def _reattached(clause: Clause) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the slots with a phrase of the verb as one of its object, or the other way round, and the phenomenon.

    The tool of a verb of seeing has a preposition of its own, `THROUGH`.
    """
    thing = clause.object
    if thing is None or not thing.is_noun or thing.clause is not None or clause.verb.frame == "existence":
        return
    genitives = tuple(phrase for phrase in thing.modifiers if not phrase.link.german)
    phrases = thing.modifiers[len(genitives) :]
    for slot in ("tool", "place"):
        phrase = clause.slots.get(slot)
        if isinstance(phrase, Prepositional) and slot != clause.front and not phrases:
            others = {name: value for name, value in clause.slots.items() if name != slot}
            link = WITH if phrase.link == THROUGH else phrase.link
            modified = replace(thing, modifiers=(*genitives, Prepositional(link, phrase.nominal)))
            yield others | {"object": modified}, "attachment_verb"
    if len(phrases) == 1:
        (phrase,) = phrases
        slot = "tool" if phrase.link == WITH or "place" in clause.slots else "place"
        link = THROUGH if phrase.link == WITH and "lens" in clause.verb.tools else phrase.link
        if slot not in clause.slots:
            bare = replace(thing, modifiers=genitives)
            yield clause.slots | {"object": bare, slot: Prepositional(link, phrase.nominal)}, "attachment_object"
