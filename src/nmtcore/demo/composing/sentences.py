"""Composition of whole sentences, each by one of several plans."""

from dataclasses import replace

from nmtcore.demo.composing.clauses import Clauses
from nmtcore.demo.composing.dice import Dice
from nmtcore.demo.composing.nominals import adjectives_for, adverbs
from nmtcore.demo.composing.predicates import subject_classes
from nmtcore.demo.lexicon.entries import Adverb
from nmtcore.demo.lexicon.verbs import FRAMES, STATIVE, UNCONTROLLED
from nmtcore.demo.meaning import (
    Clause,
    Existence,
    Interrogative,
    Joined,
    Named,
    Nominal,
    NounPhrase,
    Predicate,
    Prepositional,
    Pronoun,
    Purpose,
    Question,
    Sentence,
    Subordinate,
    Tense,
    agreement,
)

_PLANS = {
    "simple": 20,
    "fronted": 11,
    "adverbial": 12,
    "content": 9,
    "asking": 6,
    "telling": 3,
    "subject_control": 6,
    "object_control": 6,
    "raising": 3,
    "polar_question": 6,
    "question": 7,
    "two_predicates": 8,
    "two_clauses": 5,
    "existence": 3,
    "antecedent": 5,
    "purpose": 5,
}
_QUESTIONS = (
    Question(english="where", german="wo"),
    Question(english="when", german="wann"),
    Question(english="why", german="warum"),
)
_MARKERS = {"because": 24, "although": 12, "if": 10, "when": 20, "while": 8, "before": 9, "after": 10, "until": 4}
_AIMS = ("transitive", "ditransitive", "placed")
_DENIED = ("say", "think", "believe", "know", "hear", "notice", "see")
_PRESENT_OR_PAST: dict[Tense, float] = {"present": 50, "past": 50}


def compose(seed: str) -> Sentence:
    """Compose the sentence of a seed."""
    return _Grammar(Dice(seed)).sentence()


