"""Clauses and sentences in German, with dependencies.

A clause consists of topological fields: the prefield, the finite verb (second, or last after a conjunction or relative
pronoun), the pronouns, the middle field, the final verbs, and extraposed clauses.
"""

from dataclasses import replace

from nmtcore.demo.german.fields import (
    Fields,
    Slots,
    direct_object,
    indefinite,
    kein_somewhere,
    owned_by_relative,
    takes_kein,
)
from nmtcore.demo.german.inflection import (
    SEIN,
    reflexive_word,
    verb_word,
)
from nmtcore.demo.german.phrases import (
    GermanPhrases,
    adverb,
    adverb_word,
    comma,
    conjunction_word,
    predicative,
    split_clause,
)
from nmtcore.demo.german.verbs import hang_verbs, verb_chain
from nmtcore.demo.lexicon.entries import Adverb, GermanVerb, Link
from nmtcore.demo.lexicon.modifiers import SUBORDINATORS
from nmtcore.demo.meaning import (
    Clause,
    Compared,
    Existence,
    Graded,
    Interrogative,
    Nominal,
    NounPhrase,
    Predicate,
    Prepositional,
    Pronoun,
    Purpose,
    Question,
    Relative,
    Sentence,
    Subordinate,
    verb_agreement,
    wh_role,
)
from nmtcore.demo.trees import Phrase, Word, attach, punctuation

_CONJUNCTIONS = {"and": "und", "but": "aber"}
_TO_SOMEONE = ("send", "sell")
"""English verbs whose "to" is German "an"; with all others, the recipient is a dative."""
_AN = Link(english="to", german="an", case="acc")


