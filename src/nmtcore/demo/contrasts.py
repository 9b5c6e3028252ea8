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

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from nmtcore.demo import Pair, generate_with_meanings, training_words
from nmtcore.demo.english.clauses import English
from nmtcore.demo.german.clauses import German
from nmtcore.demo.lexicon.modifiers import THROUGH, WITH
from nmtcore.demo.meaning import (
    Clause,
    Interrogative,
    NounPhrase,
    Predicate,
    Prepositional,
    Sentence,
    agreement,
    nodes,
    substitute,
)
from nmtcore.demo.trees import Word, lay_out, without_double_marks

PHENOMENA = ("number", "number_attractor", "verb_main", "verb_subordinate", "attachment_verb", "attachment_object")
"""All phenomena."""

LANGUAGES = {"de": German, "en": English}
"""What realises a sentence in each language."""


class WrongWords(NamedTuple):
    """A wrong translation, as its words with their analysis."""

    words: list[Word]
    phenomenon: str
    distance: int | None
    """Words from the subject's head to the verb, or by which the verb has moved; None: neither."""


class WrongRealisation(NamedTuple):
    """A wrong translation."""

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
        right = pair.target if target == "de" else pair.source
        wrong: dict[str, WrongRealisation] = {}
        for error in wrong_translations(meaning, target):
            realisation = lay_out(error.words, ccg=False)
            if realisation.text != right.text and known.issuperset(realisation.words):
                shown = WrongRealisation(realisation.text, realisation.words, error.phenomenon, error.distance)
                wrong.setdefault(realisation.text, shown)
        yield DemoContrasts(pair, list(wrong.values()))


def wrong_translations(meaning: Sentence, target: str) -> Iterator[WrongWords]:
    """Yield the wrong realisations of a sentence in a language, de or en; some may equal the right one."""
    yield from _wrong_numbers(meaning, target)
    yield from _wrong_positions(meaning, target)
    if target == "de":
        yield from _wrong_attachments(meaning)


def _realise(meaning: Sentence, language: str, *, disagreeing: Clause | None = None) -> list[Word]:
    return without_double_marks(LANGUAGES[language](disagreeing=disagreeing).sentence(meaning))


def _wrong_numbers(meaning: Sentence, language: str) -> Iterator[WrongWords]:
    """Change the number of the verb of each clause with one predicate and a subject in the third person."""
    clauses = (node for node in nodes(meaning) if isinstance(node, Clause) and len(node.predicates) == 1)
    for clause in clauses:
        if agreement(clause.subject)[0] != 3 or isinstance(clause.subject, Interrogative):
            continue
        words, right = _realise(meaning, language, disagreeing=clause), _realise(meaning, language)
        different = [n for n, pair in enumerate(zip(right, words, strict=True)) if pair[0].form != pair[1].form]
        subject = _subject(right, right[different[0]]) if len(different) == 1 else None
        if subject is not None and subject.lemma != "sie":
            verb, head = different[0], _position(right, subject)
            between = right[min(verb, head) + 1 : max(verb, head)]
            attracted = any(_attracts(word, subject, right[verb]) for word in between)
            yield WrongWords(words, "number_attractor" if attracted else "number", abs(verb - head))


def _attracts(word: Word, subject: Word, verb: Word) -> bool:
    """Return whether a word is a noun of another number than a verb, and no conjunct of the subject."""
    conjunct = word.head is subject and word.deprel == "conj"
    return word.upos == "NOUN" and not conjunct and _number(word) not in ("", _number(verb))


def _wrong_positions(meaning: Sentence, language: str) -> Iterator[WrongWords]:
    """Put the finite verb of a main clause, and of each clause after a conjunction, where the other language has it."""
    words = _realise(meaning, language)
    marked = [word.head for word in words if word.deprel == "mark" and word.upos == "SCONJ" and word.head is not None]
    heads = [(word, "verb_main") for word in words if word.head is None and not meaning.question]
    for head, phenomenon in [*heads, *((head, "verb_subordinate") for head in marked)]:
        verb = _finite_verb(words, head)
        subject = verb and _subject(words, verb)
        if verb is None or subject is None:
            continue
        place = _PLACES[language, phenomenon](words, head, subject, verb)
        old = _position(words, verb)
        if place is not None and place not in (old, old + 1):
            others = [*words[:old], *words[old + 1 :]]
            new = place - (place > old)
            yield WrongWords([*others[:new], verb, *others[new:]], phenomenon, abs(new - old))


