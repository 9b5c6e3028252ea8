"""Composition of noun phrases: determiners, adjectives, prepositional phrases and relative clauses."""

from dataclasses import replace
from functools import cache

from nmtcore.demo.composing.dice import Dice
from nmtcore.demo.lexicon.entries import Adjective, Adverb, Link, Noun, Number
from nmtcore.demo.lexicon.modifiers import (
    ABOUT,
    ADJECTIVES,
    ADVERBS,
    AT,
    BEHIND,
    FOR,
    FROM,
    FROM_TOWN,
    IN,
    IN_CLOTHES,
    KEY_TO,
    NEXT_TO,
    NOT_GRADED,
    NUMBERS,
    OF_IMAGE,
    ON,
    PEOPLE,
    TOWNS,
    WITH,
)
from nmtcore.demo.lexicon.nouns import of_class
from nmtcore.demo.meaning import (
    Clause,
    Graded,
    Joined,
    Named,
    Nominal,
    NounPhrase,
    Prepositional,
    Pronoun,
)

_SKEW = 1.3
_SINGULAR = {"the": 50, "a": 28, "this": 7, "that": 4, "every": 4, "my": 9}
_PLURAL = {"the": 40, "": 10, "some": 8, "many": 7, "all": 5, "this": 6, "that": 3, "both": 4, "few": 2}
_PLURAL |= {"count": 10, "my": 7}
_MASS = {"the": 60, "": 25, "my": 12, "this": 5}
_PLAIN = {"sg": {"the": 65, "a": 25, "this": 10}, "pl": {"the": 70, "this": 15, "count": 15}}
"""Weights of the determiners of a noun inside another noun phrase."""
_OWNED = frozenset({"kin", "thing", "clothes", "vehicle", "home", "pet", "text", "topic", "doctor", "lawyer"})
_OWNERS = (
    Pronoun(person=1, number="sg"),
    Pronoun(person=3, number="sg", gender="m"),
    Pronoun(person=3, number="sg", gender="f"),
    Pronoun(person=1, number="pl"),
    Pronoun(person=3, number="pl"),
    Pronoun(person=2, number="sg"),
)
_INNER = frozenset(["old", "young", "new", "white", "black", "red", "green", "blue", "modern", "wild"])
"""Adjectives that come next to the noun, after another one and without a comma."""
PEOPLE_PRONOUNS = (
    Pronoun(person=3, number="sg", gender="m"),
    Pronoun(person=3, number="sg", gender="f"),
    Pronoun(person=3, number="pl"),
    Pronoun(person=1, number="sg"),
    Pronoun(person=1, number="pl"),
)

_TEXTS = ("book", "story", "letter", "novel", "report", "poem", "article", "question", "lecture", "message")
_ATTRIBUTES: tuple[tuple[tuple[str, ...], Link, tuple[str, ...]], ...] = (
    (("person",), WITH, ("worn",)),
    (("person",), IN_CLOTHES, ("dress",)),
    (("person",), AT, ("at",)),
    (("person",), FROM_TOWN, ("town",)),
    (("person",), IN, ("building",)),
    (("pet",), ON, ("seat",)),
    (("pet",), BEHIND, ("building", "furniture")),
    (("flat", "upright"), ON, ("surface",)),
    (("flat", "thing"), IN, ("container",)),
    (("key",), KEY_TO, ("opening", "road", "building", "room")),
    (_TEXTS, ABOUT, ("event", "person", "animal", "building")),
    (("image",), OF_IMAGE, ("person", "animal", "place")),
    (("sent",), FROM, ("person",)),
    (("gift", "letter", "message", "book"), FOR, ("person",)),
    (("container",), WITH, ("coin", "tool", "food")),
    (("building",), NEXT_TO, ("shore", "train_station", "bridge", "park")),
    (("building",), BEHIND, ("forest", "station", "church", "school")),
    (("house", "castle", "church"), WITH, ("part",)),
    (("part",), IN, ("room",)),
    (("furniture",), IN, ("room",)),
    (("problem", "mistake", "rule"), WITH, ("project", "plan")),
)
_GENITIVES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("part",), ("building", "room")),
    (("author",), ("book", "novel", "report", "article", "poem", "story")),
    (("mayor",), ("city", "village")),
    (("kin",), ("person",)),
    (("secretary", "lawyer"), ("person",)),
    (("rule",), ("game",)),
    (("plan", "idea", "answer", "question", "mistake", "secret"), ("person",)),
)