class German(GermanPhrases):
    """Realises the abstract syntax in German; the verbs of the clause `disagreeing` have the wrong number."""

    def __init__(self, *, disagreeing: Clause | None = None) -> None:
        self._disagreeing = disagreeing

    def sentence(self, meaning: Sentence) -> list[Word]:
        """Return the words of a sentence in their order."""
        phrases = [self._main(clause, question=meaning.question) for clause in meaning.clauses]
        root = phrases[0].head
        words = phrases[0].words
        for phrase in phrases[1:]:
            conjunction = conjunction_word(_CONJUNCTIONS[meaning.conjunction], head=phrase.head)
            separator = [comma(phrase.head)] if meaning.conjunction == "but" else []
            words = [*words, *separator, conjunction, *attach(phrase, head=root, deprel="conj")]
        return [*words, punctuation("?" if meaning.question else ".", head=root, xpos="$.")]

    def _main(self, meaning: Clause | Existence, *, question: bool) -> Phrase:
        if isinstance(meaning, Existence):
            return self._existence(meaning)
        first, *others = self._predicates(meaning, final=False)
        head = first.head
        subject = self._subject(meaning, head=head)
        front = self._front(meaning, head=head)
        finite, rest = first.second()
        if front or (question and wh_role(meaning) != "subject"):
            words = [*front, finite, *_inverted(meaning.subject, subject, first), *first.middle, *rest]
        else:
            words = [*subject, finite, *first.reflexive, *first.pronouns, *first.middle, *rest]
        for other in others:
            finite, rest = other.second()
            phrase = [finite, *other.reflexive, *other.pronouns, *other.middle, *rest]
            words += _conjoined(other.head, phrase, head=head, conjunction=meaning.conjunction)
        return Phrase(head=head, words=words)

    def final_clause(self, meaning: Clause) -> Phrase:
        """Realise a subordinate clause, whose finite verb is last, without its conjunction."""
        first, *others = self._predicates(meaning, final=True)
        head = first.head
        subject = self._subject(meaning, head=head)
        front = self._front(meaning, head=head)
        if isinstance(meaning.subject, (Relative, Interrogative)) or owned_by_relative(meaning.subject):
            words = [*subject, *first.final()]
        else:
            words = [*front, *_inverted(meaning.subject, subject, first), *first.middle, *first.verbs, *first.after]
        for other in others:
            words += _conjoined(other.head, other.final(), head=head, conjunction=meaning.conjunction)
        return Phrase(head=head, words=words)

    def relative_clause(self, meaning: Clause) -> Phrase:
        """Realise a relative clause without its commas."""
        return self.final_clause(meaning)

    def _predicates(self, meaning: Clause, *, final: bool) -> list[Fields]:
        agree = verb_agreement(meaning, disagreeing=self._disagreeing)
        return [self._fields(part, form="fin", agree=agree, final=final) for part in meaning.predicates]

    def _subject(self, meaning: Clause, *, head: Word) -> list[Word]:
        deprel = "nsubj:pass" if meaning.predicates[0].passive else "nsubj"
        return attach(self.nominal(meaning.subject, case="nom"), head=head, deprel=deprel)

    def _front(self, meaning: Clause, *, head: Word) -> list[Word]:
        """Realise the prefield, or the question or relative word before the subject of an embedded clause."""
        fronted_object = meaning.predicates[0].object
        if isinstance(fronted_object, (Relative, Interrogative)) or (
            isinstance(fronted_object, NounPhrase) and fronted_object.determiner == "which"
        ):
            return attach(self.nominal(fronted_object, case="acc"), head=head, deprel="obj")
        front = meaning.front
        if front is None:
            return []
        if isinstance(front, Question):
            return attach(adverb_word(front.german, xpos="PWAV", PronType="Int"), head=head, deprel="advmod")
        if isinstance(front, (Subordinate, Purpose)):
            return self._clausal(front, head=head)[1:]
        return self._adjunct(front, head=head)

    def _adjunct(self, meaning: Adverb | Prepositional, *, head: Word) -> list[Word]:
        if isinstance(meaning, Adverb):
            return attach(adverb(meaning), head=head, deprel="advmod")
        return attach(self.prepositional(meaning), head=head, deprel="obl")

    def _clausal(self, meaning: Subordinate | Purpose, *, head: Word) -> list[Word]:
        """Realise an adverbial clause or infinitive between commas."""
        if isinstance(meaning, Subordinate):
            phrase = self.final_clause(meaning.clause)
            past = meaning.clause.predicates[0].tense in ("past", "pluperfect")
            form = "als" if meaning.marker == "when" and past else SUBORDINATORS[meaning.marker]
            marker = _marker(form, xpos="KOUS")
        else:
            phrase = self._infinitive(meaning.predicate)
            marker = _marker("ohne" if meaning.negative else "um", xpos="KOUI")
        phrase.words[:0] = attach(marker, head=phrase.head, deprel="mark")
        return self.set_off(phrase, head=head, deprel="advcl")

    def _infinitive(self, meaning: Predicate) -> Phrase:
        fields = self._fields(meaning, form="zu", agree=(3, "sg"), final=True)
        return Phrase(head=fields.head, words=fields.final())

    def _fields(self, meaning: Predicate, *, form: str, agree: tuple[int, str], final: bool) -> Fields:
        """Realise a verb phrase whose outermost verb has `form` fin or zu; `final` puts a finite verb last."""
        chain = verb_chain(meaning, form=form, agree=agree, final=final)
        main = chain[0][0]
        complement = self._complement(meaning)
        head = complement.head if complement else main
        fields = Fields(head=head, verbs=hang_verbs(chain, head=head))
        verb = meaning.verb.german if meaning.verb else SEIN
        if form == "fin" and not final and len(chain) == 1 and verb.prefix:
            fields.particle = [_particle(verb.prefix, head=head)]
        if verb.reflexive:
            fields.reflexive = attach(reflexive_word(*agree), head=head, deprel="expl:pv")  # type: ignore[arg-type]
        if form == "zu":
            self._insert_zu(fields, chain)
        bracket = final or len(chain) > 1 or bool(fields.particle)
        fields.middle = self._middle(meaning, fields, bracket=bracket)
        if complement:
            fields.middle += complement.words
        self._after(meaning, fields)
        return fields

    def _insert_zu(self, fields: Fields, chain: list[tuple[Word, GermanVerb]]) -> None:
        """Insert zu before the outermost infinitive, unless a separable verb contains it."""
        if not chain[-1][1].prefix:
            zu = Word(form="zu", lemma="zu", upos="PART", xpos="PTKZU", deprel="mark", head=fields.head)
            fields.verbs.insert(len(fields.verbs) - 1, zu)

    def _complement(self, meaning: Predicate) -> Phrase | None:
        complement = meaning.complement
        if complement is None:
            return None
        if isinstance(complement, Graded):
            return predicative(complement)
        if isinstance(complement, Compared):
            return self.comparison(complement)
        if meaning.negated and takes_kein(complement):
            complement = replace(complement, determiner="no")
        return self.noun_phrase(complement, case="nom")

    def _middle(self, meaning: Predicate, fields: Fields, *, bracket: bool) -> list[Word]:
        """Realise the middle field: times, recipient, places and tools, object, nicht, manner, arguments."""
        head = fields.head
        adjuncts = Slots(meaning.adjuncts)
        words = [word for part in adjuncts.early for word in self._adjunct(part, head=head)]
        if meaning.progressive:
            words += attach(adverb_word("gerade"), head=head, deprel="advmod")
        recipient = self._recipient(meaning, fields)
        shifted = bool(recipient) and recipient[0].lemma == "an"
        words += [] if shifted else recipient
        for part in adjuncts.places:
            words += self._adjunct(part, head=head)
        direct = self._object(meaning, fields, bracket=bracket)
        gladly = attach(adverb_word("gern"), head=head, deprel="advmod") if meaning.attitude == "like" else []
        manner = [word for part in adjuncts.manner for word in self._adjunct(part, head=head)]
        if indefinite(meaning.object):
            words += gladly + manner + direct
            manner = []
        else:
            words += direct + gladly
        words += recipient if shifted else []
        if meaning.negated and not kein_somewhere(meaning):
            words += attach(Word(form="nicht", lemma="nicht", upos="PART", xpos="PTKNEG"), head=head, deprel="advmod")
        words += manner
        if meaning.phrase is not None and meaning.phrase.link.german:
            words += self._last(self.prepositional(meaning.phrase), fields, deprel="obl", move=bracket)
        return words

    def _recipient(self, meaning: Predicate, fields: Fields) -> list[Word]:
        """Realise the recipient; a pronoun is added to the other pronouns instead."""
        nominal = meaning.recipient
        if nominal is None:
            return []
        if meaning.shifted and meaning.verb is not None and meaning.verb.english.base in _TO_SOMEONE:
            return self._adjunct(Prepositional(link=_AN, nominal=nominal), head=fields.head)
        words = attach(self.nominal(nominal, case="dat"), head=fields.head, deprel="iobj")
        return self._unless_pronoun(nominal, words, fields, first=False)

    def _unless_pronoun(self, nominal: Nominal, words: list[Word], fields: Fields, *, first: bool) -> list[Word]:
        if not isinstance(nominal, Pronoun):
            return words
        fields.pronouns = words + fields.pronouns if first else fields.pronouns + words
        return []

    def _object(self, meaning: Predicate, fields: Fields, *, bracket: bool) -> list[Word]:
        """Realise the object unless it is in front; its relative clause may follow the final verbs."""
        nominal, case = direct_object(meaning)
        if nominal is None or isinstance(nominal, (Relative, Interrogative)):
            return []
        if isinstance(nominal, NounPhrase):
            if nominal.determiner == "which":
                return []
            if meaning.negated and takes_kein(nominal):
                nominal = replace(nominal, determiner="no")
        last = meaning.phrase is None or not meaning.phrase.link.german
        phrase = self.nominal(nominal, case=case)
        words = self._last(phrase, fields, deprel="obj", move=bracket and last)
        return self._unless_pronoun(nominal, words, fields, first=True)

    def _last(self, phrase: Phrase, fields: Fields, *, deprel: str, move: bool) -> list[Word]:
        """Attach the last phrase of the middle field; if `move`, its relative clause follows the final verbs."""
        words, clause = split_clause(phrase) if move else (phrase.words, [])
        fields.after += clause
        attach(phrase, head=fields.head, deprel=deprel)
        return words

    def _after(self, meaning: Predicate, fields: Fields) -> None:
        """Add the clauses and infinitives that follow the final verbs; the infinitive of scheinen precedes them."""
        content = meaning.content
        if isinstance(content, Predicate):
            if meaning.verb is not None and meaning.verb.frame == "raising":
                inner = self._fields(content, form="zu", agree=(3, "sg"), final=True)
                inner.head.head, inner.head.deprel = fields.head, "xcomp"
                fields.middle += inner.reflexive + inner.pronouns + inner.middle + inner.verbs
                fields.after += inner.after
            else:
                fields.after += self.set_off(self._infinitive(content), head=fields.head, deprel="xcomp")
        elif content is not None:
            phrase = self.final_clause(content)
            if meaning.marker:
                form = "ob" if meaning.marker == "whether" else "dass"
                phrase.words[:0] = attach(_marker(form, xpos="KOUS"), head=phrase.head, deprel="mark")
            fields.after += self.set_off(phrase, head=fields.head, deprel="ccomp")
        for part in meaning.adjuncts:
            if isinstance(part, (Subordinate, Purpose)):
                fields.after += self._clausal(part, head=fields.head)

    def _existence(self, meaning: Existence) -> Phrase:
        verb = GermanVerb(infinitive="geben", present="gibt", past="gab", participle="gegeben")
        head = verb_word(verb, form="fin", past=meaning.tense == "past")
        place = attach(self.prepositional(meaning.place), head=head, deprel="obl")
        expletive = self.nominal(Pronoun(person=3, number="sg"), case="nom")
        words = [*place, head, *attach(expletive, head=head, deprel="expl")]
        return Phrase(
            head=head, words=words + attach(self.nominal(meaning.nominal, case="acc"), head=head, deprel="obj")
        )


def _inverted(meaning: Nominal, subject: list[Word], fields: Fields) -> list[Word]:
    """Order the subject and the pronouns after the verb or conjunction: a pronoun subject, pronouns, a noun subject.

    A noun subject precedes object pronouns that could be read as subjects (sie, es).
    """
    if isinstance(meaning, Pronoun):
        return subject + fields.reflexive + fields.pronouns
    if any(word.form in ("sie", "es") for word in fields.pronouns):
        return fields.reflexive + subject + fields.pronouns
    return fields.reflexive + fields.pronouns + subject


def _conjoined(part: Word, words: list[Word], *, head: Word, conjunction: str) -> list[Word]:
    attach(part, head=head, deprel="conj")
    separator = [comma(part)] if conjunction == "but" else []
    return [*separator, conjunction_word(_CONJUNCTIONS[conjunction], head=part), *words]


def _marker(form: str, *, xpos: str) -> Word:
    return Word(form=form, lemma=form, upos="SCONJ", xpos=xpos)


def _particle(prefix: str, *, head: Word) -> Word:
    return Word(form=prefix, lemma=prefix, upos="ADP", xpos="PTKVZ", deprel="compound:prt", head=head)
