"""Noun phrases and prepositional phrases in English, with dependencies and CCG categories."""

from nmtcore.demo.english.inflection import determiner_word, pronoun_word
from nmtcore.demo.lexicon.entries import Adverb
from nmtcore.demo.meaning import (
    Clause,
    Compared,
    Graded,
    Interrogative,
    Joined,
    Named,
    Nominal,
    NounPhrase,
    Prepositional,
    Pronoun,
    Relative,
)
from nmtcore.demo.trees import Phrase, Word, attach, feats

VP_AFTER = "(S\\NP)\\(S\\NP)"
VP_BEFORE = "(S\\NP)/(S\\NP)"
PP_CATEGORY = {"noun": "(NP\\NP)/NP", "verb": f"({VP_AFTER})/NP", "argument": "PP/NP", "front": "(S/S)/NP"}
"""Categories of prepositions by the use of their phrase."""


class EnglishPhrases:
    """Realises noun phrases and their modifiers; `English` adds clauses."""

    def relative_clause(self, meaning: Clause) -> Phrase:
        """Realise a relative clause."""
        raise NotImplementedError

    def nominal(self, meaning: Nominal, *, role: str) -> Phrase:
        """Realise a nominal as `subject` or `object`."""
        if isinstance(meaning, Pronoun):
            word = pronoun_word(meaning, role=role)
            return Phrase(head=word, words=[word])
        if isinstance(meaning, Named):
            return _name(meaning)
        if isinstance(meaning, Joined):
            return self._joined(meaning, role=role)
        if isinstance(meaning, Interrogative):
            word = _wh_word("who" if meaning.person else "what", pron_type="Int", xpos="WP")
            return Phrase(head=word, words=[word])
        if isinstance(meaning, Relative):
            person = "person" in meaning.noun.classes
            word = (
                _wh_word("who", pron_type="Rel", xpos="WP") if person else _wh_word("that", pron_type="Rel", xpos="WDT")
            )
            return Phrase(head=word, words=[word])
        return self.noun_phrase(meaning)

    def _joined(self, meaning: Joined, *, role: str) -> Phrase:
        first = self.nominal(meaning.first, role=role)
        second = self.nominal(meaning.second, role=role)
        conjunction = conjunction_word("and", head=second.head)
        return Phrase(
            head=first.head, words=[*first.words, conjunction, *attach(second, head=first.head, deprel="conj")]
        )

    def noun_phrase(self, meaning: NounPhrase) -> Phrase:
        """Realise a noun with its determiner or owner, adjectives, prepositional phrases and relative clause."""
        inner = _noun(meaning)
        head = inner.head
        for graded in reversed(meaning.adjectives):
            inner.words[:0] = attach(adjective(graded, ccg="N/N"), head=head, deprel="amod")
        if meaning.count:
            number = Word(form=meaning.count[0], lemma=meaning.count[0], upos="NUM", xpos="CD", ccg="N/N")
            number.feats = feats(NumForm="Word", NumType="Card")
            inner.words[:0] = attach(number, head=head, deprel="nummod")
        words = self._determiner(meaning, head=head, following=inner.words[0].form) + inner.words
        if meaning.genitive:
            words += self._of(meaning.genitive, head=head)
        for modifier in meaning.modifiers:
            phrase = self.prepositional(modifier, use="noun")
            words += attach(phrase, head=head, deprel="nmod")
        if meaning.clause:
            words += attach(self.relative_clause(meaning.clause), head=head, deprel="acl:relcl")
        return Phrase(head=head, words=words)

    def _determiner(self, meaning: NounPhrase, *, head: Word, following: str) -> list[Word]:
        owner = meaning.owner
        if owner is None:
            if not meaning.determiner:
                return []
            word = determiner_word(meaning.determiner, number=meaning.number, following=following)
            return attach(word, head=head, deprel="det")
        if isinstance(owner, Pronoun):
            return attach(pronoun_word(owner, role="owner"), head=head, deprel="nmod:poss")
        if isinstance(owner, Relative):
            word = Word(
                form="whose", lemma="whose", upos="PRON", xpos="WP$", feats=feats(Poss="Yes", PronType="Rel"),
                ccg="((NP\\NP)/(S[dcl]\\NP))/N",
            )  # fmt: skip
            return attach(word, head=head, deprel="nmod:poss")
        phrase = self.nominal(owner, role="object")
        mark = Word(form="'s", lemma="'s", upos="PART", xpos="POS", ccg="(NP/N)\\NP", deprel="case", head=phrase.head)
        return [*attach(phrase, head=head, deprel="nmod:poss"), mark]

    def _of(self, meaning: NounPhrase, *, head: Word) -> list[Word]:
        phrase = self.nominal(meaning, role="object")
        word = case_words("of", use="noun", head=phrase.head)
        return word + attach(phrase, head=head, deprel="nmod")

    def prepositional(self, meaning: Prepositional, *, use: str) -> Phrase:
        """Realise a prepositional phrase, headed by its noun, for one of the uses of `PP_CATEGORY`."""
        phrase = self.nominal(meaning.nominal, role="object")
        if not meaning.link.english:
            return phrase
        return Phrase(
            head=phrase.head, words=case_words(meaning.link.english, use=use, head=phrase.head) + phrase.words
        )

    def comparison(self, meaning: Compared) -> Phrase:
        """Realise `older than ...` as the complement of the copula."""
        ccg = "S[adj]\\NP"
        form = meaning.adjective.english_more
        if form == "more":
            word = adjective(Graded(adjective=meaning.adjective), ccg=ccg).head
            more = Word(
                form="more", lemma="more", upos="ADV", xpos="RBR", feats=feats(Degree="Cmp"), ccg=f"({ccg})/({ccg})"
            )
            words = [*attach(more, head=word, deprel="advmod"), word]
        else:
            word = Word(
                form=form, lemma=meaning.adjective.english, upos="ADJ", xpos="JJR", feats=feats(Degree="Cmp"), ccg=ccg
            )
            words = [word]
        than = self.nominal(meaning.than, role="object")
        case = Word(form="than", lemma="than", upos="ADP", xpos="IN", ccg=f"(({ccg})\\({ccg}))/NP", deprel="case")
        case.head = than.head
        return Phrase(head=word, words=[*words, case, *attach(than, head=word, deprel="obl")])