class _Grammar(Clauses):
    """The plans of sentences, one method per plan."""

    def sentence(self) -> Sentence:
        plan = self.dice.weighted(_PLANS)
        return getattr(self, f"_{plan}")()

    def _simple(self) -> Sentence:
        return Sentence(clauses=(self.clause(rich=2),))

    def _fronted(self) -> Sentence:
        """Compose a clause with an adverb or phrase in front, where the German subject follows the verb."""
        tense = self.tense()
        clause = self.clause(tense=tense)
        if any(isinstance(predicate.complement, NounPhrase) for predicate in clause.predicates):
            return Sentence(clauses=(clause,))
        slot = self.dice.weighted({"time": 45, "sentence": 30, "place": 25})
        predicate = clause.predicates[0]
        if slot == "place" and predicate.verb is not None and not predicate.negated:
            clause = _without_adjuncts(clause, "place", "direction", "tool", "agent")
            if predicate.verb.frame in ("transitive", "intransitive", "ditransitive"):
                return Sentence(clauses=(replace(clause, front=self.place()),))
        front = self._fitting_adverb("sentence" if slot == "sentence" else "time", predicate.tense)
        clause = _without_adjuncts(clause, "time", "often", "sentence")
        return Sentence(clauses=(replace(clause, front=front),))

    def _fitting_adverb(self, slot: str, tense: Tense) -> Adverb:
        fitting = adverbs(slot, tense if slot == "time" else "")
        return self.dice.pick(fitting or adverbs("sentence"))

    def _adverbial(self) -> Sentence:
        """Compose a sentence with an adverbial clause, at its end or in front."""
        marker = self.dice.weighted(_MARKERS)
        main_tense, tense = self._tenses(marker)
        clause = self.active(tense=main_tense, plain=self.dice.chance(0.5), rich=1)
        clause = _without_adjuncts(clause, "time", "often", "sentence")
        pronoun = pronoun_for(clause.subject) if self.dice.chance(0.6) else None
        subject = clause.subject if pronoun else self.someone("person", rich=0)
        stative = marker not in ("before", "after", "until", "while")
        inner = self._inner(tense, subject=subject, stative=stative)
        if not stative or marker == "when":
            inner = _without_adjuncts(inner, "often")
        front = self.dice.chance(0.35)
        if pronoun and inner.subject == clause.subject:
            # The noun precedes the pronoun that refers to it.
            if front:
                clause = replace(clause, subject=pronoun)
            else:
                inner = replace(inner, subject=pronoun)
        adjunct = Subordinate(marker=marker, clause=inner)
        if front:
            return Sentence(clauses=(replace(clause, front=adjunct),))
        return Sentence(clauses=(_with_adjunct(clause, adjunct),))

    def _tenses(self, marker: str) -> tuple[Tense, Tense]:
        if marker == "after":
            return ("past", "pluperfect") if self.dice.chance(0.7) else ("present", "perfect")
        if marker in ("if", "when") and self.dice.chance(0.25):
            return "future", "present"
        tense = self.dice.weighted(_PRESENT_OR_PAST)
        if marker == "if":
            return "present", "present"
        return tense, tense

    def _inner(self, tense: Tense, *, subject: Nominal, stative: bool = True) -> Clause:
        """Compose a short clause that becomes part of another one."""
        if stative and tense in ("present", "past") and self.dice.chance(0.3):
            return self.copula(tense=tense, subject=subject, rich=0)
        return self.active(tense=tense, subject=subject, rich=0 if self.dice.chance(0.8) else 1, plain=not stative)

    def _matrix_predicate(self, frame: str) -> tuple[Nominal, Predicate]:
        subject = self.someone("person", rich=0)
        tense = self.dice.weighted({"present": 45, "past": 45, "perfect": 10})
        verb = self.dice.pick(FRAMES[frame])
        return subject, Predicate(verb=verb, tense=tense)

    def _inner_tense(self, outer: Tense) -> Tense:
        weights: dict[Tense, float] = {"present": 45, "past": 30, "perfect": 15, "future": 10}
        return self.dice.weighted({"past": 80, "pluperfect": 20} if outer == "past" else weights)

    def _content(self) -> Sentence:
        """Compose a that-clause below a verb of saying or knowing; an adverb at the end belongs to either verb."""
        subject, predicate = self._matrix_predicate("that")
        clause = self.clause(tense=self._inner_tense(predicate.tense), rich=1)
        marker = "that" if self.dice.chance(0.7) else "bare"
        predicate = replace(predicate, content=clause, marker=marker)
        if predicate.tense == "past" and not clause.predicates[-1].adjuncts and self.dice.chance(0.3):
            predicate = replace(predicate, adjuncts=(self.dice.pick(adverbs("time", "past")),))
        elif self.dice.chance(0.15) and predicate.verb is not None and predicate.verb.english.base in _DENIED:
            predicate = replace(predicate, negated=True)
        return Sentence(clauses=(Clause(subject=subject, predicates=(predicate,)),))

    def _telling(self) -> Sentence:
        subject, predicate = self._matrix_predicate("tell")
        clause = self.clause(tense=self._inner_tense(predicate.tense), rich=1)
        recipient = self.phrase("person", rich=0, plain=True) if self.dice.chance(0.7) else self.name()
        predicate = replace(predicate, content=clause, marker="that", recipient=recipient)
        return Sentence(clauses=(Clause(subject=subject, predicates=(predicate,)),))

    def _asking(self) -> Sentence:
        """Compose an indirect question, with whether or with a question word."""
        subject, predicate = self._matrix_predicate("whether")
        tense = self._inner_tense(predicate.tense)
        if self.dice.chance(0.45):
            predicate = replace(predicate, content=self.clause(tense=tense), marker="whether")
        else:
            predicate = replace(predicate, content=self._asked_clause(tense), marker="")
        return Sentence(clauses=(Clause(subject=subject, predicates=(predicate,)),))

    def _asked_clause(self, tense: Tense) -> Clause:
        question_word = self.dice.weighted({"who": 25, "what": 30, "which": 20, "adverb": 30})
        if question_word == "adverb":
            clause = self.active(tense=tense, subject=self.someone("person", rich=0), rich=1, plain=True)
            clause = _without_adjuncts(clause, "place", "time", "often", "sentence")
            return replace(clause, front=self.dice.pick(_QUESTIONS))
        if question_word == "who":
            clause = self.active(tense=tense, subject=Interrogative(person=True), plain=True)
            return _without_adjuncts(clause, "sentence")
        person = question_word == "what" and self.dice.chance(0.35)
        verbs = [
            verb for verb in FRAMES["transitive"] if person == ("person" in verb.takes) and "person" in verb.subjects
        ]
        verb = self.dice.pick(verbs)
        question_object: Nominal = Interrogative(person=person)
        if question_word == "which":
            question_object = replace(
                self.phrase(*verb.takes, rich=0, plain=True), determiner="which", count=None, owner=None
            )
        predicate = _without_sentence_adverb(
            self.circumstances(Predicate(verb=verb, object=question_object, tense=tense))
        )
        return Clause(subject=self.someone("person", rich=0), predicates=(predicate,))

    def _question(self) -> Sentence:
        return Sentence(clauses=(self._asked_clause(self.tense()),), question=True)

    def _polar_question(self) -> Sentence:
        subject: Nominal | None = Pronoun(person=2, number="sg") if self.dice.chance(0.2) else None
        tense = self.dice.weighted({"present": 45, "past": 25 * (subject is None), "perfect": 20, "future": 10})
        clause = self.active(tense=tense, subject=subject, plain=self.dice.chance(0.7))
        if clause.predicates[0].negated:
            clause = replace(clause, predicates=(replace(clause.predicates[0], negated=False),))
        return Sentence(clauses=(_without_adjuncts(clause, "sentence"),), question=True)

    def _controlled(self, *, rich: int = 1, frames: tuple[str, ...] = (), excluded: str = "") -> Predicate:
        """Compose an infinitive whose verb is not `excluded`, with one of `frames` (any frame if empty)."""
        while True:
            predicate = self.predicate(frozenset({"person"}), tense="present", rich=rich, adjuncts=False)
            assert predicate is not None
            assert predicate.verb is not None
            base = predicate.verb.english.base
            if base not in UNCONTROLLED and base != excluded and (not frames or predicate.verb.frame in frames):
                break
        predicate = self.circumstances(predicate) if self.dice.chance(0.3) else predicate
        return _without_sentence_adverb(replace(predicate, adjuncts=_no_times(predicate)))

    def _subject_control(self) -> Sentence:
        """Compose subject control: someone tries to ..., promises to ..., stops ...-ing."""
        _, predicate = self._matrix_predicate("subject_control")
        predicate = replace(predicate, content=self._controlled(rich=1))
        if self.dice.chance(0.12):
            predicate = replace(predicate, negated=True)
        return Sentence(clauses=(Clause(subject=self.someone("person"), predicates=(predicate,)),))

    def _object_control(self) -> Sentence:
        """Compose object control: someone asks, allows or persuades someone else to ..."""
        subject, predicate = self._matrix_predicate("object_control")
        assert predicate.verb is not None
        controller = self.object(predicate.verb, rich=0)
        if isinstance(controller, Joined):
            controller = self.name()
        predicate = replace(predicate, object=controller, content=self._controlled(rich=0))
        return Sentence(clauses=(Clause(subject=subject, predicates=(predicate,)),))

    def _raising(self) -> Sentence:
        """Compose raising: someone seems to ...; the German infinitive is inside the clause."""
        subject = self.subject(rich=1)
        while not subject_classes(subject) & {"person", "animal"}:
            subject = self.subject(rich=1)
        tense = self.dice.weighted(_PRESENT_OR_PAST)
        content = self.predicate(subject_classes(subject), tense="present", rich=0, adjuncts=False)
        seem = Predicate(verb=FRAMES["raising"][0], tense=tense, content=content)
        clause = Clause(subject=subject, predicates=(seem,))
        if self.dice.chance(0.35):
            outer, matrix = self._matrix_predicate("that")
            matrix = replace(matrix, tense=tense, content=clause, marker="that")
            clause = Clause(subject=outer, predicates=(matrix,))
        return Sentence(clauses=(clause,))

    def _two_predicates(self) -> Sentence:
        """Compose a subject with two predicates; in a subordinate clause, each German predicate ends in its verb."""
        tense = self.tense()
        clause = self._double(self.someone("person"), tense)
        if self.dice.chance(0.4):
            subject, matrix = self._matrix_predicate("that")
            matrix = replace(matrix, tense="past" if tense == "past" else "present", content=clause, marker="that")
            clause = Clause(subject=subject, predicates=(matrix,))
        elif self.dice.chance(0.25):
            clause = replace(_without_adjuncts(clause, "time", "often"), front=self._fitting_adverb("time", tense))
        return Sentence(clauses=(clause,))

    def _double(self, subject: Nominal, tense: Tense) -> Clause:
        number = agreement(subject)[1]
        while True:
            first, second = (
                self.predicate(subject_classes(subject), tense=tense, rich=0, number=number) for _ in range(2)
            )
            assert first is not None
            assert second is not None
            if first.verb != second.verb:
                break
        first, second = (_without_sentence_adverb(part) for part in (first, second))
        return Clause(subject=subject, predicates=(replace(first, adjuncts=_no_times(first)), second))

    def _two_clauses(self) -> Sentence:
        conjunction = "and" if self.dice.chance(0.5) else "but"
        tense = self.tense()
        first, second = (self.clause(tense=tense, rich=0) for _ in range(2))
        return Sentence(clauses=(first, second), conjunction=conjunction)

    def _existence(self) -> Sentence:
        phrase = self.phrase("person", "animal", "thing", "building", "vehicle", rich=1)
        determiner = {"sg": "a", "pl": "many"}[phrase.number]
        if self.dice.chance(0.3):
            determiner = {"sg": "no", "pl": "some"}[phrase.number]
        if phrase.count is not None:
            determiner = ""
        phrase = replace(phrase, determiner=determiner, owner=None, genitive=None)
        place = self.place("place", "surface") if "thing" in phrase.noun.classes else self.place()
        return Sentence(clauses=(Existence(nominal=phrase, place=place, tense=self.dice.weighted(_PRESENT_OR_PAST)),))

    def _antecedent(self) -> Sentence:
        """Compose a pronoun with an inanimate antecedent: English has `it`, German the gender of the noun."""
        tense = self.dice.weighted(_PRESENT_OR_PAST)
        verbs = [verb for verb in FRAMES["transitive"] if "person" in verb.subjects and "person" not in verb.takes]
        verb = self.dice.pick(verbs)
        antecedent = self.phrase(*verb.takes, rich=0)
        pronoun = pronoun_for(antecedent)
        fitting = adjectives_for(antecedent.noun)
        if pronoun is None or not fitting or antecedent.determiner in ("every", "few", "both", "all"):
            return self._simple()
        quality = self.graded(fitting)
        antecedent = replace(antecedent, adjectives=())
        state = Predicate(verb=None, tense=tense, complement=quality)
        reason = Subordinate(
            marker=self.dice.pick(("because", "although")), clause=Clause(subject=pronoun, predicates=(state,))
        )
        predicate = Predicate(verb=verb, object=antecedent, tense=tense)
        clause = Clause(subject=self.someone("person", rich=0), predicates=(self.varied(predicate, antecedent),))
        return Sentence(clauses=(_with_adjunct(clause, reason),))

    def _purpose(self) -> Sentence:
        """Compose an adverbial infinitive: in order to do something, or without doing it."""
        tense = self.dice.weighted(_PRESENT_OR_PAST)
        clause = self.active(tense=tense, subject=self.someone("person"), rich=0, plain=True)
        while clause.predicates[0].verb is not None and clause.predicates[0].verb.english.base in STATIVE:
            clause = self.active(tense=tense, subject=clause.subject, rich=0, plain=True)
        clause = _without_adjuncts(clause, "often", "sentence", "manner")
        verb = clause.predicates[0].verb
        inner = self._controlled(frames=_AIMS, excluded=verb.english.base if verb else "")
        adjunct = Purpose(negative=self.dice.chance(0.4), predicate=inner)
        if not adjunct.negative and self.dice.chance(0.25):
            return Sentence(clauses=(replace(clause, front=adjunct),))
        return Sentence(clauses=(_with_adjunct(clause, adjunct),))


