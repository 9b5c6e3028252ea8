"""Noun phrases and prepositional phrases in German, with dependencies."""

from nmtcore.demo.german.inflection import (
    adjective_word,
    determiner_word,
    interrogative_word,
    nominal_feats,
    noun_word,
    personal_word,
    possessive_word,
    relative_word,
)
from nmtcore.demo.lexicon.entries import Adverb, Case, Gender, Number
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
from nmtcore.demo.trees import Phrase, Word, attach, feats, punctuation

_CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("von", "dem"): "vom",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("bei", "dem"): "beim",
}


class GermanPhrases:
    """Realises noun phrases and their modifiers; `German` adds clauses."""

    def relative_clause(self, meaning: Clause) -> Phrase:
        """Realise a relative clause without its commas."""
        raise NotImplementedError

    def nominal(self, meaning: Nominal, *, case: Case) -> Phrase:
        """Realise a nominal in a case."""
        if isinstance(meaning, NounPhrase):
            return self.noun_phrase(meaning, case=case)
        if isinstance(meaning, Joined):
            return self._joined(meaning, case=case)
        if isinstance(meaning, Pronoun):
            gender = meaning.german or meaning.gender
            word = personal_word(meaning.person, meaning.number, gender, case=case)
        elif isinstance(meaning, Named):
            word = _name(meaning, case=case)
        elif isinstance(meaning, Relative):
            word = relative_word(case=case, gender=meaning.noun.gender, number=meaning.number)
        else:
            assert isinstance(meaning, Interrogative)
            word = interrogative_word(person=meaning.person, case=case)
        return Phrase(head=word, words=[word])

    def _joined(self, meaning: Joined, *, case: Case) -> Phrase:
        first = self.nominal(meaning.first, case=case)
        second = self.nominal(meaning.second, case=case)
        words = [*first.words, conjunction_word("und", head=second.head)]
        return Phrase(head=first.head, words=words + attach(second, head=first.head, deprel="conj"))

    def noun_phrase(self, meaning: NounPhrase, *, case: Case) -> Phrase:
        """Realise a noun with its determiner or owner, adjectives, genitive, phrases and relative clause."""
        noun, number = meaning.noun, meaning.number
        head = noun_word(noun, case=case, number=number)
        words, declension = self._determiner(meaning, head=head, case=case)
        if meaning.count:
            count = Word(form=meaning.count[1], lemma=meaning.count[1], upos="NUM", xpos="CARD")
            count.feats = feats(NumType="Card")
            words += attach(count, head=head, deprel="nummod")
        for graded in meaning.adjectives:
            phrase = _attribute(graded, declension=declension, case=case, gender=noun.gender, number=number)
            words += attach(phrase, head=head, deprel="amod")
        words.append(head)
        if isinstance(meaning.owner, NounPhrase):
            words += attach(self.noun_phrase(meaning.owner, case="gen"), head=head, deprel="nmod")
        if meaning.genitive:
            words += attach(self.noun_phrase(meaning.genitive, case="gen"), head=head, deprel="nmod")
        for modifier in meaning.modifiers:
            words += attach(self.prepositional(modifier), head=head, deprel="nmod")
        if meaning.clause:
            words += self.set_off(self.relative_clause(meaning.clause), head=head, deprel="acl:relcl")
        return Phrase(head=head, words=words)

    def set_off(self, phrase: Phrase, *, head: Word, deprel: str) -> list[Word]:
        """Attach a clause to `head`, between commas."""
        before, after = (comma(phrase.head) for _ in range(2))
        return [before, *attach(phrase, head=head, deprel=deprel), after]

    def _determiner(self, meaning: NounPhrase, *, head: Word, case: Case) -> tuple[list[Word], str]:
        agree = {"case": case, "gender": meaning.noun.gender, "number": meaning.number}
        owner = meaning.owner
        if isinstance(owner, Pronoun):
            word, declension = possessive_word((owner.person, owner.number, owner.gender), **agree)
            return attach(word, head=head, deprel="det:poss"), declension
        if isinstance(owner, Relative):
            word = relative_word(case="gen", gender=owner.noun.gender, number=owner.number)
            return attach(word, head=head, deprel="nmod:poss"), "strong"
        if isinstance(owner, Named):
            return attach(_name(owner, case="gen"), head=head, deprel="nmod:poss"), "strong"
        determiner = "the" if owner is not None else meaning.determiner
        if not determiner:
            return [], "strong"
        word, declension = determiner_word(determiner, **agree)
        return attach(word, head=head, deprel="det"), declension

    def prepositional(self, meaning: Prepositional) -> Phrase:
        """Realise a prepositional phrase, headed by its noun; contract in dem unless the noun has a relative clause."""
        link = meaning.link
        phrase = self.nominal(meaning.nominal, case=link.case)
        if not link.german:
            return phrase
        case = Word(form=link.german, lemma=link.german, upos="ADP", xpos="APPR", deprel="case", head=phrase.head)
        words = phrase.words
        has_clause = isinstance(meaning.nominal, NounPhrase) and meaning.nominal.clause is not None
        contracted = _CONTRACTIONS.get((link.german, words[0].form))
        if contracted and words[0].xpos == "ART" and not has_clause:
            case.form, case.xpos, case.feats = contracted, "APPRART", words[0].feats
            words = words[1:]
        return Phrase(head=phrase.head, words=[case, *words])

    def comparison(self, meaning: Compared) -> Phrase:
        """Realise `älter als ...` as the complement of the copula."""
        adjective = meaning.adjective
        word = Word(form=adjective.german_more, lemma=adjective.german, upos="ADJ", xpos="ADJD")
        word.feats = feats(Degree="Cmp")
        than = self.nominal(meaning.than, case="nom")
        case = Word(form="als", lemma="als", upos="ADP", xpos="KOKOM", deprel="case", head=than.head)
        return Phrase(head=word, words=[word, case, *attach(than, head=word, deprel="obl")])


