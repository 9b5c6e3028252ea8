"""A sentence for each construction: its words and heads in both languages are those of a table.

`sentences.txt` has the name of a sentence and, below it, the words with the position of their heads (0: the root).
"""

from dataclasses import fields, replace
from pathlib import Path

import pytest
from ccg_oracle import derives

from nmtcore.demo import english, german
from nmtcore.demo.grammar import Clause, Embedded, Graded, Nominal, Prepositional
from nmtcore.demo.lexicon import ADJECTIVES, FRAMES, NUMBERS, PEOPLE, PRONOUNS, TOWNS, Link, adverbs, of_class
from nmtcore.demo.trees import lay_out
from nmtcore.syntax.annotation import annotation_fault

TABLE = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").split("\n\n")

ME, YOU, HE, SHE, THEY, WHO, WHAT, THERE = (
    Nominal(word=PRONOUNS[form]) for form in ("I", "you", "he", "she", "they", "who", "what", "there")
)
ANNA, PETER, VIENNA = (Nominal(word=name) for name in (*PEOPLE[:2], TOWNS[1]))
BY, WITH, THROUGH, IN, ON, ONTO, BEFORE, TO_TOWN, OF = (
    Link(*text.split("/"))
    for text in (
        "by/von/dat", "with/mit/dat", "with/durch/acc", "in/in/dat", "on/auf/dat", "on/auf/acc", "before/vor/dat",
        "to/nach/dat", "of//gen",
    )
)  # fmt: skip


phrase = Prepositional


def it(noun):
    return Nominal(word=PRONOUNS["it"], antecedent=of_class(noun)[0].gender)


def the(noun, *, adjectives=(), **more):
    return Nominal(word=of_class(noun)[0], adjectives=tuple(graded(*text.split()) for text in adjectives), **more)


def a(noun, **more):
    return the(noun, determiner="a", **more)


def that(noun):
    """Return the relative pronoun of a noun."""
    return Nominal(word=of_class(noun)[0], relative=True)


def joined(first, second, **changes):
    """Return two nominals, clauses or predicates after a conjunction."""
    return replace(first, joined=second, **changes)


def adverb(english_form):
    slots = ("time", "often", "manner", "together", "sentence", "degree", "asked")
    return next(entry for slot in slots for entry in adverbs(slot) if entry.english == english_form)


def graded(*words):
    adjective = next(entry for entry in ADJECTIVES if entry.english == words[-1])
    return Graded(adjective, adverb(words[0]) if words[1:] else None)


def more(adjective, than):
    return Graded(graded(adjective).adjective, than=than)


def does(verb, subject=None, **options):
    """Return a clause; `verb` is English/German or English/German/frame, options are fields of the clause or slots."""
    base, lemma, *frame = verb.split("/")
    verbs = (entry for name, entries in FRAMES.items() if name in (frame or FRAMES) for entry in entries)
    entry = next(entry for entry in verbs if (entry.english.base, entry.german.lemma) == (base, lemma))
    names = {field.name for field in fields(Clause)} & options.keys()
    slots = {slot: filler(entry, value) for slot, value in options.items() if slot not in names}
    return Clause(verb=entry, subject=subject, slots=slots, **{name: options[name] for name in names})


def filler(verb, value):
    """Return what fills a slot: a link and a nominal, a marker and a clause, or an argument after the verb's link."""
    if isinstance(value, tuple):
        return (Prepositional if isinstance(value[0], Link) else Embedded)(*value)
    return Prepositional(verb.link, value) if verb.frame == "prepositional" and isinstance(value, Nominal) else value


def question(clause):
    return replace(clause, question=True)


def both(meaning):
    return lay_out(english.sentence(meaning), english=True), lay_out(german.sentence(meaning), english=False)


READ, SEE, CALL, SLEEP = "read/lesen", "see/sehen", "call/anrufen", "sleep/schlafen"
MAN, BOOK, WOMAN, GARDEN = the("man"), the("book"), the("woman"), phrase(IN, the("garden"))
TELESCOPE, CONCERT = the("telescope"), the("concert")
READS = does(READ, object=BOOK)
WOMAN_WHO_SLEEPS = the("woman", clause=does(SLEEP, that("woman")))
OLD_BOOK = the("book", clause=does("be/sein", that("book"), complement=graded("old")))