@cache
def _attributes(noun: Noun) -> tuple[tuple[Link, tuple[str, ...]], ...]:
    return tuple((link, inner) for outer, link, inner in _ATTRIBUTES if noun.classes.intersection(outer))


@cache
def _genitives(noun: Noun) -> tuple[str, ...]:
    return next((inner for outer, inner in _GENITIVES if noun.classes.intersection(outer)), ())


@cache
def adjectives_for(noun: Noun) -> tuple[Adjective, ...]:
    """Return the adjectives that can describe a noun."""
    return tuple(entry for entry in ADJECTIVES if entry.classes & noun.classes)


@cache
def adverbs(slot: str, tense: str = "") -> tuple[Adverb, ...]:
    """Return the adverbs of a slot; if a tense is given, only those that go with it."""
    return tuple(entry for entry in ADVERBS if entry.slot == slot and (not tense or tense in entry.tenses))


def location(noun: Noun) -> Link:
    """Return the locative preposition of a noun: in the house, at the lake, on the table."""
    if noun.place:
        return Link(english=noun.place[0], german=noun.place[1], case="dat")
    return IN if "container" in noun.classes else ON


class Nominals:
    """Composes the noun phrases of one sentence; `Clauses` adds relative clauses."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice

    def clause_about(self, noun: Noun, *, number: Number) -> Clause | None:
        """Compose a relative clause that modifies a noun, or return None if none fits."""
        raise NotImplementedError

    def someone(self, *classes: str, rich: int = 1) -> Nominal:
        """Compose a subject: a name, a pronoun, a noun phrase, or two coordinated ones."""
        form = self.dice.weighted({"noun": 60, "pronoun": 16, "name": 14, "joined": 7 * rich})
        if form == "pronoun":
            return self.dice.pick(PEOPLE_PRONOUNS)
        if form == "name":
            return self.name()
        if form == "joined":
            return self.pair(*classes)
        return self.phrase(*classes, rich=rich)

    def name(self) -> Named:
        """Draw the name of a person."""
        return Named(name=self.dice.pick(PEOPLE))

    def pair(self, *classes: str) -> Joined:
        """Compose two coordinated noun phrases, or a name and a noun phrase."""
        nouns = of_class(*classes)
        if "person" in classes and self.dice.chance(0.3):
            return Joined(first=self.name(), second=self.phrase("person", rich=0, plain=True))
        first = self.dice.pick(nouns, skew=_SKEW)
        second = self.dice.pick([noun for noun in nouns if noun != first], skew=_SKEW)
        dressed = [self.dress(noun, rich=0, plain=True) for noun in (first, second)]
        return Joined(first=dressed[0], second=dressed[1])

    def phrase(self, *classes: str, rich: int = 1, plain: bool = False, number: Number | None = None) -> NounPhrase:
        """Compose a noun phrase of one of the classes.

        If `rich` is 0, the noun has no modifiers but adjectives. If `plain`, its determiner is a frequent one.
        """
        noun = self.dice.pick(of_class(*classes), skew=_SKEW)
        return self.dress(noun, rich=rich, plain=plain, number=number)

    def dress(self, noun: Noun, *, rich: int = 1, plain: bool = False, number: Number | None = None) -> NounPhrase:
        """Compose a noun phrase: draw the number, the determiner, adjectives and modifiers of a noun."""
        if noun.mass:
            number = "sg"
        number = number or ("pl" if self.dice.chance(0.3) else "sg")
        weights = _MASS if noun.mass else _PLAIN[number] if plain else _SINGULAR if number == "sg" else _PLURAL
        phrase = self._determined(noun, number=number, determiner=self.dice.weighted(weights))
        phrase = replace(phrase, adjectives=self._adjectives(noun))
        return self._modified(phrase) if rich else phrase

    def _determined(self, noun: Noun, *, number: Number, determiner: str) -> NounPhrase:
        phrase = NounPhrase(noun=noun, number=number, determiner=determiner)
        if determiner == "count":
            definite = "the" if self.dice.chance(0.4) else ""
            return replace(phrase, determiner=definite, count=self.dice.pick(NUMBERS, skew=_SKEW))
        if determiner != "my":
            return phrase
        if not noun.classes & _OWNED:
            return replace(phrase, determiner="the")
        if self.dice.chance(0.65):
            return replace(phrase, owner=self.dice.pick(_OWNERS))
        if self.dice.chance(0.4):
            return replace(phrase, owner=self.name())
        return replace(phrase, owner=self.phrase("person", rich=0, plain=True, number="sg"))

    def _adjectives(self, noun: Noun) -> tuple[Graded, ...]:
        fitting = adjectives_for(noun)
        if not fitting or not self.dice.chance(0.26):
            return ()
        first = Graded(adjective=self.dice.pick(fitting))
        if self.dice.chance(0.12) and first.adjective.english not in NOT_GRADED:
            first = replace(first, degree=self.dice.pick([adverbs("degree")[0], adverbs("degree")[3]]))
        second = [entry for entry in fitting if entry.english in _INNER]
        if first.adjective.english in _INNER or not second or not self.dice.chance(0.15):
            return (first,)
        return (first, Graded(adjective=self.dice.pick(second)))

    def _modified(self, phrase: NounPhrase) -> NounPhrase:
        modifier = self.dice.weighted({"none": 60, "attribute": 18, "genitive": 8, "clause": 14})
        if (
            modifier == "genitive"
            and phrase.owner is None
            and phrase.count is None
            and phrase.determiner in ("the", "a", "this")
        ):
            inner = _genitives(phrase.noun)
            if inner:
                genitive = self.phrase(*inner, rich=0, plain=True)
                genitive = replace(genitive, count=None, determiner=genitive.determiner or "the")
                return self._with_clause(replace(phrase, genitive=genitive), chance=0.2)
        if modifier == "attribute" and _attributes(phrase.noun):
            return self._with_clause(replace(phrase, modifiers=(self.attribute(phrase.noun),)), chance=0.08)
        return self._with_clause(phrase, chance=1.0) if modifier == "clause" else phrase

    def _with_clause(self, phrase: NounPhrase, *, chance: float) -> NounPhrase:
        if (
            phrase.determiner in ("", "no", "every")
            or isinstance(phrase.owner, Pronoun)
            or not self.dice.chance(chance)
        ):
            return phrase
        return replace(phrase, clause=self.clause_about(phrase.noun, number=phrase.number))

    def attribute(self, noun: Noun) -> Prepositional:
        """Compose a prepositional phrase that modifies a noun."""
        link, inner = self.dice.pick(_attributes(noun))
        if inner == ("town",):
            return Prepositional(link=link, nominal=Named(name=self.dice.pick(TOWNS)))
        nominal = self.phrase(*inner, rich=0, plain=True)
        return Prepositional(link=location(nominal.noun) if link is IN else link, nominal=nominal)

    def place(self, *classes: str) -> Prepositional:
        """Compose a place: in the garden, at the lake, in Berlin."""
        if self.dice.chance(0.1):
            return Prepositional(link=IN, nominal=Named(name=self.dice.pick(TOWNS)))
        number: Number = "pl" if self.dice.chance(0.12) else "sg"
        nominal = self.phrase(*(classes or ("place",)), rich=0, plain=True, number=number)
        return Prepositional(link=location(nominal.noun), nominal=nominal)
