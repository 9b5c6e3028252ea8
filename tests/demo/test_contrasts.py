"""Contrastive pairs of the demo corpus: single sentences, and what every pair of a phenomenon has in common."""

from dataclasses import replace

import pytest
from demo.test_structures import (
    ANNA,
    HE,
    LIE,
    READ,
    SAY,
    SEE,
    SHE,
    SLEEP,
    adverb,
    clause,
    does,
    the,
)

from nmtcore.demo import generate, training_words
from nmtcore.demo.contrasts import PHENOMENA, generate_contrasts, wrong_translations
from nmtcore.demo.lexicon.modifiers import IN, THROUGH, WITH
from nmtcore.demo.meaning import Joined, Predicate, Prepositional, Pronoun, Sentence, Subordinate
from nmtcore.demo.trees import lay_out

SENTENCES = 150


def wrong(meaning, target="de"):
    """Return the wrong translations of a sentence with one clause: (text, phenomenon, distance)."""
    errors = wrong_translations(Sentence(clauses=(meaning,)), target)
    return [(lay_out(error.words, ccg=False).text, error.phenomenon, error.distance) for error in errors]


def test_the_wrong_number_across_an_attractor():
    cabinets = Prepositional(link=IN, nominal=the("cabinet", number="pl"))
    key, desk = the("key", modifiers=(cabinets,)), Prepositional(link=IN, nominal=the("desk"))
    lies = Predicate(verb=LIE, phrase=desk)
    assert wrong(clause(key, lies)) == [
        ("Der Schlüssel in den Schränken liegen im Schreibtisch.", "number_attractor", 4)
    ]
    assert wrong(clause(key, lies), "en") == [("The key in the cabinets lie in the desk.", "number_attractor", 4)]
    keys = replace(key, number="pl", modifiers=(replace(cabinets, nominal=the("cabinet", number="pl")),))
    assert wrong(clause(keys, lies)) == [("Die Schlüssel in den Schränken liegt im Schreibtisch.", "number", 4)]


def test_numbers_that_the_form_does_not_show_have_no_pair():
    assert wrong(clause(SHE, does(SLEEP))) == []
    assert wrong(clause(SHE, does(SLEEP)), "en") == [("She sleep.", "number", 1)]
    assert wrong(clause(HE, does(SLEEP, tense="past")), "en") == []
    assert wrong(clause(HE, does(SLEEP, tense="past"))) == [("Er schliefen.", "number", 1)]
    assert wrong(clause(Pronoun(person=1, number="pl"), does(SLEEP))) == []


def test_a_conjunct_is_no_attractor():
    both = Joined(first=ANNA, second=the("man"))
    assert wrong(clause(both, does(SLEEP))) == [("Anna und der Mann schläft.", "number", 4)]


def test_the_wrong_position_after_something_in_front():
    today = clause(the("man"), does(READ, the("book"), tense="perfect"), front=adverb("today"))
    assert ("Heute der Mann hat das Buch gelesen.", "verb_main", 2) in wrong(today)
    assert ("Today has the man read the book.", "verb_main", 2) in wrong(today, "en")
    assert "verb_main" not in {name for _, name, _ in wrong(replace(today, front=None))}
    question = wrong_translations(Sentence(clauses=(replace(today, front=None),), question=True), "de")
    assert {error.phenomenon for error in question} == {"number"}


def test_the_wrong_position_in_a_subordinate_clause():
    inner = clause(the("man"), does(READ, the("book"), tense="perfect"))
    says = clause(ANNA, does(SAY, content=inner, marker="that"))
    assert ("Anna sagt, dass der Mann hat das Buch gelesen.", "verb_subordinate", 3) in wrong(says)
    assert ("Anna says that the man read the book has.", "verb_subordinate", 3) in wrong(says, "en")
    short = clause(ANNA, does(SAY, content=clause(HE, does(SLEEP)), marker="that"))
    assert "verb_subordinate" not in {name for target in ("de", "en") for _, name, _ in wrong(short, target)}
    first = clause(HE, does(SLEEP), front=Subordinate(marker="because", clause=inner))
    assert ("Weil der Mann hat das Buch gelesen, schläft er.", "verb_subordinate", 3) in wrong(first)
    assert ("Weil der Mann das Buch gelesen hat, er schläft.", "verb_main", 1) in wrong(first)


def test_the_wrong_attachment_is_the_translation_of_the_other_tree():
    telescope, texts = (
        the("telescope"),
        ("Sie sieht durch das Fernrohr den Mann.", "Sie sieht den Mann mit dem Fernrohr."),
    )
    by_verb = does(SEE, the("man"), adjuncts=(Prepositional(link=THROUGH, nominal=telescope, slot="tool"),))
    by_noun = does(SEE, the("man", modifiers=(Prepositional(link=WITH, nominal=telescope),)))
    assert wrong(clause(SHE, by_verb)) == [(texts[1], "attachment_verb", None)]
    assert wrong(clause(SHE, by_noun)) == [(texts[0], "attachment_object", None)]
    assert "attachment_verb" not in {name for _, name, _ in wrong(clause(SHE, by_verb), "en")}


@pytest.fixture(scope="module", params=["de", "en"])
def generated(request):
    return request.param, list(generate_contrasts(split="test", count=SENTENCES, target=request.param))


def test_pairs_are_those_of_the_corpus(generated):
    target, entries = generated
    assert [entry.pair for entry in entries] == list(generate(split="test", count=SENTENCES))
    assert [entry.wrong for entry in generate_contrasts(split="test", count=20, target=target)] == [
        entry.wrong for entry in entries[:20]
    ]
    found_phenomena = {wrong.phenomenon for entry in entries for wrong in entry.wrong}
    assert found_phenomena == {name for name in PHENOMENA if target == "de" or not name.startswith("attachment")}


def test_wrong_translations_differ_in_their_phenomenon_alone(generated):
    target, entries = generated
    known = training_words(1)[target == "de"]
    for entry in entries:
        right = (entry.pair.target if target == "de" else entry.pair.source).words
        for error in entry.wrong:
            assert error.words != right
            assert known.issuperset(error.words)
            if error.phenomenon.startswith("number"):
                assert sum(a != b for a, b in zip(right, error.words, strict=True)) == 1
            if error.phenomenon.startswith("verb"):
                assert error.distance in moves(right, error.words)


def moves(right, words):
    """Return the distances by which a single word of `right` can move so that `words` result."""
    places = range(len(right))
    return {
        abs(new - old)
        for old in places
        for new in places
        if [*(rest := [*right[:old], *right[old + 1 :]])[:new], right[old], *rest[new:]] == words
    }
