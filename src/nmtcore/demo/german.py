"""Phrases, clauses and sentences in German, with dependencies.

The finite verb of a main clause is second, all verbs of a subordinate clause are last. They are followed by clauses and
infinitives, and by the relative clause of the last noun.
"""

from dataclasses import replace

from nmtcore.demo.german_words import (
    adjective_word,
    determiner_word,
    nominal_feats,
    noun_word,
    possessive_word,
    pronoun_word,
    reflexive_word,
    relative_word,
    verb_word,
)
from nmtcore.demo.grammar import (
    ORDER,
    Agreement,
    Clause,
    Embedded,
    Graded,
    Nominal,
    Prepositional,
    Slot,
    arrange,
    relation,
    subject_relation,
)
from nmtcore.demo.lexicon import AUXILIARIES, CONJUNCTIONS, PRONOUNS, Adverb, Case, Link, Name, Noun, Pronoun
from nmtcore.demo.trees import Word, conjoined, feats, hang, hang_verbs, head_of, punctuation

_CONTRACTIONS = {"in dem": "im", "in das": "ins", "an dem": "am", "an das": "ans", "von dem": "vom"}
_CONTRACTIONS |= {"zu dem": "zum", "zu der": "zur", "bei dem": "beim"}
_AN = Link("to", "an", "acc")
"""The link of the recipients of `send` and `sell` after English "to"; all others are datives."""


def sentence(meaning: Clause) -> list[Word]:
    """Return the words of a sentence in their order."""
    words = clause(meaning, "second")
    return [*words, punctuation("?" if meaning.question else ".", head_of(words), "$.")]


def clause(
    meaning: Clause, clause_type: str, *, mark: Word | None = None, inherited: Agreement = (3, "sg")
) -> list[Word]:
    """Realise a clause after its conjunction, `mark`.

    `clause_type` is second or final (the place of the finite verb), or zu (an infinitive). A second predicate has the
    agreement that it inherits from the first one.
    """
    agree = meaning.agreement(inherited)
    chain = _verbs(meaning, clause_type, agree)
    slots = _slots(meaning)
    fillers = {slot: _slot(meaning, slot, value) for slot, value in slots.items()}
    head = head_of(fillers["complement"][1]) if "complement" in slots else chain[0]
    hang_verbs(chain, head, passive=meaning.passive)
    filled = {"finite": chain[-1:], "verbs": chain[:-1]}
    if clause_type == "zu":
        filled |= {"finite": [], "verbs": chain}
        if chain[-1].xpos != "VVIZU":
            chain.insert(-1, Word("zu", "PART", "PTKZU", deprel="mark", head=head))
    verb, function_words = meaning.verb.german, []
    if verb.reflexive:
        function_words.append(("reflexive", reflexive_word(*agree), "expl:pv"))
    if meaning.progressive:
        function_words.append(("progressive", Word("gerade", "ADV", "ADV"), "advmod"))
    if meaning.modal == "like":
        function_words.append(("gladly", Word("gern", "ADV", "ADV"), "advmod"))
    if meaning.negated and not any(isinstance(value, Nominal) and value.determiner == "no" for value in slots.values()):
        function_words.append(("negation", Word("nicht", "PART", "PTKNEG"), "advmod"))
    if clause_type == "second" and len(chain) == 1 and verb.prefix:
        function_words.append(("particle", Word(verb.prefix, "ADP", "PTKVZ"), "compound:prt"))
    if mark is not None:
        function_words.append(("mark", mark, "mark"))
    filled |= {slot: hang([word], head, deprel) for slot, word, deprel in function_words}
    last = "argument" if "argument" in slots else "object"
    bracket = clause_type != "second" or len(chain) > 1 or "particle" in filled
    for slot, (place, words, deprel) in fillers.items():
        own = head_of(words)
        filled[place] = words if own is head else hang(words, head, deprel)
        if bracket and slot == last:
            filled[place], filled["extraposed"] = _split(words, own)
    first = "place" if meaning.verb.frame == "existence" else meaning.first
    if first:
        words = filled.pop(first)
        filled["front"] = words[1:] if words[0].form == "," else words
    order = ORDER["second" if clause_type == "second" else "final"].split()
    if meaning.subject is not None:
        slot = _subject_slot(meaning, meaning.subject, clause_type, filled)
        filled[slot] = hang(nominal(meaning.subject, "nom"), head, subject_relation(meaning))
        if meaning.fault == "position":
            order.remove("finite")
            order.insert(order.index(slot) + 1, "finite")
    words = arrange(order, filled)
    if meaning.joined is None:
        return words
    second = clause(meaning.joined, clause_type, inherited=agree)
    separator = [_comma(head_of(second))] if meaning.conjunction == "but" else []
    return [*words, *separator, *conjoined(_conjunction(meaning.conjunction), second, head)]


