"""Composition of clauses: a subject, a verb with its arguments, and adjuncts."""

from dataclasses import replace

from nmtcore.demo.composing.nominals import adjectives_for, adverbs, location
from nmtcore.demo.composing.predicates import Predicates, subject_classes
from nmtcore.demo.lexicon.entries import Adjective, Adverb, Gender, Noun, Number, Verb
from nmtcore.demo.lexicon.modifiers import (
    BY,
    NOT_GRADED,
)
from nmtcore.demo.lexicon.nouns import of_class
from nmtcore.demo.lexicon.verbs import (
    FRAMES,
    NO_PASSIVE,
    verbs_taking,
)
from nmtcore.demo.meaning import (
    Adjunct,
    Clause,
    Compared,
    Graded,
    Named,
    Nominal,
    NounPhrase,
    Predicate,
    Prepositional,
    Pronoun,
    Relative,
    Tense,
    agreement,
)

_TENSES: dict[Tense, float] = {"present": 32, "past": 40, "perfect": 14, "future": 7}


class Clauses(Predicates):
    """Composes the clauses of one sentence."""

    def tense(self) -> Tense:
        """Draw the tense of a main clause."""
        return self.dice.weighted(_TENSES)

    def clause(self, *, tense: Tense | None = None, subject: Nominal | None = None, rich: int = 1) -> Clause:
        """Compose a declarative clause: active, passive or with a copula."""
        tense = tense or self.tense()
        construction = self.dice.weighted({"active": 74, "passive": 12 * (subject is None), "copula": 14})
        if construction == "passive":
            return self.passive(tense=tense, rich=rich)
        if construction == "copula" and tense in ("present", "past", "future"):
            return self.copula(tense=tense, subject=subject, rich=rich)
        return self.active(tense=tense, subject=subject, rich=rich)

    def subject(self, *, rich: int = 1) -> Nominal:
        """Compose a subject of the active voice."""
        noun_class = self.dice.weighted({"person": 76, "animal": 13, "other": 11})
        if noun_class == "person":
            return self.someone("person", rich=rich)
        if noun_class == "animal":
            return self.phrase("animal", rich=rich)
        return self.phrase("public", "event", "part", "flat", "upright", "plant", "bridge", "vehicle", rich=rich)

    def active(self, *, tense: Tense, subject: Nominal | None = None, rich: int = 1, plain: bool = False) -> Clause:
        """Compose an active clause; if `plain`, without modal, progressive, negation and attitude."""
        while True:
            chosen = subject or self.subject(rich=rich)
            predicate = self.predicate(subject_classes(chosen), tense=tense, rich=rich, number=agreement(chosen)[1])
            if predicate is not None:
                break
            subject = None
        if not plain:
            predicate = self.varied(predicate, chosen)
        return Clause(subject=chosen, predicates=(predicate,))

    def passive(self, *, tense: Tense, rich: int = 1, noun: Noun | None = None, number: Number = "sg") -> Clause:
        """Compose a passive clause; if `noun` is given, a relative clause whose pronoun refers to it."""
        if noun is None:
            verbs = tuple(verb for verb in FRAMES["transitive"] if verb.english.base not in NO_PASSIVE)
            verb = self.dice.pick(verbs)
            subject: Nominal = self.phrase(*verb.takes, rich=rich)
        else:
            verb = self.dice.pick([verb for verb in verbs_taking(noun) if verb.english.base not in NO_PASSIVE])
            subject = Relative(noun=noun, number=number)
        predicate = Predicate(verb=verb, passive=True, tense=tense, adjuncts=self._passive_adjuncts(verb, tense))
        if tense == "present" and self.dice.chance(0.3) and not predicate.adjuncts:
            predicate = replace(predicate, modal=self.dice.pick(("must", "can", "should")))
        elif self.dice.chance(0.1):
            predicate = self.negate(predicate, subject)
        return Clause(subject=subject, predicates=(predicate,))

    def _passive_adjuncts(self, verb: Verb, tense: Tense) -> tuple[Adjunct, ...]:
        adjuncts: list[Adjunct] = []
        person = "person" in verb.subjects
        if self.dice.chance(0.45):
            named = person and self.dice.chance(0.2)
            classes = ("person",) if person else verb.subjects
            agent = self.name() if named else self.phrase(*classes, rich=0, plain=True)
            adjuncts.append(Prepositional(link=BY, nominal=agent, slot="agent"))
        elif self.dice.chance(0.25):
            adjuncts.append(self.place())
        times = self.times(tense, few=len(adjuncts))
        return (*adjuncts, *(part for part in times if not isinstance(part, Adverb) or part.slot != "often"))

    def copula(self, *, tense: Tense, subject: Nominal | None = None, rich: int = 1) -> Clause:
        """Compose a clause with a copula and a complement."""
        subject = subject or (
            self.someone("person", rich=rich)
            if self.dice.chance(0.5)
            else self.phrase("thing", "animal", "vehicle", "text", "place", "topic", "clothes", "event", rich=rich)
        )
        complement = self._quality(subject)
        predicate = Predicate(verb=None, tense=tense, complement=complement)
        if isinstance(complement, Graded) and not complement.degree and self.dice.chance(0.15):
            quantified = isinstance(subject, NounPhrase) and subject.determiner not in ("the", "this", "that", "a")
            predicate = replace(predicate, negated=not quantified)
        return Clause(subject=subject, predicates=(predicate,))

    def _quality(self, subject: Nominal) -> Graded | Compared | NounPhrase:
        noun = subject.noun if isinstance(subject, (NounPhrase, Relative)) else of_class("man")[0]
        person = "person" in noun.classes
        fitting = adjectives_for(noun)
        comparable = [entry for entry in fitting if entry.english not in NOT_GRADED]
        complement = self.dice.weighted({"adjective": 70, "compared": 20, "noun": 10 * person})
        gender = _gender(subject)
        if complement == "noun" and agreement(subject) == (3, "sg") and gender in ("m", "f"):
            jobs = [
                job for job in of_class("person") if job.gender == gender and job != noun and "kin" not in job.classes
            ]
            return self._indefinite(self.dice.pick(jobs[1:]))
        if complement == "compared" and comparable:
            than = self.dress(self._likeness(noun), rich=0, plain=True)
            return Compared(adjective=self.dice.pick(comparable), than=than)
        return self.graded(fitting)

    def graded(self, fitting: tuple[Adjective, ...]) -> Graded:
        """Draw one of the adjectives as a complement, sometimes with an adverb of degree."""
        adjective = self.dice.pick(fitting)
        degree = self.dice.pick(adverbs("degree")) if self.dice.chance(0.3) else None
        return Graded(adjective=adjective, degree=None if adjective.english in NOT_GRADED else degree)

    def _indefinite(self, noun: Noun) -> NounPhrase:
        dressed = self.dress(noun, rich=0, plain=True, number="sg")
        return replace(dressed, determiner="a", count=None)

    def _likeness(self, noun: Noun) -> Noun:
        """Draw another noun of a class of `noun`, for a comparison."""
        for tag in ("person", "animal", "vehicle", "clothes", "building", "text", "event", "place"):
            if tag in noun.classes:
                return self.dice.pick([other for other in of_class(tag) if other != noun])
        return noun

    def clause_about(self, noun: Noun, *, number: Number) -> Clause | None:
        """Compose a relative clause that modifies a noun."""
        tense: Tense = self.dice.weighted({"present": 40, "past": 40, "perfect": 20})
        person = "person" in noun.classes
        weights = {
            "subject": 45,
            "object": 38 if verbs_taking(noun) else 0,
            "owner": 12 * person,
            "place": 14 if noun.place else 0,
        }
        role = self.dice.weighted(weights)
        relative = Relative(noun=noun, number=number)
        if role == "object":
            return self._object_relative(relative, tense=tense)
        if role == "owner":
            owned = replace(
                self.phrase("kin", "pet", rich=0, plain=True, number="sg"), determiner="the", owner=relative
            )
            return self.active(tense=tense, subject=replace(owned, count=None), rich=0, plain=True)
        if role == "place":
            clause = self.active(tense=tense, subject=self.someone("person", rich=0), rich=0, plain=True)
            predicate = replace(clause.predicates[0], adjuncts=self._only_times(clause.predicates[0].adjuncts))
            front = Prepositional(link=location(noun), nominal=relative)
            return replace(clause, predicates=(predicate,), front=front)
        return self._subject_relative(relative, tense=tense)

    def _object_relative(self, relative: Relative, *, tense: Tense) -> Clause:
        verb = self.dice.pick(verbs_taking(relative.noun))
        subject = self.someone("person", rich=0)
        predicate = self.circumstances(Predicate(verb=verb, object=relative, tense=tense))
        if tense == "present" and self.dice.chance(0.2):
            predicate = replace(predicate, attitude="want", adjuncts=()) if self.dice.chance(0.5) else predicate
        return Clause(subject=subject, predicates=(predicate,))

    def _subject_relative(self, relative: Relative, *, tense: Tense) -> Clause:
        noun = relative.noun
        active = self.predicate(noun.classes, tense=tense, rich=0, number=relative.number)
        construction = self.dice.weighted({"active": 60, "copula": 25, "passive": 15})
        passive = any(verb.english.base not in NO_PASSIVE for verb in verbs_taking(noun))
        if construction == "passive" and passive and "person" not in noun.classes:
            return self.passive(tense=tense, noun=noun, number=relative.number)
        if active is None or (construction == "copula" and tense != "perfect" and adjectives_for(noun)):
            if not adjectives_for(noun):
                return self.passive(tense=tense, noun=noun, number=relative.number)
            tense = "present" if tense == "perfect" else tense
            return self.copula(tense=tense, subject=relative, rich=0)
        return Clause(subject=relative, predicates=(active,))

    def _only_times(self, adjuncts: tuple[Adjunct, ...]) -> tuple[Adjunct, ...]:
        return tuple(part for part in adjuncts if isinstance(part, Adverb) and part.slot in ("time", "often", "manner"))


def _gender(nominal: Nominal) -> Gender | None:
    """Return the gender of a person, which is the same in both languages."""
    if isinstance(nominal, Named):
        return nominal.name.gender
    if isinstance(nominal, Pronoun):
        return nominal.gender
    return nominal.noun.gender if isinstance(nominal, (NounPhrase, Relative)) else None
