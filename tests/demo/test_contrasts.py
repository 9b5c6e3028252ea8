"""Contrastive pairs of the demo corpus: single sentences, and what every pair of a phenomenon has in common."""

from dataclasses import replace

import pytest
from demo.test_sentences import ANNA, BOOK, HE, IN, MAN, MEANINGS, READ, SHE, SLEEP, adverb, does, joined, phrase, the

from nmtcore.demo import generate, training_words
from nmtcore.demo.contrasts import PHENOMENA, generate_contrasts, wrong_translations
from nmtcore.demo.grammar import Nominal
from nmtcore.demo.lexicon import PRONOUNS

SENTENCES = 150


def wrong(meaning, target="de"):
    """Return the wrong translations of a sentence: (text, phenomenon, distance)."""
    return [(error.text, error.phenomenon, error.distance) for error in wrong_translations(meaning, target)]


def test_the_wrong_number_across_an_attractor():
    cabinets = phrase(IN, the("cabinet", number="pl"))
    key, desk = the("key", modifiers=(cabinets,)), (IN, the("desk"))
    lies = does("lie/liegen", key, argument=desk)
    assert wrong(lies) == [("Der Schlüssel in den Schränken liegen im Schreibtisch.", "number_attractor", 4)]
    assert wrong(lies, "en") == [("The key in the cabinets lie in the desk.", "number_attractor", 4)]
    keys = does("lie/liegen", replace(key, number="pl"), argument=desk)
    assert wrong(keys) == [("Die Schlüssel in den Schränken liegt im Schreibtisch.", "number", 4)]


def test_numbers_that_the_form_does_not_show_have_no_pair():
    assert wrong(does(SLEEP, SHE)) == []
    assert wrong(does(SLEEP, SHE), "en") == [("She sleep.", "number", 1)]
    assert wrong(does(SLEEP, HE, tense="past"), "en") == []
    assert wrong(does(SLEEP, HE, tense="past")) == [("Er schliefen.", "number", 1)]
    assert wrong(does(SLEEP, Nominal(word=PRONOUNS["we"]))) == []


def test_a_conjunct_is_no_attractor():
    assert wrong(does(SLEEP, joined(ANNA, the("man")))) == [("Anna und der Mann schläft.", "number", 4)]


def test_the_verb_of_a_relative_clause_can_have_the_wrong_number():
    reads = does(READ, ANNA, object=Nominal(word=BOOK.word, relative=True))
    likes = does("know/kennen", Nominal(word=PRONOUNS["I"]), object=the("book", clause=reads))
    assert wrong(likes, "en") == [("I know the book that Anna read.", "number", 1)]


def test_the_wrong_position_after_something_in_front():
    today = does(READ, MAN, object=BOOK, tense="perfect", front="time", time=adverb("today"))
    assert ("Heute der Mann hat das Buch gelesen.", "verb_main", 2) in wrong(today)
    assert ("Today has the man read the book.", "verb_main", 2) in wrong(today, "en")
    assert "verb_main" not in {name for _, name, _ in wrong(replace(today, front=""))}
    question = replace(today, front="", question=True)
    assert {name for _, name, _ in wrong(question)} == {"number"}


def test_the_wrong_position_in_a_subordinate_clause():
    inner = does(READ, MAN, object=BOOK, tense="perfect")
    says = does("say/sagen", ANNA, content=("that", inner))
    assert ("Anna sagt, dass der Mann hat das Buch gelesen.", "verb_subordinate", 3) in wrong(says)
    assert ("Anna says that the man read the book has.", "verb_subordinate", 3) in wrong(says, "en")
    short = does("say/sagen", ANNA, content=("that", does(SLEEP, HE)))
    assert "verb_subordinate" not in {name for target in ("de", "en") for _, name, _ in wrong(short, target)}
    first = does(SLEEP, HE, front="adverbial", adverbial=("because", inner))
    assert ("Weil der Mann hat das Buch gelesen, schläft er.", "verb_subordinate", 3) in wrong(first)
    assert ("Weil der Mann das Buch gelesen hat, er schläft.", "verb_main", 1) in wrong(first)


def test_the_wrong_attachment_is_the_translation_of_the_other_tree():
    by_verb, by_noun = MEANINGS["a tool of the verb"], MEANINGS["a tool of the noun"]
    assert wrong(by_verb) == [("Sie sieht den Mann mit dem Fernrohr.", "attachment_verb", None)]
    assert wrong(by_noun) == [("Sie sieht durch das Fernrohr den Mann.", "attachment_object", None)]
    assert "attachment_verb" not in {name for _, name, _ in wrong(by_verb, "en")}


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