def _verbs(meaning: Clause, clause_type: str, agree: Agreement) -> list[Word]:
    """Return the verbs in the order of a subordinate clause: from the innermost to the outermost."""
    verbs, forms = [meaning.verb.german], []
    if meaning.passive:
        verbs.append(AUXILIARIES["will"].german)
        forms.append("part")
    if meaning.tense in ("perfect", "pluperfect"):
        verbs.append(AUXILIARIES["be" if verbs[-1].sein else "have"].german)
        forms.append("part")
    modal = "will" if meaning.tense == "future" else "" if meaning.modal == "like" else meaning.modal
    if modal:
        verbs.append(AUXILIARIES["may" if modal == "must" and meaning.negated else modal].german)
        forms.append("inf")
    forms.append("zu" if clause_type == "zu" else "fin")
    past = meaning.tense in ("past", "pluperfect")
    return [
        verb_word(verb, form, past=past, agree=agree, fused=clause_type != "second" or form != "fin")
        for verb, form in zip(verbs, forms, strict=True)
    ]


def _slots(meaning: Clause) -> dict[str, Slot]:
    """Return the slots as German fills them.

    An argument without a preposition is an object, and the negation of an indefinite noun is its determiner, `kein`.
    """
    slots = dict(meaning.slots)
    argument = slots.get("argument")
    if isinstance(argument, Prepositional) and not argument.link.german:
        del slots["argument"]
        slots["object"] = argument.nominal
    for slot in ("object", "complement") if meaning.negated else ():
        value = slots.get(slot)
        bare = isinstance(value, Nominal) and value.is_noun and value.owner is None and value.count is None
        if bare and value.determiner in ("a", ""):
            slots[slot] = replace(value, determiner="no")
    return slots


def _slot(meaning: Clause, slot: str, value: Slot) -> tuple[str, list[Word], str]:
    """Return the place of what fills a slot, its words, and its relation to the head of the clause."""
    if isinstance(value, Adverb):
        return slot, [_adverb(value)], "advmod"
    if isinstance(value, Embedded):
        raised = slot == "content" and meaning.verb.frame == "raising"
        return "raised" if raised else slot, _embedded(value, raised=raised), relation(slot, value)
    if isinstance(value, Graded):
        return slot, _predicative(value), ""
    if slot == "complement":
        return slot, nominal(value, "nom"), ""
    if slot == "shifted" and meaning.verb.english.base in ("send", "sell"):
        value = Prepositional(_AN, value)
    if isinstance(value, Prepositional):
        return slot, prepositional(value), "obl"
    pronoun = "_pronoun" if isinstance(value.word, Pronoun) and not value.questions else ""
    if slot != "object":
        return f"recipient{pronoun}", nominal(value, "dat"), "iobj"
    indefinite = "object" in meaning.slots and value.is_noun and not value.owner
    place = "indefinite_object" if indefinite and value.determiner in ("a", "", "some", "many") else f"object{pronoun}"
    return place, nominal(value, meaning.verb.link.case if meaning.verb.link else "acc"), "obj"


def _split(words: list[Word], head: Word) -> tuple[list[Word], list[Word]]:
    """Split a phrase before the relative clause of its head; the clause begins with its comma."""
    for at, word in enumerate(words):
        if word.upos == "PUNCT" and word.head and word.head.deprel == "acl:relcl" and word.head.head is head:
            return words[:at], words[at:]
    return words, []


def _subject_slot(meaning: Clause, subject: Nominal, clause_type: str, filled: dict[str, list[Word]]) -> str:
    """Return the place of a subject: in front, or before or after the pronouns.

    A noun precedes object pronouns that could be read as subjects (sie, es).
    """
    if clause_type == "second" and not filled.get("front") and (subject.questions or not meaning.question):
        return "front"
    if subject.leads or isinstance(subject.word, Pronoun):
        return "pronoun_subject"
    pronouns = [*filled.get("object_pronoun", ()), *filled.get("recipient_pronoun", ())]
    return "early_subject" if any(word.form in ("sie", "es") for word in pronouns) else "subject"


def _embedded(meaning: Embedded, *, raised: bool) -> list[Word]:
    """Realise a clause or infinitive between commas; the infinitive of scheinen has none."""
    inner, marker = meaning.clause, meaning.marker
    mark = None
    if marker in ("in order", "without"):
        mark = Word(CONJUNCTIONS[marker], "SCONJ", "KOUI")
    elif marker not in ("", "to"):
        past = marker == "when" and inner.tense in ("past", "pluperfect")
        mark = Word("als" if past else CONJUNCTIONS["that" if marker == "bare" else marker], "SCONJ", "KOUS")
    words = clause(inner, "final" if inner.subject else "zu", mark=mark)
    return words if raised else _set_off(words)


def _set_off(words: list[Word]) -> list[Word]:
    """Return a clause between commas."""
    head = head_of(words)
    return [_comma(head), *words, _comma(head)]