def pronoun_for(nominal: Nominal) -> Pronoun | None:
    """Return a pronoun that refers to a nominal, or None if the languages differ in its gender (child)."""
    if isinstance(nominal, Joined):
        return Pronoun(person=3, number="pl")
    if isinstance(nominal, Named):
        return Pronoun(person=3, number="sg", gender=nominal.name.gender)
    if isinstance(nominal, Pronoun):
        return nominal
    if not isinstance(nominal, NounPhrase):
        return None
    if nominal.number == "pl":
        return Pronoun(person=3, number="pl")
    if nominal.determiner in ("every", "no") and nominal.owner is None:
        return None
    if "person" not in nominal.noun.classes:
        return Pronoun(person=3, number="sg", gender="n", german=nominal.noun.gender)
    if nominal.noun.gender == "n":
        return None
    return Pronoun(person=3, number="sg", gender=nominal.noun.gender)


def _slot(part: object) -> str:
    return part.slot if isinstance(part, (Prepositional, Adverb)) else ""


def _without_adjuncts(clause: Clause, *slots: str) -> Clause:
    predicates = tuple(
        replace(predicate, adjuncts=tuple(part for part in predicate.adjuncts if _slot(part) not in slots))
        for predicate in clause.predicates
    )
    return replace(clause, predicates=predicates)


def _without_sentence_adverb(predicate: Predicate) -> Predicate:
    kept = tuple(part for part in predicate.adjuncts if _slot(part) != "sentence")
    return replace(predicate, adjuncts=kept)


def _no_times(predicate: Predicate) -> tuple:
    return tuple(part for part in predicate.adjuncts if _slot(part) not in ("time", "often"))


def _with_adjunct(clause: Clause, adjunct: Subordinate | Purpose) -> Clause:
    last = clause.predicates[-1]
    changed = replace(last, adjuncts=(*last.adjuncts, adjunct))
    return replace(clause, predicates=(*clause.predicates[:-1], changed))
