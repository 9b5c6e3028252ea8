"""Single constructions of the demo corpus: the same English words with different trees and German translations."""

from dataclasses import replace

import pytest
from ccg_oracle import derives

from nmtcore.demo.english.clauses import English
from nmtcore.demo.german.clauses import German
from nmtcore.demo.lexicon.entries import Verb
from nmtcore.demo.lexicon.modifiers import ADJECTIVES, ADVERBS, IN, PEOPLE, THROUGH, WITH
from nmtcore.demo.lexicon.nouns import of_class
from nmtcore.demo.lexicon.verbs import FRAMES
from nmtcore.demo.meaning import (
    Clause,
    Existence,
    Graded,
    Interrogative,
    Named,
    Nominal,
    NounPhrase,
    Predicate,
    Prepositional,
    Pronoun,
    Purpose,
    Relative,
    Sentence,
    Subordinate,
)
from nmtcore.demo.trees import Realisation, lay_out


def verb(english: str, german: str, *, frame: str) -> Verb:
    return next(entry for entry in FRAMES[frame] if (entry.english.base, entry.german.lemma) == (english, german))


HE = Pronoun(person=3, number="sg", gender="m")
SHE = Pronoun(person=3, number="sg", gender="f")
ANNA = Named(name=PEOPLE[0])
READ = verb("read", "lesen", frame="transitive")
SEE = verb("see", "sehen", frame="transitive")
WATCH = verb("watch", "beobachten", frame="transitive")
CALL = verb("call", "anrufen", frame="transitive")
SLEEP = verb("sleep", "schlafen", frame="intransitive")
LIE = verb("lie", "liegen", frame="located")
SAY = verb("say", "sagen", frame="that")


def the(noun: str, **more) -> NounPhrase:
    return NounPhrase(noun=of_class(noun)[0], **more)


def adverb(english: str):
    return next(entry for entry in ADVERBS if entry.english == english)


def adjective(english: str) -> Graded:
    return Graded(adjective=next(entry for entry in ADJECTIVES if entry.english == english))


def clause(subject: Nominal, predicate: Predicate, **more) -> Clause:
    return Clause(subject=subject, predicates=(predicate,), **more)


def does(entry, direct_object: Nominal | None = None, **more) -> Predicate:
    return Predicate(verb=entry, object=direct_object, **more)


def both(sentence: Sentence | Clause) -> tuple[Realisation, Realisation]:
    if isinstance(sentence, Clause):
        sentence = Sentence(clauses=(sentence,))
    english = lay_out(English().sentence(sentence), ccg=True)
    assert derives(list(english.annotation.ccg)), english
    return english, lay_out(German().sentence(sentence), ccg=False)


def texts(sentence: Sentence | Clause) -> tuple[str, str]:
    english, german = both(sentence)
    return english.text, german.text


def governor(side: Realisation, word: str) -> str:
    head = side.annotation.head[side.words.index(word)]
    return side.words[head - 1] if head else ""


def test_a_telescope_belongs_to_the_verb_or_to_the_noun():
    telescope = the("telescope")
    by_verb = does(SEE, the("man"), adjuncts=(Prepositional(link=THROUGH, nominal=telescope, slot="tool"),))
    by_noun = does(SEE, the("man", modifiers=(Prepositional(link=WITH, nominal=telescope),)))
    english, german = both(clause(SHE, by_verb))
    english_noun, german_noun = both(clause(SHE, by_noun))
    assert english.text == english_noun.text == "She sees the man with the telescope."
    assert german.text == "Sie sieht durch das Fernrohr den Mann."
    assert german_noun.text == "Sie sieht den Mann mit dem Fernrohr."
    assert (governor(english, "telescope"), governor(english_noun, "telescope")) == ("sees", "man")
    assert english.annotation.ccg[4] == "((S\\NP)\\(S\\NP))/NP"
    assert english_noun.annotation.ccg[4] == "(NP\\NP)/NP"


def test_a_place_belongs_to_the_verb_or_to_the_noun():
    garden = Prepositional(link=IN, nominal=the("garden"))
    assert texts(clause(SHE, does(WATCH, the("dog"), adjuncts=(garden,))))[1] == "Sie beobachtet im Garten den Hund."
    assert texts(clause(SHE, does(WATCH, the("dog", modifiers=(garden,)))))[1] == "Sie beobachtet den Hund im Garten."


def test_the_verb_agrees_across_an_attractor():
    cabinets = the("cabinet", number="pl")
    key = the("key", modifiers=(Prepositional(link=IN, nominal=cabinets),))
    desk = Prepositional(link=replace(IN, english="on", german="auf"), nominal=the("desk"))
    assert texts(clause(key, Predicate(verb=LIE, phrase=desk))) == (
        "The key in the cabinets lies on the desk.",
        "Der Schlüssel in den Schränken liegt auf dem Schreibtisch.",
    )
    keys = replace(key, number="pl", modifiers=(Prepositional(link=IN, nominal=the("cabinet")),))
    assert texts(clause(keys, Predicate(verb=LIE, phrase=desk)))[1].startswith("Die Schlüssel im Schrank liegen")