def _comma(head: Word) -> Word:
    return punctuation(",", head, "$,")


def _conjunction(english: str) -> Word:
    return Word(CONJUNCTIONS[english], "CCONJ", "KON")


def nominal(meaning: Nominal, case: Case) -> list[Word]:
    """Realise a nominal in a case."""
    if meaning.joined is not None:
        first = nominal(replace(meaning, joined=None), case)
        return [*first, *conjoined(_conjunction("and"), nominal(meaning.joined, case), head_of(first))]
    if meaning.relative:
        return [relative_word(case=case, gender=meaning.word.gender, number=meaning.number)]
    if isinstance(meaning.word, Noun):
        return _noun_phrase(meaning, meaning.word, case)
    if isinstance(meaning.word, Name):
        return [_name(meaning.word, case)]
    antecedent = {"m": "he", "f": "she", "n": "it"}.get(meaning.antecedent or "")
    return [pronoun_word(PRONOUNS[antecedent] if antecedent else meaning.word, case=case)]


def _name(name: Name, case: Case) -> Word:
    form = name.german + "s" if case == "gen" else name.german
    return Word(form, "PROPN", "NE", lemma=name.german, feats=nominal_feats(case, name.gender, "sg"))


def _noun_phrase(meaning: Nominal, noun: Noun, case: Case) -> list[Word]:
    """Realise a noun with its determiner or owner, adjectives, genitive, phrases and relative clause."""
    agree = {"case": case, "gender": noun.gender, "number": meaning.number}
    head = noun_word(noun, case=case, number=meaning.number)
    words, declension = _determiner(meaning, head, agree)
    if meaning.count:
        words += hang([Word(meaning.count[1], "NUM", "CARD", feats=feats(NumType="Card"))], head, "nummod")
    for graded in meaning.adjectives:
        adjective = graded.adjective
        word = adjective_word(adjective.german, adjective.stem, declension=declension, **agree)
        words += hang(_graded(word, graded), head, "amod")
    words.append(head)
    owner = meaning.owner
    if owner is not None and owner.is_noun:
        words += hang(nominal(owner, "gen"), head, "nmod")
    for modifier in meaning.modifiers:
        words += hang(prepositional(modifier), head, "nmod")
    if meaning.clause:
        words += hang(_set_off(clause(meaning.clause, "final")), head, "acl:relcl")
    return words


def _determiner(meaning: Nominal, head: Word, agree: dict[str, str]) -> tuple[list[Word], str]:
    """Return the determiner or owner before a noun, and the declension of an adjective that follows."""
    owner = meaning.owner
    if owner is not None and isinstance(owner.word, Pronoun):
        return hang([possessive_word(owner.word, **agree)], head, "det:poss"), "mixed"
    if owner is not None and not owner.is_noun:
        return hang(nominal(owner, "gen"), head, "nmod:poss"), "strong"
    determiner = "the" if owner is not None else meaning.determiner
    if not determiner:
        return [], "strong"
    word, declension = determiner_word(determiner, **agree)
    return hang([word], head, "det"), declension


def prepositional(meaning: Prepositional) -> list[Word]:
    """Realise a prepositional phrase, headed by its noun; contract in dem unless the noun has a relative clause."""
    words = nominal(meaning.nominal, meaning.link.case)
    if not meaning.link.german:
        return words
    case = Word(meaning.link.german, "ADP", "APPR")
    hang([case], head_of(words), "case")
    contracted = _CONTRACTIONS.get(f"{meaning.link.german} {words[0].form}")
    if contracted and words[0].xpos == "ART" and meaning.nominal.clause is None:
        case.form, case.xpos, case.feats = contracted, "APPRART", words[0].feats
        words = words[1:]
    return [case, *words]


def _predicative(meaning: Graded) -> list[Word]:
    """Realise an adjective, or `älter als ...`, as the complement of the copula."""
    adjective = meaning.adjective
    if meaning.than is None:
        return _graded(Word(adjective.german, "ADJ", "ADJD", feats=feats(Degree="Pos")), meaning)
    word = Word(adjective.german_more, "ADJ", "ADJD", lemma=adjective.german, feats=feats(Degree="Cmp"))
    than, case = nominal(meaning.than, "nom"), Word("als", "ADP", "KOKOM")
    return [word, *hang([case], head_of(than), "case"), *hang(than, word, "obl")]


def _adverb(entry: Adverb) -> Word:
    if entry.slot == "asked":
        return Word(entry.german, "ADV", "PWAV", feats=feats(PronType="Int"))
    return Word(entry.german, "ADV", "ADV")


def _graded(word: Word, meaning: Graded) -> list[Word]:
    """Return an adjective after its adverb of degree."""
    return [word] if meaning.degree is None else [*hang([_adverb(meaning.degree)], word, "advmod"), word]
