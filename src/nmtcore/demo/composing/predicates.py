"""Composition of verb phrases: a verb that fits the subject, its arguments, and adjuncts."""

from dataclasses import replace

from nmtcore.demo.composing.nominals import Nominals, adverbs, location
from nmtcore.demo.lexicon.entries import Adverb, Link, Number, Verb
from nmtcore.demo.lexicon.modifiers import (
    AFTER,
    BECAUSE_OF,
    BEFORE,
    DURING,
    INTO,
    ONTO,
    THROUGH,
    TO_BUILDING,
    TO_ISLAND,
    TO_TOWN,
    TOWNS,
    WITH,
)
from nmtcore.demo.lexicon.nouns import of_class
from nmtcore.demo.lexicon.verbs import (
    NO_PLACE,
    STATIVE,
    UNCONTROLLED,
    verbs_for,
)
from nmtcore.demo.meaning import (
    Adjunct,
    Joined,
    Named,
    Nominal,
    NounPhrase,
    Predicate,
    Prepositional,
    Pronoun,
    Relative,
    Tense,
)

_SKEW = 1.2
_NEGATED = ("the", "this", "that", "a", "")
"""Determiners of objects with which the scope of a negation is clear; the first three also of subjects."""
_FRAMES = {"transitive": 42, "intransitive": 18, "prepositional": 14, "ditransitive": 9, "located": 6, "placed": 9}
_TO_DRIVE = Link(english="to", german="zu", case="dat")


def subject_classes(nominal: Nominal) -> frozenset[str]:
    """Return the classes of a nominal's noun; pronouns and names are persons."""
    return nominal.noun.classes if isinstance(nominal, (NounPhrase, Relative)) else frozenset({"person"})