@pytest.mark.parametrize(("high", "pronoun"), [(True, "die"), (False, "der")])
def test_a_relative_clause_belongs_to_either_noun(high, pronoun):
    daughter, teacher = the("daughter"), the("teacher")
    noun = (daughter if high else teacher).noun
    sleeps = clause(Relative(noun=noun, number="sg"), does(SLEEP))
    if high:
        whole = replace(daughter, genitive=teacher, clause=sleeps)
    else:
        whole = replace(daughter, genitive=replace(teacher, clause=sleeps))
    english, german = both(clause(HE, does(SEE, whole)))
    assert english.text == "He sees the daughter of the teacher who sleeps."
    assert german.text == f"Er sieht die Tochter des Lehrers, {pronoun} schläft."


def test_an_adverb_belongs_to_either_clause():
    yesterday = adverb("yesterday")
    inner = clause(SHE, does(SLEEP, tense="past"))
    high = clause(HE, does(SAY, tense="past", content=inner, marker="that", adjuncts=(yesterday,)))
    low = clause(
        HE,
        does(SAY, tense="past", marker="that", content=clause(SHE, does(SLEEP, tense="past", adjuncts=(yesterday,)))),
    )
    assert texts(high) == ("He said that she slept yesterday.", "Er sagte gestern, dass sie schlief.")
    assert texts(low) == ("He said that she slept yesterday.", "Er sagte, dass sie gestern schlief.")


@pytest.mark.parametrize(
    ("noun", "german"), [("suitcase", "er"), ("lamp", "sie"), ("book", "es"), ("vase", "sie"), ("ring", "er")]
)
def test_it_takes_the_gender_of_the_german_noun(noun, german):
    it = Pronoun(person=3, number="sg", gender="n", german=of_class(noun)[0].gender)
    old = Subordinate(marker="because", clause=clause(it, Predicate(verb=None, complement=adjective("old"))))
    english, translation = texts(clause(ANNA, does(SEE, the(noun), adjuncts=(old,))))
    assert english == f"Anna sees the {noun} because it is old."
    assert translation.endswith(f", weil {german} alt ist.")


def test_separable_verbs():
    woman = the("woman")
    assert texts(clause(HE, does(CALL, woman)))[1] == "Er ruft die Frau an."
    assert texts(clause(HE, does(CALL, woman, tense="perfect")))[1] == "Er hat die Frau angerufen."
    assert texts(clause(HE, does(CALL, woman, modal="must")))[1] == "Er muss die Frau anrufen."
    said = does(SAY, content=clause(HE, does(CALL, woman)), marker="that")
    assert texts(clause(SHE, said))[1] == "Sie sagt, dass er die Frau anruft."
    tries = does(verb("try", "versuchen", frame="subject_control"), content=does(CALL, woman))
    assert texts(clause(HE, tries)) == ("He tries to call the woman.", "Er versucht, die Frau anzurufen.")


def test_all_verbs_are_at_the_end_of_a_subordinate_clause():
    book = the("book")

    def after_dass(**more) -> str:
        said = does(SAY, content=clause(HE, does(READ, book, **more)), marker="that")
        return texts(clause(SHE, said))[1].removeprefix("Sie sagt, dass ")

    assert after_dass(tense="perfect") == "er das Buch gelesen hat."
    assert after_dass(modal="can") == "er das Buch lesen kann."
    assert after_dass(attitude="want") == "er das Buch lesen will."
    assert after_dass(attitude="like") == "er das Buch gern liest."
    assert after_dass(negated=True) == "er das Buch nicht liest."
    assert after_dass(progressive=True) == "er gerade das Buch liest."
    read = clause(book, Predicate(verb=READ, passive=True, tense="perfect"))
    said = does(SAY, content=read, marker="that")
    assert texts(clause(SHE, said)) == (
        "She says that the book has been read.",
        "Sie sagt, dass das Buch gelesen worden ist.",
    )


def test_negation_is_kein_nicht_or_darf_nicht():
    a_book = the("book", determiner="a")
    assert texts(clause(HE, does(READ, a_book, negated=True)))[1] == "Er liest kein Buch."
    assert texts(clause(HE, does(READ, the("book"), negated=True)))[1] == "Er liest das Buch nicht."
    assert texts(clause(HE, does(READ, the("book"), negated=True, modal="must"))) == (
        "He must not read the book.",
        "Er darf das Buch nicht lesen.",
    )


def test_when_is_als_in_the_past_and_wenn_in_the_present():
    for tense, conjunction in (("past", "Als Anna schlief"), ("present", "Wenn Anna schläft")):
        when = Subordinate(marker="when", clause=clause(ANNA, does(SLEEP, tense=tense)))
        assert texts(clause(HE, does(READ, the("book"), tense=tense), front=when))[1].startswith(conjunction + ", l")


def test_before_is_a_conjunction_or_a_preposition():
    before = Subordinate(marker="before", clause=clause(SHE, does(SLEEP)))
    assert texts(clause(HE, does(SLEEP, adjuncts=(before,))))[1] == "Er schläft, bevor sie schläft."
    concert = Prepositional(link=replace(IN, english="before", german="vor"), nominal=the("concert"), slot="time")
    assert texts(clause(HE, does(SLEEP, adjuncts=(concert,))))[1] == "Er schläft vor dem Konzert."