def _wh_word(form: str, *, pron_type: str, xpos: str) -> Word:
    return Word(form=form, lemma=form, upos="PRON", xpos=xpos, feats=feats(PronType=pron_type))


def _name(meaning: Named) -> Phrase:
    word = Word(
        form=meaning.name.english,
        lemma=meaning.name.english,
        upos="PROPN",
        xpos="NNP",
        feats=feats(Number="Sing"),
        ccg="N",
    )
    return Phrase(head=word, words=[word])


def conjunction_word(form: str, *, head: Word) -> Word:
    """Return a coordinating conjunction attached to `head`, the second conjunct."""
    return Word(form=form, lemma=form, upos="CCONJ", xpos="CC", ccg="conj", deprel="cc", head=head)


def _noun(meaning: NounPhrase) -> Phrase:
    *compound, last = meaning.noun.english[meaning.number == "pl"].split("_")
    lemma = meaning.noun.english[0].split("_")[-1]
    plural = meaning.number == "pl"
    head = Word(
        form=last,
        lemma=lemma,
        upos="NOUN",
        xpos="NNS" if plural else "NN",
        feats=feats(Number="Plur" if plural else "Sing"),
        ccg="N",
    )
    words = [
        Word(
            form=form, lemma=form, upos="NOUN", xpos="NN", feats=feats(Number="Sing"), ccg="N/N", deprel="compound",
            head=head,
        )
        for form in compound
    ]  # fmt: skip
    return Phrase(head=head, words=[*words, head])


def case_words(english: str, *, use: str, head: Word) -> list[Word]:
    """Return the preposition of the phrase headed by `head`, for one of the uses of `PP_CATEGORY`."""
    first, *rest = english.split()
    ccg = PP_CATEGORY[use]
    if rest:
        ccg = ccg.removesuffix("NP") + "PP"
    word = Word(form=first, lemma=first, upos="ADP", xpos="IN", ccg=ccg, deprel="case", head=head)
    fixed = [
        Word(form=form, lemma=form, upos="ADP", xpos="IN", ccg="PP/NP", deprel="fixed", head=word) for form in rest
    ]
    return [word, *fixed]


def adverb(entry: Adverb, *, ccg: str) -> Word:
    """Return an adverb of category `ccg`."""
    return Word(form=entry.english, lemma=entry.english, upos="ADV", xpos="RB", ccg=ccg)


def adjective(meaning: Graded, *, ccg: str) -> Phrase:
    """Realise an adjective with its degree; `ccg` is N/N before a noun, S[adj]\\NP after the copula."""
    form = meaning.adjective.english
    word = Word(form=form, lemma=form, upos="ADJ", xpos="JJ", feats=feats(Degree="Pos"), ccg=ccg)
    if meaning.degree is None:
        return Phrase(head=word, words=[word])
    degree = adverb(meaning.degree, ccg=f"({ccg})/({ccg})")
    return Phrase(head=word, words=[*attach(degree, head=word, deprel="advmod"), word])