class Predicates(Nominals):
    """Composes the verb phrases of one sentence."""

    def predicate(
        self, classes: frozenset[str], *, tense: Tense, rich: int = 1, number: Number = "sg", adjuncts: bool = True
    ) -> Predicate | None:
        """Compose a verb phrase for a subject of these classes, or return None if no verb fits."""
        frames = {frame: weight for frame, weight in _FRAMES.items() if verbs_for(frame, classes)}
        if not frames:
            return None
        frame = self.dice.weighted(frames)
        verb = self.dice.pick(verbs_for(frame, classes), skew=_SKEW)
        predicate = self._with_objects(verb, tense=tense, rich=rich)
        if not adjuncts:
            return predicate
        return self.circumstances(predicate, number=number, person="person" in classes)

    def _with_objects(self, verb: Verb, *, tense: Tense, rich: int) -> Predicate:
        predicate = Predicate(verb=verb, tense=tense)
        if verb.frame in ("transitive", "ditransitive"):
            predicate = replace(predicate, object=self.object(verb, rich=rich))
        if verb.frame == "ditransitive":
            return self._with_recipient(predicate)
        if verb.frame == "prepositional":
            assert verb.link is not None
            nominal = self.object(verb, rich=rich)
            return replace(predicate, phrase=Prepositional(link=verb.link, nominal=nominal, slot="argument"))
        if verb.frame == "located":
            classes = verb.takes
            at_home = verb.takes == ("home",)
            phrase = self.place(*classes) if at_home else self._on(classes, rich=rich)
            return replace(predicate, phrase=phrase)
        return self._placed(predicate, rich=rich) if verb.frame == "placed" else predicate

    def object(self, verb: Verb, *, rich: int) -> Nominal:
        """Compose the direct or prepositional object of a verb."""
        person = "person" in verb.takes
        if person and self.dice.chance(0.14):
            return self.dice.pick(
                [Pronoun(person=3, number="sg", gender="m"), Pronoun(person=3, number="sg", gender="f"),
                 Pronoun(person=3, number="pl")]
            )  # fmt: skip
        if person and self.dice.chance(0.12):
            return self.name()
        if self.dice.chance(0.05 * rich) and verb.frame != "ditransitive" and len(of_class(*verb.takes)) > 1:
            return self.pair(*verb.takes)
        phrase = self.phrase(*verb.takes, rich=rich)
        return replace(phrase, determiner="a") if phrase.determiner == "no" else phrase

    def _with_recipient(self, predicate: Predicate) -> Predicate:
        form = self.dice.weighted({"noun": 70, "pronoun": 15, "name": 15})
        if form == "pronoun":
            recipient: Nominal = self.dice.pick(
                [Pronoun(person=3, number="sg", gender="m"), Pronoun(person=3, number="sg", gender="f"),
                 Pronoun(person=1, number="sg"), Pronoun(person=3, number="pl")]
            )  # fmt: skip
        else:
            recipient = self.name() if form == "name" else self.phrase("person", rich=0, plain=True)
        simple = isinstance(predicate.object, NounPhrase) and predicate.object.clause is None
        shifted = form == "noun" and simple and self.dice.chance(0.35)
        return replace(predicate, recipient=recipient, shifted=shifted)

    def _on(self, classes: tuple[str, ...], *, rich: int) -> Prepositional:
        nominal = self.phrase(*classes, rich=rich if self.dice.chance(0.4) else 0, plain=True)
        return Prepositional(link=location(nominal.noun), nominal=nominal, slot="argument")

    def _placed(self, predicate: Predicate, *, rich: int) -> Predicate:
        verb = predicate.verb
        assert verb is not None
        if verb.takes:
            predicate = replace(predicate, object=self.phrase(*verb.takes, rich=rich, plain=False))
        return replace(predicate, phrase=self._direction(verb))

    def _direction(self, verb: Verb) -> Prepositional:
        """Compose the goal of a verb of motion or placement."""
        if "town" in verb.tools and self.dice.chance(0.5):
            return Prepositional(link=TO_TOWN, nominal=Named(name=self.dice.pick(TOWNS)), slot="argument")
        nominal = self.phrase(*(tag for tag in verb.tools if tag != "town"), rich=0, plain=True)
        classes = nominal.noun.classes
        if verb.takes:
            link = INTO if "container" in classes else ONTO
        elif "island" in classes:
            link = TO_ISLAND
        else:
            link = TO_BUILDING if verb.english.base == "go" else _TO_DRIVE
        return Prepositional(link=link, nominal=nominal, slot="argument")

    def circumstances(self, predicate: Predicate, *, number: Number = "sg", person: bool = True) -> Predicate:
        """Add adverbs and prepositional phrases of time, place, manner and instrument.

        `number` is the number of the subject, `person` whether the subject is a person.
        """
        verb = predicate.verb
        assert verb is not None
        dynamic = verb.frame in ("transitive", "intransitive") and verb.english.base not in STATIVE
        free = verb.frame in ("transitive", "intransitive", "prepositional", "ditransitive")
        adjuncts: list[Adjunct] = []
        if verb.tools and person and verb.frame == "transitive" and self.dice.chance(0.45):
            tool = self.phrase(*verb.tools, rich=0, plain=True, number="sg")
            adjuncts.append(Prepositional(link=THROUGH if "lens" in verb.tools else WITH, nominal=tool, slot="tool"))
        elif free and verb.english.base not in NO_PLACE and "person" in verb.subjects and self.dice.chance(0.2):
            adjuncts.append(self.place())
        elif dynamic and verb.english.base not in UNCONTROLLED and self.dice.chance(0.13):
            manners = (*adverbs("manner"), *(adverbs("plural") if number == "pl" else ()))
            adjuncts.append(self.dice.pick(manners))
        elif dynamic and person and self.dice.chance(0.06):
            companion = self.phrase("kin", rich=0)
            adjuncts.append(Prepositional(link=WITH, nominal=companion, slot="tool"))
        adjuncts += self.times(predicate.tense, few=len(adjuncts))
        return replace(predicate, adjuncts=tuple(adjuncts))

    def times(self, tense: Tense, *, few: int) -> list[Adjunct]:
        """Compose at most one adverb or phrase of time, frequency, cause or probability."""
        choice = self.dice.weighted({"none": 62 + 20 * few, "adverb": 15, "often": 9, "phrase": 7, "sentence": 4})
        if choice == "phrase":
            link = self.dice.pick((BEFORE, AFTER, DURING, BECAUSE_OF), skew=1.3)
            nominal = self.phrase("held", rich=0, plain=True)
            nominal = replace(nominal, count=None, determiner=nominal.determiner or "the")
            return [Prepositional(link=link, nominal=nominal, slot="time")]
        if choice == "sentence":
            return [self.dice.pick(adverbs("sentence")[:2])]
        fitting = adverbs("time" if choice == "adverb" else "often", tense) if choice != "none" else ()
        return [self.dice.pick(fitting)] if fitting else []

    def varied(self, predicate: Predicate, subject: Nominal) -> Predicate:
        """Make some predicates progressive, modal or negative, or add an attitude (want, like)."""
        verb = predicate.verb
        assert verb is not None
        adverbial = {part.slot for part in predicate.adjuncts if isinstance(part, Adverb)}
        simple = predicate.tense in ("present", "past")
        person = "person" in subject_classes(subject)
        variation = self.dice.weighted({"none": 68, "progressive": 8, "modal": 10, "negated": 9, "attitude": 5})
        if (
            variation == "progressive"
            and simple
            and verb.english.base not in STATIVE
            and not adverbial & {"often", "time"}
        ):
            return replace(predicate, progressive=True)
        if variation == "modal" and predicate.tense == "present" and not adverbial & {"often", "sentence"}:
            modal = self.dice.pick(("can", "must", "should", "may", "would"))
            predicate = replace(predicate, modal=modal)
            return self.negate(predicate, subject) if self.dice.chance(0.15) else predicate
        if variation == "negated":
            return self.negate(predicate, subject)
        if variation == "attitude" and simple and person and verb.english.base not in STATIVE:
            attitude = "want" if self.dice.chance(0.6) else "like"
            if not adverbial & {"often", "sentence"} and (attitude == "want" or "time" not in adverbial):
                return replace(predicate, attitude=attitude)
        return predicate

    def negate(self, predicate: Predicate, subject: Nominal) -> Predicate:
        """Negate a predicate; return it unchanged if its determiners or clauses make the negation ambiguous."""
        if isinstance(subject, NounPhrase) and subject.owner is None and subject.determiner not in _NEGATED[:3]:
            return predicate
        for nominal in (predicate.object, predicate.phrase.nominal if predicate.phrase else None):
            if isinstance(nominal, Joined):
                return predicate
            quantified = isinstance(nominal, NounPhrase) and (nominal.determiner not in _NEGATED or nominal.count)
            if isinstance(nominal, NounPhrase) and (nominal.clause or (quantified and nominal.owner is None)):
                return predicate
        kept = tuple(part for part in predicate.adjuncts if isinstance(part, Adverb) and part.slot == "time")
        return replace(predicate, negated=True, adjuncts=kept, shifted=False)