MEANINGS = {
    "a tool of the verb": does(SEE, SHE, object=MAN, tool=phrase(THROUGH, TELESCOPE)),
    "a tool of the noun": does(SEE, SHE, object=the("man", modifiers=(phrase(WITH, TELESCOPE),))),
    "agreement across an attractor": does(
        "lie/liegen",
        the("key", modifiers=(phrase(IN, the("cabinet", number="pl")),)),
        argument=(ON, the("desk")),
    ),
    "a relative clause of the first noun": does(
        SEE, HE, object=the("daughter", modifiers=(phrase(OF, the("teacher")),), clause=does(SLEEP, that("daughter")))
    ),
    "a relative clause of the second noun": does(
        SEE, HE, object=the("daughter", modifiers=(phrase(OF, the("teacher", clause=does(SLEEP, that("teacher")))),))
    ),
    "a feminine antecedent": does(
        "repair/reparieren", ANNA, tense="past", object=the("lamp"),
        adverbial=("although", does("be/sein", it("lamp"), tense="past", complement=graded("very", "expensive"))),
    ),
    "a separable verb": does(CALL, HE, object=WOMAN),
    "a separable participle": does(CALL, HE, object=WOMAN, tense="perfect", often=adverb("often")),
    "a separable infinitive": does(CALL, ME, object=THEY, modal="should"),
    "zu within a verb": does("try/versuchen", HE, content=("to", does(CALL, object=WOMAN))),
    "a passive with an agent": does(
        "hide/verstecken/transitive", the("key", number="pl"), passive=True, tense="past", negated=True,
        agent=phrase(BY, the("thief")),
    ),
    "want": does(READ, HE, object=the("book", number="pl", determiner="some"), modal="want"),
    "progressive": does(READ, ANNA, object=BOOK, progressive=True),
    "kein": does(READ, HE, object=a("book"), negated=True),
    "nicht": does(READ, HE, object=BOOK, negated=True, time=adverb("today")),
    "darf nicht": does(READ, YOU, object=BOOK, negated=True, modal="must"),
    "als in front": does(READ, HE, tense="past", object=BOOK, front="adverbial",
                         adverbial=("when", does(SLEEP, ANNA, tense="past"))),
    "nachdem with a pluperfect": does(
        "disappear/verschwinden", the("thief"), tense="past",
        adverbial=("after", does("steal/stehlen", HE, tense="pluperfect",
                                 object=the("ring", number="pl", count=NUMBERS[1]))),
    ),
    "before with a noun": does(SLEEP, HE, time=phrase(BEFORE, CONCERT)),
    "whom": question(does(SEE, ANNA, object=WHO)),
    "what in the perfect": question(does("find/finden", the("boy"), object=WHAT, tense="perfect")),
    "which with an indirect question": does(
        "wonder/fragen", PETER, content=("", does("marry/heiraten", SHE, object=the("man", determiner="which"),
                                                  tense="future")),
    ),
    "a question with a pronoun before the noun": question(does(SEE, MAN, object=HE)),
    "whether": does("ask/fragen", THEY, tense="past",
                    content=("whether", does("open/öffnen/transitive", ANNA, object=the("door"), modal="can"))),
    "an extraposed relative clause": does(
        READ, HE, tense="perfect",
        object=the("book", clause=does("buy/kaufen", ANNA, object=that("book"), tense="past")),
    ),
    "a relative clause that is not extraposed": does(
        "put/legen", HE, tense="perfect", object=OLD_BOOK, argument=(ONTO, the("bed"))
    ),
    "extraposed from a prepositional phrase": does(
        "look/kümmern", HE, tense="perfect", argument=WOMAN_WHO_SLEEPS
    ),
    "raising": does("seem/scheinen", HE, content=("to", READS)),
    "control by a dative": does("order/befehlen", SHE, object=HE, content=("to", READS)),
    "stop with -ing": does("stop/aufhören", the("painter"), tense="past", content=("to", READS)),
    "in order to": does("work/arbeiten", SHE, purpose=("in order", does("buy/kaufen", object=the("house")))),
    "in dem before a relative clause": does(
        "wait/warten", THEY, argument=the("doctor"),
        place=phrase(IN, the("house", clause=does("be/sein", that("house"), complement=graded("old")))),
    ),
    "existence": does("be/geben", THERE, object=a("dog", adjectives=("old",)), place=GARDEN),
    "predicates that each end in their verb": does(
        "believe/glauben/that", HE,
        content=("that", does(READ, ANNA, object=BOOK, joined=does(CALL, object=HE))),
    ),
    "two clauses with but": joined(
        does(SLEEP, HE), does("sing/singen", THEY, together=adverb("together")), conjunction="but"
    ),
    "comparatives": joined(does("be/sein", ANNA, complement=more("careful", PETER)),
                           does("be/sein", the("mouse"), complement=more("small", the("cat", determiner="this")))),
    "whose": does("know/kennen", ME, object=the("man", clause=does("bite/beißen", the("dog", owner=that("man")),
                                                                  object=ANNA, tense="past"))),
    "in which": does("burn/brennen", the("house", clause=does(
        "dance/tanzen", THEY, tense="past", front="place", place=phrase(IN, that("house")))), tense="past"),
    "a name as owner and two nouns": does("miss/verpassen", joined(ANNA, the("guest")), tense="future",
                                          object=the("wedding", owner=PETER), front="sentence",
                                          sentence=adverb("unfortunately")),
    "numerals and adjectives": does("watch/beobachten", the("fox", number="pl", determiner="", count=NUMBERS[0],
                                                             adjectives=("clever", "red")),
                                    object=the("goose", number="pl", determiner="all"), manner=adverb("quietly")),
    "a recipient before the object": does("give/geben", SHE, recipient=HE, object=it("ring"), tense="perfect"),
    "a recipient with an": does("send/schicken", SHE, shifted=the("uncle"), object=a("letter")),
    "a reflexive verb and a goal": does(
        "hope/hoffen/that", SHE, content=("bare", does("remember/erinnern", HE, argument=CONCERT,
                                                      joined=does("travel/reisen", argument=(TO_TOWN, VIENNA)))),
    ),
}  # fmt: skip


def row(name, sides):
    lines = (" ".join(map("{}/{}".format, side.words, side.annotation.head)) for side in sides)
    return "\n".join([name, *lines])


def test_the_table_has_all_sentences():
    assert [entry.split("\n")[0] for entry in TABLE] == list(MEANINGS)


@pytest.mark.parametrize("expected", TABLE, ids=lambda entry: entry.split("\n")[0])
def test_words_and_heads(expected):
    name = expected.split("\n")[0]
    sides = both(MEANINGS[name])
    assert row(name, sides) == expected.rstrip("\n")
    assert all(annotation_fault(side.annotation, len(side.words)) is None for side in sides)
    assert derives(list(sides[0].annotation.ccg))
