"""Clauses and sentences in English, with dependencies and CCG categories."""

from dataclasses import replace

from nmtcore.demo.english.inflection import BE, LIKE, WANT, verb_word
from nmtcore.demo.english.phrases import (
    PP_CATEGORY,
    VP_AFTER,
    VP_BEFORE,
    EnglishPhrases,
    adjective,
    adverb,
    conjunction_word,
)
from nmtcore.demo.english.verbs import categorise, category, hang_auxiliaries, verb_chain
from nmtcore.demo.lexicon.entries import Adverb
from nmtcore.demo.meaning import (
    Adjunct,
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
    agreement,
    verb_agreement,
    wh_role,
)
from nmtcore.demo.trees import Phrase, Word, attach, feats, punctuation

_MIDDLE = ("often", "sentence")
_CLAUSE_CATEGORY = {"that": "S[em]", "bare": "S[dcl]", "whether": "S[qem]", "": "S[qem]"}

Argument = tuple[str, list[Word]]
"""The category that the verb expects, and the words (none if a relative or question word in front replaces them)."""


class English(EnglishPhrases):
    """Realises the abstract syntax in English; the verbs of the clause `disagreeing` have the wrong number."""

    def __init__(self, *, disagreeing: Clause | None = None) -> None:
        self._disagreeing = disagreeing

    def sentence(self, meaning: Sentence) -> list[Word]:
        """Return the words of a sentence in their order."""
        phrases = [self._main(clause, question=meaning.question) for clause in meaning.clauses]
        root = phrases[0].head
        words = phrases[0].words
        for phrase in phrases[1:]:
            comma = punctuation(",", head=phrase.head, xpos=",")
            conjunction = conjunction_word(meaning.conjunction, head=phrase.head)
            words = [*words, comma, conjunction, *attach(phrase, head=root, deprel="conj")]
        return [*words, punctuation("?" if meaning.question else ".", head=root, xpos=".")]

    def _main(self, meaning: Clause | Existence, *, question: bool) -> Phrase:
        if isinstance(meaning, Existence):
            return self._existence(meaning)
        return self.question(meaning) if question else self.statement(meaning)

    def statement(self, meaning: Clause) -> Phrase:
        """Realise a clause in the order of a statement, which is also that of a subordinate clause."""
        phrase = self._verb_phrases(meaning)
        subject = self._subject(meaning, head=phrase.head)
        return Phrase(head=phrase.head, words=self._front(meaning, head=phrase.head) + subject + phrase.words)

    def question(self, meaning: Clause) -> Phrase:
        """Realise a direct question: the auxiliary precedes the subject unless the question word is the subject."""
        role = wh_role(meaning)
        if role == "subject":
            return self._wh_subject(meaning, wh_category=category("S[wq]", "S[dcl]\\NP"))
        subject = self.nominal(meaning.subject, role="subject")
        agree = verb_agreement(meaning, disagreeing=self._disagreeing)
        phrase = self.predicate(meaning.predicates[0], form="q", agree=agree, inverted=subject)
        attach(subject, head=phrase.head, deprel=_subject_relation(meaning))
        categories = {"object": category("S[wq]", "S[q]/NP"), "front": category("S[wq]", "S[q]")}
        words = self._wh(meaning, phrase.head, wh_category=categories.get(role or "", ""))
        return Phrase(head=phrase.head, words=words + phrase.words)

    def embedded_question(self, meaning: Clause) -> Phrase:
        """Realise an indirect question that begins with a question word."""
        role = wh_role(meaning)
        if role == "subject":
            return self._wh_subject(meaning, wh_category=category("S[qem]", "S[dcl]\\NP"))
        phrase = self.statement(replace(meaning, front=None))
        categories = {"object": category("S[qem]", "S[dcl]/NP"), "front": category("S[qem]", "S[dcl]")}
        words = self._wh(meaning, phrase.head, wh_category=categories[role or ""])
        return Phrase(head=phrase.head, words=words + phrase.words)

    def relative_clause(self, meaning: Clause) -> Phrase:
        """Realise a relative clause; its pronoun is the subject, the object, an owner, or part of a phrase in front."""
        if isinstance(meaning.subject, Relative):
            return self._wh_subject(meaning, wh_category=category("NP\\NP", "S[dcl]\\NP"))
        relative = meaning.predicates[0].object
        phrase = self.statement(replace(meaning, front=None))
        if isinstance(relative, Relative):
            pronoun = self.nominal(relative, role="object")
            pronoun.head.ccg = category("NP\\NP", "S[dcl]/NP")
            phrase.words[:0] = attach(pronoun, head=phrase.head, deprel="obj")
        elif meaning.front is not None:
            phrase.words[:0] = self._in_which(meaning, head=phrase.head)
        return phrase

    def _in_which(self, meaning: Clause, *, head: Word) -> list[Word]:
        front = meaning.front
        assert isinstance(front, Prepositional)
        pronoun = Word(form="which", lemma="which", upos="PRON", xpos="WDT", feats=feats(PronType="Rel"))
        pronoun.ccg = "((NP\\NP)/S[dcl])\\((NP\\NP)/NP)"
        case = Word(form=front.link.english, lemma=front.link.english, upos="ADP", xpos="IN", ccg="(NP\\NP)/NP")
        return [*attach(case, head=pronoun, deprel="case"), *attach(pronoun, head=head, deprel="obl")]

    def _wh_subject(self, meaning: Clause, *, wh_category: str) -> Phrase:
        """Realise a clause whose subject begins with the relative or question word, of category `wh_category`."""
        phrase = self.statement(meaning)
        subject = phrase.words[0]
        determiner = isinstance(meaning.subject, NounPhrase)
        subject.ccg = f"({wh_category})/N" if determiner else wh_category
        return phrase

    def _wh(self, meaning: Clause, head: Word, *, wh_category: str) -> list[Word]:
        if isinstance(meaning.front, Question):
            form = meaning.front.english
            word = Word(form=form, lemma=form, upos="ADV", xpos="WRB", feats=feats(PronType="Int"), ccg=wh_category)
            return attach(word, head=head, deprel="advmod")
        question_object = meaning.predicates[0].object
        if not _gap(question_object):
            return []
        phrase = self.nominal(question_object, role="object")  # type: ignore[arg-type]
        phrase.words[0].ccg = f"({wh_category})/N" if isinstance(question_object, NounPhrase) else wh_category
        return attach(phrase, head=head, deprel="obj")

    def _subject(self, meaning: Clause, *, head: Word) -> list[Word]:
        subject = self.nominal(meaning.subject, role="subject")
        return attach(subject, head=head, deprel=_subject_relation(meaning))

    def _front(self, meaning: Clause, *, head: Word) -> list[Word]:
        if meaning.front is None:
            return []
        if isinstance(meaning.front, Adverb):
            words = attach(adverb(meaning.front, ccg="S/S"), head=head, deprel="advmod")
            separated = meaning.front.slot == "sentence" and meaning.front.english != "perhaps"
            return [*words, punctuation(",", head=words[0], xpos=",")] if separated else words
        words = self._adjunct(meaning.front, head=head, use="front")
        owner = words[0].head if isinstance(meaning.front, Prepositional) else _clause_head(words, head)
        return [*words, punctuation(",", head=owner or head, xpos=",")]

    def _verb_phrases(self, meaning: Clause) -> Phrase:
        """Realise the predicates of a statement under their conjunction."""
        agree = verb_agreement(meaning, disagreeing=self._disagreeing)
        first, *others = [self.predicate(part, form="dcl", agree=agree) for part in meaning.predicates]
        for other in others:
            conjunction = conjunction_word(meaning.conjunction, head=other.head)
            first.words += [conjunction, *attach(other, head=first.head, deprel="conj")]
        return first

    def predicate(
        self, meaning: Predicate, *, form: str, agree: tuple[int, str], inverted: Phrase | None = None
    ) -> Phrase:
        """Realise a verb phrase of category S[form]\\NP, or a question if its subject is `inverted`."""
        if meaning.attitude:
            return self._attitude(meaning, form=form, agree=agree, inverted=inverted)
        chain = verb_chain(meaning, form=form, agree=agree, support=inverted is not None or meaning.negated)
        main = chain[-1][0]
        head, arguments = self._arguments(meaning, main=main)
        categorise(chain, arguments=[expected for expected, _ in arguments], inverted=inverted is not None)
        hang_auxiliaries(chain, head=head, passive=meaning.passive)
        verbs = [word for word, _ in chain]
        words = self._interleave(meaning, verbs, head=head, subject=inverted.words if inverted else [])
        for _, argument in arguments:
            words += argument
        for adjunct in meaning.adjuncts:
            if not _in_middle(adjunct):
                words += self._adjunct(adjunct, head=head, use="verb")
        if form == "to":
            words.insert(0, _to(head))
        return Phrase(head=head, words=words)

    def _attitude(self, meaning: Predicate, *, form: str, agree: tuple[int, str], inverted: Phrase | None) -> Phrase:
        """Realise `wants to` or `likes to` before the verb phrase; German has a modal or an adverb."""
        verb = LIKE if meaning.attitude == "like" else WANT
        outer = replace(meaning, attitude="", adjuncts=tuple(filter(_in_middle, meaning.adjuncts)))
        inner = replace(
            meaning,
            attitude="",
            tense="present",
            negated=False,
            adjuncts=tuple(part for part in meaning.adjuncts if not _in_middle(part)),
        )
        chain = verb_chain(outer, form=form, agree=agree, support=inverted is not None or meaning.negated, verb=verb)
        head = chain[-1][0]
        categorise(chain, arguments=["S[to]\\NP"], inverted=inverted is not None)
        hang_auxiliaries(chain, head=head, passive=False)
        verbs = [word for word, _ in chain]
        words = self._interleave(outer, verbs, head=head, subject=inverted.words if inverted else [])
        phrase = self.predicate(inner, form="to", agree=agree)
        return Phrase(head=head, words=words + attach(phrase, head=head, deprel="xcomp"))

    def _interleave(self, meaning: Predicate, verbs: list[Word], *, head: Word, subject: list[Word]) -> list[Word]:
        """Insert the inverted subject, `not` and the adverbs of the middle field after the first auxiliary."""
        middle = [self._adjunct(part, head=head, use="middle")[0] for part in meaning.adjuncts if _in_middle(part)]
        if meaning.negated:
            negation = Word(form="not", lemma="not", upos="PART", xpos="RB", feats=feats(Polarity="Neg"), ccg=VP_AFTER)
            middle[:0] = attach(negation, head=head, deprel="advmod")
        first, *rest = verbs
        if rest or first.upos == "AUX":
            return [first, *subject, *middle, *rest]
        return [*middle, first]

    def _arguments(self, meaning: Predicate, *, main: Word) -> tuple[Word, list[Argument]]:
        """Return the head of the verb phrase (after a copula, its complement) and the arguments after the verb."""
        if meaning.complement is not None:
            phrase, expected = self._complement(meaning.complement)
            return phrase.head, [(expected, phrase.words)]
        arguments = self._objects(meaning, head=main)
        if meaning.phrase is not None:
            bare = not meaning.phrase.link.english
            phrase = self.prepositional(meaning.phrase, use="argument")
            arguments.append(("NP" if bare else "PP", attach(phrase, head=main, deprel="obj" if bare else "obl")))
        if meaning.content is not None:
            arguments.append(self._content(meaning, head=main))
        return main, arguments

    def _complement(self, complement: Graded | Compared | NounPhrase) -> tuple[Phrase, str]:
        if isinstance(complement, Graded):
            return adjective(complement, ccg="S[adj]\\NP"), "S[adj]\\NP"
        if isinstance(complement, Compared):
            return self.comparison(complement), "S[adj]\\NP"
        return self.noun_phrase(complement), "NP"

    def _objects(self, meaning: Predicate, *, head: Word) -> list[Argument]:
        arguments: list[Argument] = []
        direct_object = None if meaning.passive else meaning.object
        if direct_object is not None:
            phrase = None if _gap(direct_object) else self.nominal(direct_object, role="object")
            arguments.append(("NP", attach(phrase, head=head, deprel="obj") if phrase else []))
        if meaning.recipient is not None:
            recipient = self.nominal(meaning.recipient, role="object")
            if meaning.shifted:
                case = Word(form="to", lemma="to", upos="ADP", xpos="IN", ccg="PP/NP")
                words = attach(case, head=recipient.head, deprel="case") + recipient.words
                recipient = Phrase(head=recipient.head, words=words)
                arguments.append(("PP", attach(recipient, head=head, deprel="obl")))
            else:
                arguments.insert(0, ("NP", attach(recipient, head=head, deprel="iobj")))
        if meaning.verb is not None and meaning.verb.english.particle:
            form = meaning.verb.english.particle
            particle = Word(form=form, lemma=form, upos="ADP", xpos="RP", ccg="PR", head=head, deprel="compound:prt")
            at = len(arguments) if isinstance(direct_object, Pronoun) else 0
            arguments.insert(at, ("PR", [particle]))
        return arguments

    def _content(self, meaning: Predicate, *, head: Word) -> Argument:
        content = meaning.content
        if isinstance(content, Predicate):
            form = meaning.verb.infinitive if meaning.verb else "to"
            form = "ng" if form == "ing" else form
            phrase = self.predicate(content, form=form, agree=(3, "sg"))
            return f"S[{form}]\\NP", attach(phrase, head=head, deprel="xcomp")
        assert isinstance(content, Clause)
        expected = _CLAUSE_CATEGORY[meaning.marker]
        if meaning.marker == "":
            return expected, attach(self.embedded_question(content), head=head, deprel="ccomp")
        phrase = self.statement(content)
        if meaning.marker != "bare":
            phrase.words.insert(0, _marker(meaning.marker, head=phrase.head, ccg=f"{expected}/S[dcl]"))
        return expected, attach(phrase, head=head, deprel="ccomp")

    def _adjunct(self, meaning: Adjunct, *, head: Word, use: str) -> list[Word]:
        if isinstance(meaning, Adverb):
            ccg = VP_BEFORE if use == "middle" else VP_AFTER
            return attach(adverb(meaning, ccg=ccg), head=head, deprel="advmod")
        if isinstance(meaning, Prepositional):
            deprel = "obl:agent" if meaning.slot == "agent" else "obl"
            return attach(self.prepositional(meaning, use=use), head=head, deprel=deprel)
        result = PP_CATEGORY[use].removesuffix("/NP")
        if isinstance(meaning, Subordinate):
            phrase = self.statement(meaning.clause)
            marker = _marker(meaning.marker, head=phrase.head, ccg=f"{result}/S[dcl]")
            return [marker, *attach(phrase, head=head, deprel="advcl")]
        assert isinstance(meaning, Purpose)
        return self._purpose(meaning, head=head, result=result)

    def _purpose(self, meaning: Purpose, *, head: Word, result: str) -> list[Word]:
        form = "ng" if meaning.negative else "to"
        phrase = self.predicate(meaning.predicate, form=form, agree=(3, "sg"))
        if meaning.negative:
            words = [_marker("without", head=phrase.head, ccg=f"{result}/(S[ng]\\NP)")]
        else:
            first = _marker("in", head=phrase.head, ccg=f"{result}/NP")
            order = Word(form="order", lemma="order", upos="NOUN", xpos="NN", feats=feats(Number="Sing"))
            order.ccg = "N/(S[to]\\NP)"
            words = [first, *attach(order, head=first, deprel="fixed")]
        return [*words, *attach(phrase, head=head, deprel="advcl")]

    def _existence(self, meaning: Existence) -> Phrase:
        agree = agreement(meaning.nominal)
        verb = verb_word(BE, form="dcl", past=meaning.tense == "past", person=agree[0], number=agree[1])
        verb.ccg = category("S[dcl]\\NP[thr]", "PP", "NP")
        there = Word(form="there", lemma="there", upos="PRON", xpos="EX", ccg="NP[thr]", deprel="expl", head=verb)
        subject = attach(self.noun_phrase(meaning.nominal), head=verb, deprel="nsubj")
        place = attach(self.prepositional(meaning.place, use="argument"), head=verb, deprel="obl")
        return Phrase(head=verb, words=[there, verb, *subject, *place])


def _to(head: Word) -> Word:
    ccg = category("S[to]\\NP", "S[b]\\NP")
    return Word(form="to", lemma="to", upos="PART", xpos="TO", ccg=ccg, deprel="mark", head=head)


def _marker(form: str, *, head: Word, ccg: str) -> Word:
    upos, xpos = ("SCONJ", "WRB" if form == "when" else "IN")
    return Word(form=form, lemma=form, upos=upos, xpos=xpos, ccg=ccg, deprel="mark", head=head)


def _in_middle(adjunct: Adjunct) -> bool:
    return isinstance(adjunct, Adverb) and adjunct.slot in _MIDDLE


def _gap(nominal: Nominal | None) -> bool:
    """Return whether a nominal is realised in front of its clause."""
    if isinstance(nominal, NounPhrase):
        return nominal.determiner == "which"
    return isinstance(nominal, (Relative, Interrogative))


def _subject_relation(meaning: Clause) -> str:
    return "nsubj:pass" if meaning.predicates[0].passive else "nsubj"


def _clause_head(words: list[Word], head: Word) -> Word:
    """Return the word among `words` that is attached to `head`."""
    return next(word for word in words if word.head is head)
