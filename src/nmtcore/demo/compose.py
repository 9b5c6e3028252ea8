"""Random composition of noun phrases and clauses; `sentences` puts them together.

Numbers of modifiers are limited by `rich`: 0 leaves only adjectives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

import nmtcore.demo.grammar as grammar
import nmtcore.demo.lexicon as lexicon
from nmtcore.demo.grammar import Clause, Graded, Nominal, Prepositional, Slot, Tense
from nmtcore.demo.lexicon import THROUGH, WITH, Adjective, Adverb, Link, Noun, Number, Pronoun, Verb

T = TypeVar("T")

_SINGULAR = {"the": 50, "a": 28, "this": 7, "that": 4, "every": 4, "my": 9}
_PLURAL = {"the": 40, "": 10, "some": 8, "many": 7, "all": 5, "this": 6, "that": 3, "both": 4, "few": 2}
_PLURAL |= {"count": 10, "my": 7}
_MASS = {"the": 60, "": 25, "my": 12, "this": 5}
_PLAIN = {"sg": {"the": 65, "a": 25, "this": 10}, "pl": {"the": 70, "this": 15, "count": 15}}
"""Weights of the determiners of a noun inside another noun phrase."""
TENSES: dict[Tense, float] = {"present": 32, "past": 40, "perfect": 14, "future": 7}
_FRAMES = {"transitive": 42, "intransitive": 18, "prepositional": 14, "ditransitive": 9, "located": 6, "placed": 9}
_OWNED = frozenset({"kin", "thing", "clothes", "vehicle", "home", "pet", "text", "topic", "doctor", "lawyer"})
_STATIVE, _UNGRADED, _INNER = lexicon.words("stative"), lexicon.words("ungraded"), lexicon.words("inner")
UNCONTROLLED = (*_STATIVE, *lexicon.words("uncontrolled"))
_IN, _ON = Link("in", "in", "dat"), Link("on", "auf", "acc")
_OWNERS, _SUBJECTS = grammar.pronouns("I he she we they you"), grammar.pronouns("he she they I we")
_OBJECTS, _RECIPIENTS = grammar.pronouns("he she they"), grammar.pronouns("he she I they")


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

    def someone(self, *, rich: int = 1) -> Nominal:
        """Compose a person: a name, a pronoun, a noun phrase, or two coordinated ones."""
        form = self.weighted({"noun": 60, "pronoun": 16, "name": 14, "joined": 7 * rich})
        if form == "pronoun":
            return self.pick(_SUBJECTS)
        if form == "name":
            return self.name()
        return self.pair("person") if form == "joined" else self.phrase("person", rich=rich)

    def name(self) -> Nominal:
        """Draw the name of a person."""
        return Nominal(word=self.pick(lexicon.PEOPLE))

    def pair(self, *classes: str) -> Nominal:
        """Compose two coordinated noun phrases, or a name and a noun phrase."""
        nouns = lexicon.of_class(*classes)
        if "person" in classes and self.chance(0.3):
            return replace(self.name(), joined=self.phrase("person", rich=0, plain=True))
        first = self.pick(nouns, skew=1.3)
        second = self.pick([noun for noun in nouns if noun != first], skew=1.3)
        return replace(self.dress(first, rich=0, plain=True), joined=self.dress(second, rich=0, plain=True))

    def phrase(self, *classes: str, rich: int = 1, plain: bool = False, number: Number | None = None) -> Nominal:
        """Compose a noun phrase of one of the classes; if `plain`, its determiner is a frequent one."""
        return self.dress(self.pick(lexicon.of_class(*classes), skew=1.3), rich=rich, plain=plain, number=number)

    def dress(self, noun: Noun, *, rich: int = 1, plain: bool = False, number: Number | None = None) -> Nominal:
        """Compose a noun phrase: draw the number, the determiner, adjectives and modifiers of a noun."""
        if noun.mass:
            number = "sg"
        number = number or ("pl" if self.chance(0.3) else "sg")
        weights = _MASS if noun.mass else _PLAIN[number] if plain else _SINGULAR if number == "sg" else _PLURAL
        phrase = self._determined(noun, number, self.weighted(weights))
        phrase = replace(phrase, adjectives=self._adjectives(noun))
        return self._modified(phrase, noun) if rich else phrase

    def _determined(self, noun: Noun, number: Number, determiner: str) -> Nominal:
        phrase = Nominal(word=noun, number=number, determiner=determiner)
        if determiner == "count":
            definite = "the" if self.chance(0.4) else ""
            return replace(phrase, determiner=definite, count=self.pick(lexicon.NUMBERS, skew=1.3))
        if determiner != "my":
            return phrase
        if not noun.classes & _OWNED:
            return replace(phrase, determiner="the")
        if self.chance(0.65):
            return replace(phrase, owner=self.pick(_OWNERS))
        named = self.chance(0.4)
        return replace(phrase, owner=self.name() if named else self.phrase("person", rich=0, plain=True, number="sg"))

    def _adjectives(self, noun: Noun) -> tuple[Graded, ...]:
        """Draw none, one or two adjectives; the second one comes next to the noun, without a comma."""
        fitting = lexicon.adjectives_for(noun)
        if not fitting or not self.chance(0.26):
            return ()
        first = Graded(self.pick(fitting))
        if self.chance(0.12) and first.adjective.english not in _UNGRADED:
            first = replace(first, degree=self.pick(lexicon.adverbs("degree")[::3]))
        inner = [entry for entry in fitting if entry.english in _INNER]
        if first.adjective.english in _INNER or not inner or not self.chance(0.15):
            return (first,)
        return (first, Graded(self.pick(inner)))

    def _modified(self, phrase: Nominal, noun: Noun) -> Nominal:
        modifier = self.weighted({"none": 60, "attribute": 18, "genitive": 8, "clause": 14})
        free = phrase.owner is None and phrase.count is None and phrase.determiner in ("the", "a", "this")
        if modifier == "genitive" and free and lexicon.owners(noun):
            genitive = Prepositional(Link("of", "", "gen"), self.held(*lexicon.owners(noun)))
            return self._with_clause(replace(phrase, modifiers=(genitive,)), noun, chance=0.2)
        if modifier == "attribute" and lexicon.attributes(noun):
            return self._with_clause(replace(phrase, modifiers=(self._attribute(noun),)), noun, chance=0.08)
        return self._with_clause(phrase, noun, chance=1.0) if modifier == "clause" else phrase

    def held(self, *classes: str) -> Nominal:
        """Compose a noun phrase with a determiner."""
        phrase = self.phrase(*classes, rich=0, plain=True)
        return replace(phrase, count=None, determiner=phrase.determiner or "the")

    def _with_clause(self, phrase: Nominal, noun: Noun, *, chance: float) -> Nominal:
        mine = phrase.owner is not None and isinstance(phrase.owner.word, Pronoun)
        if mine or phrase.determiner in ("", "every") or not self.chance(chance):
            return phrase
        return replace(phrase, clause=self._relative_clause(noun, phrase.number))

    def _attribute(self, noun: Noun) -> Prepositional:
        link, inner = self.pick(lexicon.attributes(noun))
        if link is not None and inner == ("town",):
            return Prepositional(link, Nominal(word=self.pick(lexicon.TOWNS)))
        nominal = self.phrase(*inner, rich=0, plain=True)
        return Prepositional(link or lexicon.location(nominal.word), nominal)

    def place(self, *classes: str) -> Prepositional:
        """Compose a place: in the garden, at the lake, in Berlin."""
        if self.chance(0.1):
            return Prepositional(_IN, Nominal(word=self.pick(lexicon.TOWNS)))
        number: Number = "pl" if self.chance(0.12) else "sg"
        nominal = self.phrase(*(classes or ("place",)), rich=0, plain=True, number=number)
        return Prepositional(lexicon.location(nominal.word), nominal)

    def subject(self, *, rich: int = 1) -> Nominal:
        """Compose a subject of the active voice."""
        noun_class = self.weighted({"person": 76, "animal": 13, "other": 11})
        if noun_class == "person":
            return self.someone(rich=rich)
        others = ("public", "event", "part", "flat", "upright", "plant", "bridge", "vehicle")
        return self.phrase(*(("animal",) if noun_class == "animal" else others), rich=rich)

    def predicate(
        self, classes: frozenset[str], tense: Tense, *, rich: int = 1, number: Number = "sg", adjuncts: bool = True
    ) -> Clause | None:
        """Compose a clause whose subject, of these classes, is still missing; return None if no verb fits."""
        frames = {frame: weight for frame, weight in _FRAMES.items() if lexicon.verbs_for(frame, classes)}
        if not frames:
            return None
        verb = self.pick(lexicon.verbs_for(self.weighted(frames), classes), skew=1.2)
        clause = Clause(verb=verb, tense=tense, slots=self._objects(verb, rich=rich))
        return self.circumstances(clause, number=number, person="person" in classes) if adjuncts else clause

    def _objects(self, verb: Verb, *, rich: int) -> dict[str, Slot]:
        if verb.frame == "transitive":
            return {"object": self.object(verb, rich=rich)}
        if verb.frame == "ditransitive":
            return self._with_recipient(self.object(verb, rich=rich))
        if verb.frame == "prepositional":
            return {"argument": Prepositional(verb.link, self.object(verb, rich=rich))}
        if verb.frame == "located":
            if verb.takes == ("home",):
                return {"argument": self.place("home")}
            nominal = self.phrase(*verb.takes, rich=rich if self.chance(0.4) else 0, plain=True)
            return {"argument": Prepositional(lexicon.location(nominal.word), nominal)}
        if verb.frame == "placed":
            thing = {"object": self.phrase(*verb.takes, rich=rich)} if verb.takes else {}
            return {**thing, "argument": self._goal(verb)}
        return {}

    def object(self, verb: Verb, *, rich: int) -> Nominal:
        """Compose the direct or prepositional object of a verb."""
        person = "person" in verb.takes
        if person and self.chance(0.14):
            return self.pick(_OBJECTS)
        if person and self.chance(0.12):
            return self.name()
        if self.chance(0.05 * rich) and verb.frame != "ditransitive" and len(lexicon.of_class(*verb.takes)) > 1:
            return self.pair(*verb.takes)
        return self.phrase(*verb.takes, rich=rich)

    def _with_recipient(self, thing: Nominal) -> dict[str, Slot]:
        form = self.weighted({"noun": 70, "pronoun": 15, "name": 15})
        if form != "noun":
            return {"object": thing, "recipient": self.pick(_RECIPIENTS) if form == "pronoun" else self.name()}
        recipient = self.phrase("person", rich=0, plain=True)
        shifted = thing.is_noun and thing.clause is None and self.chance(0.35)
        return {"object": thing, "shifted" if shifted else "recipient": recipient}

    def _goal(self, verb: Verb) -> Prepositional:
        """Compose the goal of a verb of motion or placement."""
        if "town" in verb.tools and self.chance(0.5):
            return Prepositional(Link("to", "nach", "dat"), Nominal(word=self.pick(lexicon.TOWNS)))
        nominal = self.phrase(*(tag for tag in verb.tools if tag != "town"), rich=0, plain=True)
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
        verb, slots = clause.verb, clause.slots
        base = verb.english.base
        dynamic = verb.frame in ("transitive", "intransitive") and base not in _STATIVE
        free = verb.frame in ("transitive", "intransitive", "prepositional", "ditransitive")
        before = len(slots)
        if verb.tools and person and verb.frame == "transitive" and self.chance(0.45):
            tool = self.phrase(*verb.tools, rich=0, plain=True, number="sg")
            slots["tool"] = Prepositional(THROUGH if "lens" in verb.tools else WITH, tool)
        elif free and base not in lexicon.words("without_place") and "person" in verb.subjects and self.chance(0.2):
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
            links = (Link("before", "vor", "dat"), Link("after", "nach", "dat"), Link("during", "während", "gen"))
            link = self.pick((*links, Link("because of", "wegen", "gen")), skew=1.3)
            return {"time": Prepositional(link, self.held("held"))}
        if choice == "none":
            return {}
        fitting = lexicon.adverbs("sentence")[:2] if choice == "sentence" else lexicon.adverbs(choice, tense)
        return {choice: self.pick(fitting)} if fitting else {}

    def varied(self, clause: Clause, subject: Nominal) -> Clause:
        """Make some clauses progressive, modal or negative, or add want or like; return the clause."""
        adverbial = {slot for slot, value in clause.slots.items() if isinstance(value, Adverb)}
        active = clause.tense in ("present", "past") and clause.verb.english.base not in _STATIVE
        variation = self.weighted({"none": 68, "progressive": 8, "modal": 10, "negated": 9, "attitude": 5})
        if variation == "progressive" and active and not adverbial & {"often", "time"}:
            clause.progressive = True
        elif variation == "modal" and clause.tense == "present" and not adverbial & {"often", "sentence"}:
            clause.modal = self.pick(("can", "must", "should", "may", "would"))
            if self.chance(0.15):
                grammar.negate(clause, subject)
        elif variation == "negated":
            grammar.negate(clause, subject)
        elif variation == "attitude" and active and "person" in subject.classes:
            attitude = "want" if self.chance(0.6) else "like"
            if not adverbial & {"often", "sentence"} and (attitude == "want" or "time" not in adverbial):
                clause.modal = attitude
        return clause

    def clause(self, *, tense: Tense | None = None, rich: int = 1) -> Clause:
        """Compose a declarative clause: active, passive or with a copula."""
        tense = tense or self.weighted(TENSES)
        construction = self.weighted({"active": 74, "passive": 12, "copula": 14})
        if construction == "passive":
            return self._passive(tense, rich=rich)
        if construction == "copula" and tense != "perfect" and tense != "pluperfect":
            return self.copula(tense, rich=rich)
        return self.active(tense, rich=rich)

    def active(self, tense: Tense, *, subject: Nominal | None = None, rich: int = 1, plain: bool = False) -> Clause:
        """Compose an active clause; if `plain`, without modal, progressive, negation, want and like."""
        while True:
            chosen = subject or self.subject(rich=rich)
            clause = self.predicate(chosen.classes, tense, rich=rich, number=chosen.agreement[1])
            if clause is not None:
                break
            subject = None
        clause.subject = chosen
        return clause if plain else self.varied(clause, chosen)

    def _passive(self, tense: Tense, *, rich: int = 1, relative: Nominal | None = None) -> Clause:
        """Compose a passive clause; its subject may be a relative pronoun."""
        verbs = lexicon.verbs_taking(relative.word) if relative else lexicon.FRAMES["transitive"]
        verb = self.pick([verb for verb in verbs if verb.english.base not in lexicon.words("without_passive")])
        subject = relative or self.phrase(*verb.takes, rich=rich)
        clause = Clause(verb=verb, subject=subject, tense=tense, passive=True)
        person = "person" in verb.subjects
        if self.chance(0.45):
            named = person and self.chance(0.2)
            classes = ("person",) if person else verb.subjects
            agent = self.name() if named else self.phrase(*classes, rich=0, plain=True)
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
            others = ("thing", "animal", "vehicle", "text", "place", "topic", "clothes", "event")
            subject = self.someone(rich=rich) if self.chance(0.5) else self.phrase(*others, rich=rich)
        clause = Clause(verb=lexicon.FRAMES["copula"][0], subject=subject, tense=tense)
        clause.slots["complement"] = complement = self._quality(subject)
        if isinstance(complement, Graded) and not complement.degree and not complement.than and self.chance(0.15):
            clause.negated = not subject.is_noun or subject.determiner in ("the", "this", "that", "a")
        return clause

    def _quality(self, subject: Nominal) -> Graded | Nominal:
        noun = subject.word if isinstance(subject.word, Noun) and not subject.joined else lexicon.of_class("man")[0]
        fitting = lexicon.adjectives_for(noun)
        comparable = [entry for entry in fitting if entry.english not in _UNGRADED]
        complement = self.weighted({"adjective": 70, "compared": 20, "noun": 10 * ("person" in noun.classes)})
        gender = subject.word.gender
        if complement == "noun" and subject.agreement == (3, "sg") and gender in ("m", "f"):
            same = [job for job in lexicon.of_class("person") if job.gender == gender and job != noun]
            jobs = [job for job in same if "kin" not in job.classes]
            return replace(self.dress(self.pick(jobs[1:]), rich=0, plain=True, number="sg"), determiner="a", count=None)
        if complement == "compared" and comparable:
            than = self.dress(self._likeness(noun), rich=0, plain=True)
            return Graded(self.pick(comparable), than=than)
        return self.graded(fitting)

    def graded(self, fitting: Sequence[Adjective]) -> Graded:
        """Draw one of the adjectives as a complement, sometimes with an adverb of degree."""
        adjective = self.pick(fitting)
        degree = self.pick(lexicon.adverbs("degree")) if self.chance(0.3) else None
        return Graded(adjective, None if adjective.english in _UNGRADED else degree)

    def _likeness(self, noun: Noun) -> Noun:
        """Draw another noun of a class of `noun`, for a comparison."""
        for tag in ("person", "animal", "vehicle", "clothes", "building", "text", "event", "place"):
            if tag in noun.classes:
                return self.pick([other for other in lexicon.of_class(tag) if other != noun])
        return noun

    def _relative_clause(self, noun: Noun, number: Number) -> Clause:
        """Compose a relative clause that modifies a noun."""
        tense: Tense = self.weighted({"present": 40, "past": 40, "perfect": 20})
        weights = {"subject": 45, "object": 38 if lexicon.verbs_taking(noun) else 0}
        weights |= {"owner": 12 * ("person" in noun.classes), "place": 14 if noun.place else 0}
        role = self.weighted(weights)
        relative = Nominal(word=noun, number=number, relative=True)
        if role == "object":
            return self._object_relative(relative, tense)
        if role == "owner":
            owned = self.phrase("kin", "pet", rich=0, plain=True, number="sg")
            owned = replace(owned, determiner="the", owner=relative, count=None)
            return self.active(tense, subject=owned, rich=0, plain=True)
        if role == "place":
            clause = self.active(tense, subject=self.someone(rich=0), rich=0, plain=True)
            time = clause.slots.get("time")
            clause.drop("tool", "place", "together", "sentence", *(() if isinstance(time, Adverb) else ("time",)))
            clause.slots["place"], clause.front = Prepositional(lexicon.location(noun), relative), "place"
            return clause
        return self._subject_relative(relative, noun, tense)

    def _object_relative(self, relative: Nominal, tense: Tense) -> Clause:
        verb = self.pick(lexicon.verbs_taking(relative.word))
        subject = self.someone(rich=0)
        clause = self.circumstances(Clause(verb=verb, subject=subject, tense=tense, slots={"object": relative}))
        if tense == "present" and self.chance(0.2) and self.chance(0.5):
            clause.drop(*grammar.ADJUNCTS).modal = "want"
        return clause

    def _subject_relative(self, relative: Nominal, noun: Noun, tense: Tense) -> Clause:
        active = self.predicate(noun.classes, tense, rich=0, number=relative.number)
        construction = self.weighted({"active": 60, "copula": 25, "passive": 15})
        passive = any(verb.english.base not in lexicon.words("without_passive") for verb in lexicon.verbs_taking(noun))
        if construction == "passive" and passive and "person" not in noun.classes:
            return self._passive(tense, relative=relative)
        if active is None or (construction == "copula" and tense != "perfect" and lexicon.adjectives_for(noun)):
            if not lexicon.adjectives_for(noun):
                return self._passive(tense, relative=relative)
            return self.copula("present" if tense == "perfect" else tense, subject=relative, rich=0)
        active.subject = relative
        return active
