"""Random composition of noun phrases and clauses; `sentences` puts them together.

Numbers of modifiers are limited by `rich`: 0 leaves only frequent determiners and adjectives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

import nmtcore.demo.grammar as grammar
import nmtcore.demo.lexicon as lexicon
from nmtcore.demo.grammar import Clause, Graded, Nominal, Prepositional, Slot, Tense
from nmtcore.demo.lexicon import THROUGH, WITH, Adjective, Adverb, Link, Name, Noun, Number, Pronoun, Verb

T = TypeVar("T")

_DETERMINERS = {
    "sg": {"the": 50, "a": 28, "this": 7, "that": 4, "every": 4, "my": 9},
    "pl": {"the": 40, "": 10, "some": 8, "many": 7, "all": 5, "this": 6, "that": 3, "both": 4, "few": 2, "count": 10}
    | {"my": 7},
    "mass": {"the": 60, "": 25, "my": 12, "this": 5},
}
_FREQUENT = {"sg": {"the": 65, "a": 25, "this": 10}, "pl": {"the": 70, "this": 15, "count": 15}}
_FREQUENT |= {"mass": {"the": 60, "": 30, "this": 10}}
"""Weights of the determiners of a noun inside another phrase."""
TENSES: dict[Tense, float] = {"present": 32, "past": 40, "perfect": 14, "future": 7}
_FRAMES = {"transitive": 42, "intransitive": 18, "prepositional": 14, "ditransitive": 9, "located": 6, "placed": 9}
_OWNED = frozenset({"kin", "thing", "clothes", "vehicle", "home", "pet", "text", "topic", "doctor", "lawyer"})
_PLAIN_SUBJECTS = ("public", "event", "part", "flat", "upright", "plant", "bridge", "vehicle")
_DESCRIBED = ("thing", "animal", "vehicle", "text", "place", "topic", "clothes", "event")
_STATIVE, _UNGRADED, _INNER = lexicon.words("stative"), lexicon.words("ungraded"), lexicon.words("inner")
UNCONTROLLED = (*_STATIVE, *lexicon.words("uncontrolled"))
_IN, _ON, _OF = Link("in", "in", "dat"), Link("on", "auf", "acc"), Link("of", "", "gen")
_TIMES = (Link("before", "vor", "dat"), Link("after", "nach", "dat"), Link("during", "während", "gen"))
_CAUSES = (*_TIMES, Link("because of", "wegen", "gen"))
_SUBJECTS, _OBJECTS = grammar.pronouns("he she they I we"), grammar.pronouns("he she they")
_OWNERS, _RECIPIENTS = grammar.pronouns("I he she we they you"), grammar.pronouns("he she I they")


class Composer:
    """Composes the phrases and clauses of one sentence, the same on every machine: it uses only `Random.random`."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self._random() < probability

    def pick(self, items: Sequence[T], *, skew: float = 1.0) -> T:
        """Draw one of the items; a `skew` above 1 favours the first ones, as in word frequencies."""
        return items[int(len(items) * self._random() ** skew)]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """Draw one of the keys in proportion to the weights."""
        point = self._random() * sum(weights.values())
        for key, weight in weights.items():
            point -= weight
            if point < 0:
                return key
        return key

    # Noun phrases

    def someone(self, *, rich: int = 1) -> Nominal:
        """Compose a person: a name, a pronoun, a noun phrase, or two coordinated ones."""
        form = self.weighted({"noun": 60, "pronoun": 16, "name": 14, "joined": 7 * rich})
        if form == "pronoun":
            return self.pick(_SUBJECTS)
        if form == "name":
            return self.name()
        return self.pair("person") if form == "joined" else self.phrase("person", rich=rich)

    def name(self, names: Sequence[Name] = lexicon.PEOPLE) -> Nominal:
        """Draw a name, by default of a person."""
        return Nominal(word=self.pick(names))

    def pair(self, *classes: str) -> Nominal:
        """Compose two coordinated noun phrases, or a name and a noun phrase; one if both have the same noun."""
        named = "person" in classes and self.chance(0.3)
        first = self.name() if named else self.phrase(*classes, rich=0)
        second = self.phrase(*classes, rich=0)
        return first if first.word == second.word else replace(first, joined=second)

    def phrase(self, *classes: str, rich: int = 1, number: Number | None = None) -> Nominal:
        """Compose a noun phrase of one of the classes."""
        return self.dress(self.pick(lexicon.of_class(*classes), skew=1.3), rich=rich, number=number)

    def dress(self, noun: Noun, *, rich: int = 1, number: Number | None = None) -> Nominal:
        """Compose a noun phrase: draw the number, the determiner, adjectives and modifiers of a noun."""
        number = "sg" if noun.mass else number or ("pl" if self.chance(0.3) else "sg")
        weights = _DETERMINERS if rich else _FREQUENT
        determiner = self.weighted(weights["mass" if noun.mass else number])
        phrase = Nominal(word=noun, number=number, determiner=determiner, adjectives=self._adjectives(noun))
        if determiner == "count":
            definite = "the" if self.chance(0.4) else ""
            phrase = replace(phrase, determiner=definite, count=self.pick(lexicon.NUMBERS, skew=1.3))
        elif determiner == "my":
            phrase = replace(phrase, determiner="the", owner=self._owner() if noun.classes & _OWNED else None)
        return self._modified(phrase, noun) if rich else phrase

    def _owner(self) -> Nominal:
        owner = self.weighted({"pronoun": 65, "name": 14, "noun": 21})
        if owner == "noun":
            return self.phrase("person", rich=0, number="sg")
        return self.name() if owner == "name" else self.pick(_OWNERS)

    def _adjectives(self, noun: Noun) -> tuple[Graded, ...]:
        """Draw none, one or two adjectives; the second one comes next to the noun, without a comma."""
        fitting = lexicon.adjectives_for(noun)
        if not fitting or not self.chance(0.26):
            return ()
        first = self.graded(fitting, degrees=lexicon.adverbs("degree")[::3], chance=0.12)
        inner = [entry for entry in fitting if entry.english in _INNER]
        if first.adjective in inner or not inner or not self.chance(0.15):
            return (first,)
        return (first, Graded(self.pick(inner)))

    def graded(
        self,
        fitting: Sequence[Adjective],
        *,
        degrees: Sequence[Adverb] = lexicon.adverbs("degree"),
        chance: float = 0.3,
    ) -> Graded:
        """Draw one of the adjectives, sometimes with an adverb of degree."""
        adjective = self.pick(fitting)
        has_degree = self.chance(chance) and adjective.english not in _UNGRADED
        return Graded(adjective, self.pick(degrees) if has_degree else None)

    def _modified(self, phrase: Nominal, noun: Noun) -> Nominal:
        modifier = self.weighted({"none": 60, "attribute": 18, "genitive": 8, "clause": 14})
        chance = {"none": 0.0, "attribute": 0.08, "genitive": 0.2, "clause": 1.0}[modifier]
        free = phrase.owner is None and phrase.count is None and phrase.determiner in ("the", "a", "this")
        if modifier == "genitive" and free and lexicon.owners(noun):
            phrase = replace(phrase, modifiers=(Prepositional(_OF, self.held(*lexicon.owners(noun))),))
        elif modifier == "attribute" and lexicon.attributes(noun):
            phrase = replace(phrase, modifiers=(self._attribute(noun),))
        mine = phrase.owner is not None and isinstance(phrase.owner.word, Pronoun)
        if mine or phrase.determiner in ("", "every") or not self.chance(chance):
            return phrase
        return replace(phrase, clause=self._relative_clause(noun, phrase.number))

    def held(self, *classes: str) -> Nominal:
        """Compose a noun phrase with a determiner."""
        phrase = self.phrase(*classes, rich=0)
        return replace(phrase, count=None, determiner=phrase.determiner or "the")

    def _attribute(self, noun: Noun) -> Prepositional:
        link, inner = self.pick(lexicon.attributes(noun))
        if link is not None and inner == ("town",):
            return Prepositional(link, self.name(lexicon.TOWNS))
        nominal = self.phrase(*inner, rich=0)
        return Prepositional(link or lexicon.location(nominal.word), nominal)

    def place(self, *classes: str) -> Prepositional:
        """Compose a place: in the garden, at the lake, in Berlin."""
        if self.chance(0.1):
            return Prepositional(_IN, self.name(lexicon.TOWNS))
        nominal = self.phrase(*(classes or ("place",)), rich=0, number="pl" if self.chance(0.12) else "sg")
        return Prepositional(lexicon.location(nominal.word), nominal)

    def subject(self, *, rich: int = 1) -> Nominal:
        """Compose a subject of the active voice."""
        noun_class = self.weighted({"person": 76, "animal": 13, "other": 11})
        if noun_class == "person":
            return self.someone(rich=rich)
        return self.phrase(*(("animal",) if noun_class == "animal" else _PLAIN_SUBJECTS), rich=rich)

    def object(self, verb: Verb, *, rich: int) -> Nominal:
        """Compose the direct or prepositional object of a verb."""
        person = "person" in verb.takes
        if person and self.chance(0.24):
            return self.pick(_OBJECTS) if self.chance(0.6) else self.name()
        if self.chance(0.05 * rich) and verb.frame != "ditransitive":
            return self.pair(*verb.takes)
        return self.phrase(*verb.takes, rich=rich)

    # Clauses

    def predicate(
        self, classes: frozenset[str], tense: Tense, *, rich: int = 1, number: Number = "sg", adjuncts: bool = True
    ) -> Clause | None:
        """Compose a clause whose subject, of these classes, is still missing; return None if no verb fits."""
        frames = {frame: weight for frame, weight in _FRAMES.items() if lexicon.verbs_for(frame, classes)}
        if not frames:
            return None
        verb = self.pick(lexicon.verbs_for(self.weighted(frames), classes), skew=1.2)
        clause = Clause(verb=verb, tense=tense, slots=self._selected(verb, rich=rich))
        return self.circumstances(clause, number=number, person="person" in classes) if adjuncts else clause

    def _selected(self, verb: Verb, *, rich: int) -> dict[str, Slot]:
        """Compose the objects of a verb, and its place or goal."""
        if verb.takes == ("home",):
            return {"argument": self.place("home")}
        if verb.frame == "located":
            nominal = self.phrase(*verb.takes, rich=rich if self.chance(0.4) else 0)
            return {"argument": Prepositional(lexicon.location(nominal.word), nominal)}
        if not verb.takes:
            return {"argument": self._goal(verb)} if verb.frame == "placed" else {}
        thing = self.object(verb, rich=rich)
        if verb.frame == "prepositional":
            return {"argument": Prepositional(verb.link, thing)}
        if verb.frame == "placed":
            return {"object": thing, "argument": self._goal(verb)}
        if verb.frame != "ditransitive":
            return {"object": thing}
        recipient = self.someone(rich=0) if self.chance(0.3) else self.phrase("person", rich=0)
        if isinstance(recipient.word, Pronoun):
            recipient = self.pick(_RECIPIENTS)
        shifted = thing.is_noun and recipient.is_noun and thing.clause is None and self.chance(0.35)
        return {"object": thing, "shifted" if shifted else "recipient": recipient}

    def _goal(self, verb: Verb) -> Prepositional:
        """Compose the goal of a verb of motion or placement."""
        if "town" in verb.tools and self.chance(0.5):
            return Prepositional(Link("to", "nach", "dat"), self.name(lexicon.TOWNS))
        nominal = self.phrase(*(tag for tag in verb.tools if tag != "town"), rich=0)
        if verb.takes:
            return Prepositional(Link("into", "in", "acc") if "container" in nominal.classes else _ON, nominal)
        if "island" in nominal.classes:
            return Prepositional(Link("to", "auf", "acc"), nominal)
        go = verb.english.base == "go"
        return Prepositional(Link("to", "in", "acc") if go else Link("to", "zu", "dat"), nominal)

    def circumstances(self, clause: Clause, *, number: Number = "sg", person: bool = True) -> Clause:
        """Add adverbs and prepositional phrases of time, place, manner and instrument; return the clause.

        `number` is the number of the subject, `person` whether the subject is a person.
        """
        verb, slots, base = clause.verb, clause.slots, clause.verb.english.base
        simple = verb.frame in ("transitive", "intransitive")
        dynamic = simple and base not in _STATIVE
        located = simple or verb.frame in ("prepositional", "ditransitive")
        before = len(slots)
        if verb.tools and person and verb.frame == "transitive" and self.chance(0.45):
            tool = self.phrase(*verb.tools, rich=0, number="sg")
            slots["tool"] = Prepositional(THROUGH if "lens" in verb.tools else WITH, tool)
        elif located and base not in lexicon.words("without_place") and "person" in verb.subjects and self.chance(0.2):
            slots["place"] = self.place()
        elif dynamic and base not in UNCONTROLLED and self.chance(0.13):
            adverb = self.pick((*lexicon.adverbs("manner"), *(lexicon.adverbs("together") if number == "pl" else ())))
            slots[adverb.slot] = adverb
        elif dynamic and person and self.chance(0.06):
            slots["tool"] = Prepositional(WITH, self.phrase("kin", rich=0))
        slots |= self._times(clause.tense, few=len(slots) - before)
        return clause

    def _times(self, tense: Tense, *, few: int) -> dict[str, Slot]:
        """Compose at most one adverb or phrase of time, frequency, cause or probability."""
        choice = self.weighted({"none": 62 + 20 * few, "time": 15, "often": 9, "phrase": 7, "sentence": 4})
        if choice == "phrase":
            return {"time": Prepositional(self.pick(_CAUSES, skew=1.3), self.held("held"))}
        if choice == "none":
            return {}
        fitting = lexicon.adverbs("sentence")[:2] if choice == "sentence" else lexicon.adverbs(choice, tense)
        return {choice: self.pick(fitting)} if fitting else {}

    def varied(self, clause: Clause, subject: Nominal) -> Clause:
        """Make some clauses progressive, modal or negative, or add want or like; return the clause."""
        adverbial = {slot for slot, value in clause.slots.items() if isinstance(value, Adverb)}
        active = clause.tense in ("present", "past") and clause.verb.english.base not in _STATIVE
        variation = self.weighted({"none": 68, "progressive": 8, "modal": 10, "negated": 9, "want": 3, "like": 2})
        if variation == "negated":
            grammar.negate(clause, subject)
        elif variation == "progressive":
            clause.progressive = active and not adverbial & {"often", "time"}
        elif variation == "none" or adverbial & {"often", "sentence"}:
            return clause
        elif variation == "modal" and clause.tense == "present":
            clause.modal = self.pick(("can", "must", "should", "may", "would"))
            if self.chance(0.15):
                grammar.negate(clause, subject)
        elif variation != "modal" and active and "person" in subject.classes:
            clause.modal = "" if variation == "like" and "time" in adverbial else variation
        return clause

    def clause(self, *, tense: Tense | None = None, rich: int = 1) -> Clause:
        """Compose a declarative clause: active, passive or with a copula."""
        tense = tense or self.weighted(TENSES)
        construction = self.weighted({"active": 74, "passive": 12, "copula": 14})
        if construction == "passive":
            return self._passive(tense, rich=rich)
        if construction == "copula" and tense not in ("perfect", "pluperfect"):
            return self.copula(tense, rich=rich)
        return self.active(tense, rich=rich)

    def active(self, tense: Tense, *, subject: Nominal | None = None, rich: int = 1, plain: bool = False) -> Clause:
        """Compose an active clause; if `plain`, without modal, progressive, negation, want and like."""
        while True:
            chosen = subject or self.subject(rich=rich)
            clause = self.predicate(chosen.classes, tense, rich=rich, number=chosen.agreement[1])
            if clause is not None:
                clause.subject = chosen
                return clause if plain else self.varied(clause, chosen)
            subject = None

    def _passive(self, tense: Tense, *, rich: int = 1, relative: Nominal | None = None) -> Clause:
        """Compose a passive clause; its subject may be a relative pronoun."""
        verbs = lexicon.verbs_taking(relative.word) if relative else lexicon.FRAMES["transitive"]
        verb = self.pick([verb for verb in verbs if verb.english.base not in lexicon.words("without_passive")])
        subject = relative or self.phrase(*verb.takes, rich=rich)
        clause = Clause(verb=verb, subject=subject, tense=tense, passive=True)
        if self.chance(0.45):
            person = "person" in verb.subjects
            named = person and self.chance(0.2)
            agent = self.name() if named else self.phrase(*(("person",) if person else verb.subjects), rich=0)
            clause.slots["agent"] = Prepositional(Link("by", "von", "dat"), agent)
        elif self.chance(0.25):
            clause.slots["place"] = self.place()
        clause.slots |= self._times(tense, few=len(clause.slots))
        clause.drop("often")
        if tense == "present" and self.chance(0.3) and not clause.slots:
            clause.modal = self.pick(("must", "can", "should"))
        elif self.chance(0.1):
            grammar.negate(clause, subject)
        return clause

    def copula(self, tense: Tense, *, subject: Nominal | None = None, rich: int = 1) -> Clause:
        """Compose a clause with a copula and a complement."""
        if subject is None:
            subject = self.someone(rich=rich) if self.chance(0.5) else self.phrase(*_DESCRIBED, rich=rich)
        complement = self._quality(subject)
        clause = Clause(
            verb=lexicon.FRAMES["copula"][0], subject=subject, tense=tense, slots={"complement": complement}
        )
        if isinstance(complement, Graded) and not complement.degree and not complement.than and self.chance(0.15):
            clause.negated = not subject.is_noun or subject.determiner in ("the", "this", "that", "a")
        return clause

    def _quality(self, subject: Nominal) -> Graded | Nominal:
        """Compose an adjective, a comparison with another noun of the same class, or a profession."""
        noun = subject.word if isinstance(subject.word, Noun) and not subject.joined else lexicon.of_class("man")[0]
        fitting = lexicon.adjectives_for(noun)
        comparable = [entry for entry in fitting if entry.english not in _UNGRADED]
        form = self.weighted({"adjective": 70, "compared": 20, "noun": 10 * ("person" in noun.classes)})
        gender = subject.word.gender
        if form == "noun" and subject.agreement == (3, "sg") and gender in ("m", "f"):
            same = [job for job in lexicon.of_class("person") if job.gender == gender and job != noun]
            jobs = [job for job in same if "kin" not in job.classes][1:]
            return replace(self.dress(self.pick(jobs), rich=0, number="sg"), determiner="a")
        if form == "compared" and comparable:
            classes = ("person", "animal", "vehicle", "clothes", "building", "text", "event", "place")
            shared = next((tag for tag in classes if tag in noun.classes), None)
            others = [other for other in lexicon.of_class(shared) if other != noun] if shared else [noun]
            return Graded(self.pick(comparable), than=self.dress(self.pick(others), rich=0))
        return self.graded(fitting)

    def _relative_clause(self, noun: Noun, number: Number) -> Clause:
        """Compose a relative clause that modifies a noun, whose pronoun is its subject, object, owner or place."""
        tense: Tense = self.weighted({"present": 40, "past": 40, "perfect": 20})
        weights = {"subject": 45, "object": 38 if lexicon.verbs_taking(noun) else 0}
        weights |= {"owner": 12 * ("person" in noun.classes), "place": 14 if noun.place else 0}
        role = self.weighted(weights)
        relative = Nominal(word=noun, number=number, relative=True)
        if role == "object":
            verb, subject = self.pick(lexicon.verbs_taking(noun)), self.someone(rich=0)
            clause = self.circumstances(Clause(verb=verb, subject=subject, tense=tense, slots={"object": relative}))
            if tense == "present" and self.chance(0.1):
                clause.drop(*grammar.ADJUNCTS).modal = "want"
            return clause
        if role == "owner":
            owned = replace(self.phrase("kin", "pet", rich=0, number="sg"), determiner="the", owner=relative)
            return self.active(tense, subject=owned, rich=0, plain=True)
        if role == "place":
            clause = self.active(tense, subject=self.someone(rich=0), rich=0, plain=True)
            clause.drop("tool", "place", "together", "sentence")
            if isinstance(clause.slots.get("time"), Prepositional):
                clause.drop("time")
            clause.slots["place"], clause.front = Prepositional(lexicon.location(noun), relative), "place"
            return clause
        return self._subject_relative(relative, noun, tense)

    def _subject_relative(self, relative: Nominal, noun: Noun, tense: Tense) -> Clause:
        construction = self.weighted({"active": 60, "copula": 25, "passive": 15})
        bases = {verb.english.base for verb in lexicon.verbs_taking(noun)}
        if construction == "passive" and bases - {*lexicon.words("without_passive")} and "person" not in noun.classes:
            return self._passive(tense, relative=relative)
        active = self.predicate(noun.classes, tense, rich=0, number=relative.number)
        if lexicon.adjectives_for(noun) and (active is None or (construction == "copula" and tense != "perfect")):
            return self.copula("present" if tense == "perfect" else tense, subject=relative, rich=0)
        if active is None:
            return self._passive(tense, relative=relative)
        active.subject = relative
        return active
