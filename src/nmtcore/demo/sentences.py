"""Random composition of whole sentences, each by one of several plans."""

from dataclasses import replace

from nmtcore.demo.compose import TENSES, UNCONTROLLED, Composer
from nmtcore.demo.grammar import ADJUNCTS, Clause, Embedded, Nominal, Tense, pronouns
from nmtcore.demo.lexicon import FRAMES, PRONOUNS, Name, Pronoun, adjectives_for, adverbs, words

_PLANS = {"simple": 20, "fronted": 11, "adverbial": 12, "content": 9, "asking": 6, "telling": 3, "subject_control": 6}
_PLANS |= {"object_control": 6, "raising": 3, "polar_question": 6, "question": 7, "two_predicates": 8, "two_clauses": 5}
_PLANS |= {"existence": 3, "antecedent": 5, "purpose": 5}
"""Weights of the plans."""
_MARKERS = {"because": 24, "although": 12, "if": 10, "when": 20, "while": 8, "before": 9, "after": 10, "until": 4}
_PRESENT_OR_PAST: dict[Tense, float] = {"present": 50, "past": 50}
_MATRIX_TENSES: dict[Tense, float] = {"present": 45, "past": 45, "perfect": 10}
_INNER_TENSES: dict[Tense, float] = {"present": 45, "past": 30, "perfect": 15, "future": 10}
_DENIED = ("say", "think", "believe", "know", "hear", "notice", "see")


def compose(seed: str) -> Clause:
    """Compose the sentence of a seed."""
    composer = _Sentences(seed)
    return getattr(composer, f"_{composer.weighted(_PLANS)}")()