def test_questions_distinguish_who_from_whom():
    who = Interrogative(person=True)
    for sentence, expected in (
        (clause(who, does(SEE, ANNA)), ("Who sees Anna?", "Wer sieht Anna?")),
        (clause(ANNA, does(SEE, who)), ("Who does Anna see?", "Wen sieht Anna?")),
        (clause(the("man"), does(SEE, HE)), ("Does the man see him?", "Sieht ihn der Mann?")),
    ):
        assert texts(Sentence(clauses=(sentence,), question=True)) == expected


def test_a_relative_clause_is_extraposed_after_the_final_verb():
    book = the("book")
    relative = Relative(noun=book.noun, number="sg")
    bought = replace(book, clause=clause(ANNA, does(verb("buy", "kaufen", frame="transitive"), relative, tense="past")))
    english, german = both(clause(HE, does(READ, bought, tense="perfect")))
    assert english.text == "He has read the book that Anna bought."
    assert german.text == "Er hat das Buch gelesen, das Anna kaufte."
    assert (governor(german, "kaufte"), governor(german, "Buch")) == ("Buch", "gelesen")
    assert texts(clause(HE, does(READ, bought)))[1] == "Er liest das Buch, das Anna kaufte."


def test_raising_control_and_purpose_clauses_have_zu():
    seem = verb("seem", "scheinen", frame="raising")
    reads = does(READ, the("book"))
    assert texts(clause(HE, does(seem, content=reads)))[1] == "Er scheint das Buch zu lesen."
    said = does(SAY, content=clause(HE, does(seem, content=reads)), marker="that")
    assert texts(clause(SHE, said))[1] == "Sie sagt, dass er das Buch zu lesen scheint."
    ask = verb("ask", "bitten", frame="object_control")
    order = verb("order", "befehlen", frame="object_control")
    assert texts(clause(SHE, does(ask, HE, content=reads)))[1] == "Sie bittet ihn, das Buch zu lesen."
    assert texts(clause(SHE, does(order, HE, content=reads)))[1] == "Sie befiehlt ihm, das Buch zu lesen."
    purpose = Purpose(negative=False, predicate=reads)
    assert texts(clause(SHE, does(SLEEP, adjuncts=(purpose,))))[1] == "Sie schläft, um das Buch zu lesen."
    without = Purpose(negative=True, predicate=does(CALL, HE))
    assert texts(clause(SHE, does(SLEEP, adjuncts=(without,)))) == (
        "She sleeps without calling him.",
        "Sie schläft, ohne ihn anzurufen.",
    )


def test_in_dem_is_not_contracted_before_a_noun_with_a_relative_clause():
    house = the("house")
    old = clause(Relative(noun=house.noun, number="sg"), Predicate(verb=None, complement=adjective("old")))
    for phrase, expected in (
        (house, "Er schläft im Haus."),
        (replace(house, clause=old), "Er schläft in dem Haus, das alt ist."),
    ):
        place = Prepositional(link=IN, nominal=phrase)
        assert texts(clause(HE, does(SLEEP, adjuncts=(place,))))[1] == expected


def test_existential_clauses():
    place = Prepositional(link=IN, nominal=the("garden"))
    dog = the("dog", determiner="a", adjectives=(adjective("old"),))
    assert texts(Sentence(clauses=(Existence(nominal=dog, place=place),))) == (
        "There is an old dog in the garden.",
        "Im Garten gibt es einen alten Hund.",
    )


def test_coordinated_predicates_each_end_in_their_verb_in_a_subordinate_clause():
    two = Clause(subject=ANNA, predicates=(does(READ, the("book")), does(CALL, HE)))
    assert texts(two)[1] == "Anna liest das Buch und ruft ihn an."
    said = does(SAY, content=two, marker="that")
    assert texts(clause(HE, said))[1] == "Er sagt, dass Anna das Buch liest und ihn anruft."


def test_a_relative_clause_is_extraposed_from_a_prepositional_phrase_but_not_across_another():
    woman = the("woman")
    sleeps = clause(Relative(noun=woman.noun, number="sg"), does(SLEEP))
    look_after = verb("look", "kümmern", frame="prepositional")
    about = Prepositional(link=look_after.link, nominal=replace(woman, clause=sleeps), slot="argument")
    waiting = Predicate(verb=look_after, phrase=about, tense="perfect")
    assert texts(clause(HE, waiting))[1] == "Er hat sich um die Frau gekümmert, die schläft."
    put = verb("put", "legen", frame="placed")
    book = the(
        "book",
        clause=clause(
            Relative(noun=of_class("book")[0], number="sg"), Predicate(verb=None, complement=adjective("old"))
        ),
    )
    onto = Prepositional(link=replace(IN, english="on", german="auf", case="acc"), nominal=the("bed"), slot="argument")
    laid = Predicate(verb=put, object=book, phrase=onto, tense="perfect")
    assert texts(clause(HE, laid))[1] == "Er hat das Buch, das alt ist, auf das Bett gelegt."