def _after_subject_in_main_clause(words: list[Word], head: Word, subject: Word, verb: Word) -> int | None:
    """Return the place after the subject if the verb precedes it, as in German with something in front."""
    span = _span(words, subject)
    return span[1] if 0 < _position(words, verb) < span[0] else None


def _before_subject(words: list[Word], head: Word, subject: Word, verb: Word) -> int | None:
    """Return the place before the subject if something is in front of it."""
    first = _span(words, subject)[0]
    return first if 0 < first < _position(words, verb) else None


def _after_subject(words: list[Word], head: Word, subject: Word, verb: Word) -> int | None:
    last = _span(words, subject)[1]
    return last if last < _position(words, verb) else None


def _at_the_end(words: list[Word], head: Word, subject: Word, verb: Word) -> int | None:
    """Return the place after the last word of the clause; None if it has several predicates."""
    if any(word.head is head and word.deprel == "conj" for word in words):
        return None
    end = _span(words, head)[1]
    while words[end - 1].upos == "PUNCT":
        end -= 1
    return end


_PLACES: dict[tuple[str, str], Callable[[list[Word], Word, Word, Word], int | None]] = {
    ("de", "verb_main"): _after_subject_in_main_clause,
    ("de", "verb_subordinate"): _after_subject,
    ("en", "verb_main"): _before_subject,
    ("en", "verb_subordinate"): _at_the_end,
}
"""By language and phenomenon, the wrong place of a verb among the words; None if there is none."""


def _wrong_attachments(meaning: Sentence) -> Iterator[WrongWords]:
    """Realise the other tree of each prepositional phrase after an object, if English has the same words for it."""
    text = lay_out(_realise(meaning, "en"), ccg=False).text
    for predicate in (node for node in nodes(meaning) if isinstance(node, Predicate)):
        for other, phenomenon in _reattached(predicate):
            changed = substitute(meaning, predicate, other)
            if lay_out(_realise(changed, "en"), ccg=False).text == text:
                yield WrongWords(_realise(changed, "de"), phenomenon, None)


def _reattached(predicate: Predicate) -> Iterator[tuple[Predicate, str]]:
    """Yield the predicate with a phrase of the verb as one of its object, or the other way round, and the phenomenon.

    The tool of a verb of seeing has a preposition of its own, `THROUGH`.
    """
    thing = predicate.object
    if not isinstance(thing, NounPhrase) or thing.clause is not None:
        return
    for adjunct in predicate.adjuncts:
        if isinstance(adjunct, Prepositional) and adjunct.slot in ("tool", "place") and not thing.modifiers:
            link = WITH if adjunct.link is THROUGH else adjunct.link
            modified = replace(thing, modifiers=(replace(adjunct, link=link, slot="place"),))
            others = tuple(part for part in predicate.adjuncts if part is not adjunct)
            yield replace(predicate, object=modified, adjuncts=others), "attachment_verb"
    if len(thing.modifiers) == 1:
        modifier = thing.modifiers[0]
        sees = predicate.verb is not None and "lens" in predicate.verb.tools
        slot, link = "place", modifier.link
        if link is WITH:
            slot, link = "tool", THROUGH if sees else WITH
        adjunct = replace(modifier, link=link, slot=slot)
        bare = replace(thing, modifiers=())
        yield replace(predicate, object=bare, adjuncts=(adjunct, *predicate.adjuncts)), "attachment_object"


def _position(words: list[Word], word: Word) -> int:
    """Return the position of this very word; words have no equality."""
    return next(n for n, other in enumerate(words) if other is word)


def _span(words: list[Word], head: Word) -> tuple[int, int]:
    """Return the positions of the first word of a phrase and after its last one."""
    inside = [n for n, word in enumerate(words) if _is_below(word, head)]
    return inside[0], inside[-1] + 1


def _is_below(word: Word | None, head: Word) -> bool:
    while word is not None and word is not head:
        word = word.head
    return word is head


def _finite_verb(words: list[Word], head: Word) -> Word | None:
    """Return the finite verb of the clause with this head: the head itself, an auxiliary or a copula."""
    own = (word for word in words if word is head or (word.head is head and word.deprel in ("aux", "aux:pass", "cop")))
    return next((word for word in own if "VerbForm=Fin" in word.feats), None)


def _subject(words: list[Word], verb: Word) -> Word | None:
    """Return the head of a finite verb's subject."""
    head = verb.head if verb.deprel in ("aux", "aux:pass", "cop") else verb
    return next((word for word in words if word.head is head and word.deprel.startswith("nsubj")), None)


def _number(word: Word) -> str:
    return next((part for part in word.feats.split("|") if part.startswith("Number=")), "")