def split_clause(phrase: Phrase) -> tuple[list[Word], list[Word]]:
    """Split a phrase before the relative clause of its head; the clause begins with its comma."""
    for at, word in enumerate(phrase.words):
        clause = word.head
        if word.upos == "PUNCT" and clause and clause.deprel == "acl:relcl" and clause.head is phrase.head:
            return phrase.words[:at], phrase.words[at:]
    return phrase.words, []


def comma(head: Word) -> Word:
    """Return a comma attached to `head`."""
    return punctuation(",", head=head, xpos="$,")


def conjunction_word(form: str, *, head: Word) -> Word:
    """Return a coordinating conjunction attached to `head`, the second conjunct."""
    return Word(form=form, lemma=form, upos="CCONJ", xpos="KON", deprel="cc", head=head)


def adverb(entry: Adverb) -> Word:
    """Return an adverb of the lexicon."""
    return adverb_word(entry.german)


def adverb_word(form: str, *, xpos: str = "ADV", **values: str) -> Word:
    """Return an adverb with a given form."""
    return Word(form=form, lemma=form, upos="ADV", xpos=xpos, feats=feats(**values))


def predicative(meaning: Graded) -> Phrase:
    """Realise an adjective as the complement of the copula, uninflected."""
    form = meaning.adjective.german
    return _graded(Word(form=form, lemma=form, upos="ADJ", xpos="ADJD", feats=feats(Degree="Pos")), meaning)


def _attribute(meaning: Graded, *, declension: str, case: Case, gender: Gender, number: Number) -> Phrase:
    word = adjective_word(
        stem=meaning.adjective.stem,
        lemma=meaning.adjective.german,
        declension=declension,
        case=case,
        gender=gender,
        number=number,
    )
    return _graded(word, meaning)


def _graded(word: Word, meaning: Graded) -> Phrase:
    if meaning.degree is None:
        return Phrase(head=word, words=[word])
    return Phrase(head=word, words=[*attach(adverb(meaning.degree), head=word, deprel="advmod"), word])


def _name(meaning: Named, *, case: Case) -> Word:
    form = meaning.name.german
    return Word(
        form=form + "s" if case == "gen" else form,
        lemma=form,
        upos="PROPN",
        xpos="NE",
        feats=nominal_feats(case, meaning.name.gender, "sg"),
    )