class _Sentences(Composer):
    """The plans of sentences, one method per plan."""

    def _simple(self) -> Clause:
        return self.clause(rich=2)

    def _fronted(self) -> Clause:
        """Compose a clause with an adverb or phrase in front, where the German subject follows the verb."""
        clause = self.clause()
        if isinstance(clause.slots.get("complement"), Nominal):
            return clause
        slot = self.weighted({"time": 45, "sentence": 30, "place": 25})
        if slot != "place":
            return self._with_adverb_in_front(clause, slot)
        clause.drop("place", "tool", "agent")
        if clause.negated or clause.verb.frame not in ("transitive", "intransitive", "ditransitive"):
            return self._with_adverb_in_front(clause, "time")
        clause.slots["place"], clause.front = self.place(), "place"
        return clause

    def _with_adverb_in_front(self, clause: Clause, slot: str) -> Clause:
        fitting = adverbs(slot, clause.tense if slot == "time" else "") or adverbs("sentence")
        adverb = self.pick(fitting)
        clause.drop("time", "often", "sentence").slots[adverb.slot] = adverb
        clause.front = adverb.slot
        return clause

    def _adverbial(self) -> Clause:
        """Compose a sentence with an adverbial clause, at its end or in front."""
        marker = self.weighted(_MARKERS)
        main_tense, tense = self._tenses(marker)
        clause = self.active(main_tense, plain=self.chance(0.5))
        clause.drop("time", "often", "sentence")
        pronoun = pronoun_for(clause.subject) if self.chance(0.6) else None
        inner_subject = clause.subject if pronoun else self.someone(rich=0)
        stative = marker not in ("before", "after", "until", "while")
        if stative and tense in ("present", "past") and self.chance(0.3):
            inner = self.copula(tense, subject=inner_subject, rich=0)
        else:
            inner = self.active(tense, subject=inner_subject, rich=0 if self.chance(0.8) else 1, plain=not stative)
        if not stative or marker == "when":
            inner.drop("often")
        if self.chance(0.35):
            clause.front = "adverbial"
        if pronoun and inner.subject == clause.subject:
            # The noun precedes the pronoun that refers to it.
            (clause if clause.front else inner).subject = pronoun
        clause.slots["adverbial"] = Embedded(marker, inner)
        return clause

    def _tenses(self, marker: str) -> tuple[Tense, Tense]:
        if marker == "after":
            return ("past", "pluperfect") if self.chance(0.7) else ("present", "perfect")
        if marker in ("if", "when") and self.chance(0.25):
            return "future", "present"
        tense = self.weighted(_PRESENT_OR_PAST)
        return ("present", "present") if marker == "if" else (tense, tense)

    def _matrix(self, frame: str, marker: str = "", content: Clause | None = None) -> Clause:
        """Compose a clause whose verb selects another clause, or an infinitive that follows later."""
        tense = self.weighted(_MATRIX_TENSES)
        matrix = Clause(verb=self.pick(FRAMES[frame]), subject=self.someone(rich=0), tense=tense)
        if content is not None:
            matrix.slots["content"] = Embedded(marker, content)
        return matrix

    def _inner_tense(self, outer: Tense) -> Tense:
        return self.weighted({"past": 80, "pluperfect": 20} if outer == "past" else _INNER_TENSES)

    def _content(self) -> Clause:
        """Compose a that-clause below a verb of saying or knowing; an adverb at the end belongs to either verb."""
        matrix = self._matrix("that")
        clause = self.clause(tense=self._inner_tense(matrix.tense))
        matrix.slots["content"] = Embedded("that" if self.chance(0.7) else "bare", clause)
        if matrix.tense == "past" and not clause.slots.keys() & ADJUNCTS and self.chance(0.3):
            matrix.slots["time"] = self.pick(adverbs("time", "past"))
        else:
            matrix.negated = self.chance(0.15) and matrix.verb.english.base in _DENIED
        return matrix

    def _telling(self) -> Clause:
        matrix = self._matrix("tell")
        matrix.slots["content"] = Embedded("that", self.clause(tense=self._inner_tense(matrix.tense)))
        matrix.slots["recipient"] = self.phrase("person", rich=0) if self.chance(0.7) else self.name()
        return matrix

    def _asking(self) -> Clause:
        """Compose an indirect question, with whether or with a question word."""
        matrix = self._matrix("whether")
        tense = self._inner_tense(matrix.tense)
        polar = self.chance(0.45)
        clause = self.clause(tense=tense) if polar else self._asked_clause(tense)
        matrix.slots["content"] = Embedded("whether" if polar else "", clause)
        return matrix

    def _asked_clause(self, tense: Tense) -> Clause:
        """Compose a clause with a question word."""
        question_word = self.weighted({"who": 25, "whom": 10, "what": 20, "which": 20, "adverb": 30})
        if question_word == "adverb":
            clause = self.active(tense, subject=self.someone(rich=0), plain=True)
            clause.drop("place", "time", "often", "sentence").front = "asked"
            clause.slots["asked"] = self.pick(adverbs("asked"))
            return clause
        (who, what) = pronouns("who what")
        if question_word == "who":
            return self.active(tense, subject=who, plain=True).drop("sentence")
        person = question_word == "whom"
        verbs = [verb for verb in FRAMES["transitive"] if person == ("person" in verb.takes)]
        verb = self.pick([verb for verb in verbs if "person" in verb.subjects])
        asked = who if person else what
        if question_word == "which":
            asked = replace(self.phrase(*verb.takes, rich=0), determiner="which", count=None)
        clause = self.circumstances(Clause(verb=verb, tense=tense, slots={"object": asked})).drop("sentence")
        clause.subject = self.someone(rich=0)
        return clause

    def _question(self) -> Clause:
        return replace(self._asked_clause(self.weighted(TENSES)), question=True)

    def _polar_question(self) -> Clause:
        subject = pronouns("you")[0] if self.chance(0.2) else None
        tense = self.weighted({"present": 45, "past": 25 * (subject is None), "perfect": 20, "future": 10})
        clause = self.active(tense, subject=subject, plain=self.chance(0.7)).drop("sentence")
        return replace(clause, negated=False, question=True)

    def _controlled(self, marker: str = "to", *, rich: int = 1, excluded: str = "") -> Embedded:
        """Compose an infinitive whose verb is not `excluded`; one of purpose has an object."""
        clause = None
        while clause is None or clause.verb.english.base in (*UNCONTROLLED, excluded):
            clause = self.predicate(frozenset({"person"}), "present", rich=rich, adjuncts=False)
            if marker != "to" and clause.verb.frame not in ("transitive", "ditransitive", "placed"):
                clause = None
        if self.chance(0.3):
            self.circumstances(clause)
        return Embedded(marker, clause.drop("time", "often", "sentence"))

    def _subject_control(self) -> Clause:
        """Compose subject control: someone tries to ..., promises to ..., stops ...-ing."""
        matrix = self._matrix("subject_control")
        matrix.slots["content"] = self._controlled()
        matrix.negated = self.chance(0.12)
        return matrix

    def _object_control(self) -> Clause:
        """Compose object control: someone asks, allows or persuades someone else to ..."""
        matrix = self._matrix("object_control")
        matrix.slots["object"] = self.object(matrix.verb, rich=0)
        matrix.slots["content"] = self._controlled(rich=0)
        return matrix

    def _raising(self) -> Clause:
        """Compose raising: someone seems to ...; the German infinitive is inside the clause."""
        subject = self.someone() if self.chance(0.85) else self.phrase("animal")
        tense = self.weighted(_PRESENT_OR_PAST)
        content = self.predicate(subject.classes, "present", rich=0, adjuncts=False)
        slots = {"content": Embedded("to", content)}
        seem = Clause(verb=FRAMES["raising"][0], subject=subject, tense=tense, slots=slots)
        return replace(self._matrix("that", "that", seem), tense=tense) if self.chance(0.35) else seem

    def _two_predicates(self) -> Clause:
        """Compose a subject with two predicates; in a subordinate clause, each German predicate ends in its verb."""
        tense, subject = self.weighted(TENSES), self.someone()
        number = subject.agreement[1]
        first = second = self.predicate(subject.classes, tense, rich=0, number=number)
        while first.verb == second.verb:
            second = self.predicate(subject.classes, tense, rich=0, number=number)
        first.drop("time", "often", "sentence")
        first.subject, first.joined = subject, second.drop("sentence")
        if self.chance(0.4):
            return replace(self._matrix("that", "that", first), tense="past" if tense == "past" else "present")
        return self._with_adverb_in_front(first, "time") if self.chance(0.25) else first

    def _two_clauses(self) -> Clause:
        tense = self.weighted(TENSES)
        clause, second = (self.clause(tense=tense, rich=0) for _ in range(2))
        return replace(clause, joined=second, conjunction="and" if self.chance(0.5) else "but")

    def _existence(self) -> Clause:
        phrase = self.phrase("person", "animal", "thing", "building", "vehicle")
        usual = self.chance(0.7)
        determiner = {"sg": "a" if usual else "no", "pl": "many" if usual else "some"}[phrase.number]
        modifiers = tuple(part for part in phrase.modifiers if part.link.german)  # without "of ..."
        determiner = "" if phrase.count else determiner
        phrase = replace(phrase, determiner=determiner, owner=None, modifiers=modifiers)
        place = self.place("place", "surface") if "thing" in phrase.classes else self.place()
        slots = {"object": phrase, "place": place}
        tense = self.weighted(_PRESENT_OR_PAST)
        return Clause(verb=FRAMES["existence"][0], subject=pronouns("there")[0], tense=tense, slots=slots)

    def _antecedent(self) -> Clause:
        """Compose a pronoun with an inanimate antecedent: English has `it`, German the gender of the noun."""
        tense = self.weighted(_PRESENT_OR_PAST)
        verbs = [verb for verb in FRAMES["transitive"] if "person" in verb.subjects and "person" not in verb.takes]
        verb = self.pick(verbs)
        antecedent = replace(self.phrase(*verb.takes, rich=0), adjectives=())
        fitting = adjectives_for(antecedent.word)
        if not fitting:
            return self._simple()
        state = Clause(verb=FRAMES["copula"][0], subject=pronoun_for(antecedent), tense=tense)
        state.slots["complement"] = self.graded(fitting)
        reason = Embedded(self.pick(("because", "although")), state)
        clause = Clause(verb=verb, subject=self.someone(rich=0), tense=tense, slots={"object": antecedent})
        self.varied(clause, antecedent).slots["adverbial"] = reason
        return clause

    def _purpose(self) -> Clause:
        """Compose an adverbial infinitive: in order to do something, or without doing it."""
        tense, subject = self.weighted(_PRESENT_OR_PAST), self.someone()
        clause = self.active(tense, subject=subject, rich=0, plain=True)
        while clause.verb.english.base in words("stative"):
            clause = self.active(tense, subject=subject, rich=0, plain=True)
        clause.drop("often", "sentence", "manner")
        marker = "without" if self.chance(0.4) else "in order"
        clause.slots["purpose"] = self._controlled(marker, excluded=clause.verb.english.base)
        if marker == "in order" and self.chance(0.25):
            clause.front = "purpose"
        return clause


def pronoun_for(nominal: Nominal) -> Nominal | None:
    """Return a pronoun that refers to a nominal, or None if the languages differ in its gender (child)."""
    if isinstance(nominal.word, Pronoun):
        return nominal
    if nominal.agreement[1] == "pl":
        return Nominal(word=PRONOUNS["they"])
    pronoun = {"m": PRONOUNS["he"], "f": PRONOUNS["she"], "n": PRONOUNS["it"]}
    if isinstance(nominal.word, Name):
        return Nominal(word=pronoun[nominal.word.gender])
    if nominal.determiner == "every" and nominal.owner is None:
        return None
    if "person" not in nominal.classes:
        return Nominal(word=PRONOUNS["it"], antecedent=nominal.word.gender)
    return None if nominal.word.gender == "n" else Nominal(word=pronoun[nominal.word.gender])
