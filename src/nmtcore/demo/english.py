"""Phrases, clauses and sentences in English, with dependencies and CCG categories."""

from dataclasses import replace

from nmtcore.demo.english_words import category, determiner_word, noun_words, pronoun_word, verb_word
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
from nmtcore.demo.lexicon import AUXILIARIES, PRONOUNS, Adjective, Adverb, Link, Name, Noun, Pronoun
from nmtcore.demo.trees import Word, conjoined, feats, hang, hang_verbs, head_of, punctuation

_USES = {
    "noun": "NP\\NP",
    "verb": "(S\\NP)\\(S\\NP)",
    "middle": "(S\\NP)/(S\\NP)",
    "argument": "PP",
    "front": "S/S",
}
"""Categories of adverbs, prepositional phrases and clauses by their use: after a noun, after or before a verb, ..."""
_LEADING = {"q": "S[wq]", "indirect": "S[qem]", "relative": "NP\\NP"}
"""Categories of clauses with a question word or relative pronoun in front, by type of clause."""
_ADJECTIVE = "S[adj]\\NP"
_MIDDLE = ("often", "sentence")
_TO = Link("to", "", "dat")


def sentence(meaning: Clause) -> list[Word]:
    """Return the words of a sentence in their order."""
    words = clause(meaning, "q" if meaning.question else "dcl")
    return [*words, punctuation("?" if meaning.question else ".", head_of(words), ".")]


def clause(
    meaning: Clause, clause_type: str, *, mark: list[Word] | None = None, inherited: Agreement = (3, "sg")
) -> list[Word]:
    """Realise a clause after its conjunction, `mark`.

    `clause_type` is dcl (a statement), q (a question), indirect (a question word within a clause), relative, or the
    form of an infinitive: to, ng. A second predicate has the agreement that it inherits from the first one.
    """
    if meaning.modal in ("want", "like"):
        meaning = _with_infinitive(meaning)
    leads = meaning.subject is not None and meaning.subject.leads
    form = "dcl" if leads or clause_type in ("indirect", "relative") else clause_type
    # The verb of "there are" agrees with the noun after it.
    existence = meaning.verb.frame == "existence" and meaning.object is not None
    agree = meaning.object.agreement if existence else meaning.agreement(inherited)
    copula = meaning.verb.frame == "copula"
    chain, forms = _verbs(meaning, form, agree)
    fillers = {slot: _slot(meaning, slot, value) for slot, value in meaning.slots.items()}
    filled = {slot: words for slot, (words, _, _) in fillers.items()}
    expected = {slot: own_category for slot, (_, own_category, _) in fillers.items()}
    head = head_of(filled["complement"]) if copula else chain[-1]
    for slot, (words, _, deprel) in fillers.items():
        if slot != "complement":
            hang(words, head, deprel)
    for slot, word, deprel in _function_words(meaning, form):
        filled[slot] = hang([word], head, deprel)
        expected[slot] = "PR" if word.xpos == "RP" else ""
    if mark:
        filled["mark"] = hang(mark, head, "mark")
    if meaning.subject is not None:
        filled["subject"] = hang(nominal(meaning.subject, role="subject"), head, subject_relation(meaning))
    _put_in_front(filled, meaning, clause_type=clause_type, form=form)
    order = _order(meaning, form, marked=mark is not None)
    _categorise(chain, forms, [expected[slot] for slot in order if expected.get(slot)], meaning.verb.frame)
    hang_verbs(chain[::-1], head, passive=meaning.passive)
    # A single verb follows the adverbs of the middle field, which follow an auxiliary.
    early = len(chain) > 1 or copula or meaning.fault == "position"
    filled |= {"finite": chain[:1], "verbs": chain[1:]} if early else {"verbs": chain}
    words = arrange(order, filled)
    if meaning.joined is None:
        return words
    second = clause(meaning.joined, "dcl", inherited=agree)
    comma = [punctuation(",", head_of(second), ",")] if meaning.joined.subject else []
    return [*words, *comma, *conjoined(_conjunction(meaning.conjunction), second, head)]


def _with_infinitive(meaning: Clause) -> Clause:
    """Return a clause with the modal `want` or `like` as one whose verb selects an infinitive."""
    outer = {slot: value for slot, value in meaning.slots.items() if slot in (*_MIDDLE, meaning.first)}
    inner = {slot: value for slot, value in meaning.slots.items() if slot not in outer or slot == "object"}
    infinitive = Clause(verb=meaning.verb, slots=inner)
    return replace(
        meaning, verb=AUXILIARIES[meaning.modal], modal="", slots=outer | {"content": Embedded("to", infinitive)}
    )


def _verbs(meaning: Clause, form: str, agree: Agreement) -> tuple[list[Word], list[str]]:
    """Return the auxiliaries and the verb, and the form of each; do is added if there is no other auxiliary."""
    copula = meaning.verb.frame == "copula"
    auxiliaries, forms = [], ["b" if form == "to" else form]
    for required, name, following in (
        (meaning.modal or meaning.tense == "future", meaning.modal or "will", "b"),
        (meaning.tense in ("perfect", "pluperfect"), "have", "pt"),
        (meaning.progressive, "be", "ng"),
        (meaning.passive, "be", "pss"),
        ((form == "q" or meaning.negated) and not copula, "do", "b"),
    ):
        if required and not (name == "do" and auxiliaries):
            auxiliaries.append(AUXILIARIES[name].english)
            forms.append(following)
    past = meaning.tense in ("past", "pluperfect")
    words = [
        verb_word(verb, own, past=past, agree=agree, aux=True)
        for verb, own in zip(auxiliaries, forms[:-1], strict=True)
    ]
    main = verb_word(meaning.verb.english, forms[-1], past=past, agree=agree, aux=copula)
    return [*words, main], forms


def _categorise(chain: list[Word], forms: list[str], arguments: list[str], frame: str) -> None:
    """Set the category of every verb: each auxiliary takes the verb phrase of the next verb, the last the arguments."""
    subject = "NP[thr]" if frame == "existence" else "NP"
    for word, form, following in zip(chain, forms, [*forms[1:], None], strict=True):
        expected = [f"S[{following}]\\NP"] if following else arguments[::-1]
        word.ccg = category("S[q]", *expected, "NP") if form == "q" else category(f"S[{form}]\\{subject}", *expected)


def _order(meaning: Clause, form: str, *, marked: bool) -> list[str]:
    order = ORDER["question" if form == "q" else "statement"].split()
    if meaning.fault == "position":
        order.remove("finite")
        order.insert(len(order) if marked else order.index("subject"), "finite")
    return order


def _function_words(meaning: Clause, form: str) -> list[tuple[str, Word, str]]:
    """Return the negation, the particle and `to`, each with its slot and its relation."""
    words = []
    particle, thing = meaning.verb.english.particle, meaning.object
    if particle:
        pronoun = thing is not None and isinstance(thing.word, Pronoun) and not thing.questions
        word = Word(particle, "ADP", "RP", "PR")
        words.append(("late_particle" if pronoun else "particle", word, "compound:prt"))
    if meaning.negated:
        words.append(("negation", Word("not", "PART", "RB", _USES["verb"], feats=feats(Polarity="Neg")), "advmod"))
    if form == "to":
        words.append(("to", Word("to", "PART", "TO", category("S[to]\\NP", "S[b]\\NP")), "mark"))
    return words


def _slot(meaning: Clause, slot: str, value: Slot) -> tuple[list[Word], str, str]:
    """Return the words of what fills a slot, the category that the verb expects ("": an adjunct), and the relation."""
    frame, use = meaning.verb.frame, "front" if slot == meaning.front else "middle" if slot in _MIDDLE else "verb"
    if slot == "shifted":
        return prepositional(Prepositional(_TO, value), "argument"), "PP", "obl"
    if isinstance(value, Nominal):
        deprel = "iobj" if slot == "recipient" else "nsubj" if frame == "existence" else "obj"
        return nominal(value), "" if frame == "auxiliaries" else "NP", deprel
    if isinstance(value, Graded):
        return adjective(value, _ADJECTIVE), _ADJECTIVE, ""
    if isinstance(value, Prepositional) and (slot == "argument" or frame == "existence"):
        expected = ("PP", "obl") if value.link.english else ("NP", "obj")
        return prepositional(value, "argument"), *expected
    if slot == "content":
        return *_content(meaning, value), relation(slot, value)
    if isinstance(value, Prepositional):
        words, deprel = prepositional(value, use), "obl:agent" if slot == "agent" else "obl"
    elif isinstance(value, Embedded):
        words, deprel = _adverbial(value, _USES[use]), "advcl"
    else:
        words, deprel = [_adverb(value, _USES[use])], "advmod"
    together = isinstance(value, Adverb) and (slot != "sentence" or value.english == "perhaps")
    leading = isinstance(value, Prepositional) and value.nominal.relative
    comma = [punctuation(",", head_of(words), ",")] if use == "front" and not together and not leading else []
    return [*words, *comma], "", deprel


def _put_in_front(filled: dict[str, list[Word]], meaning: Clause, *, clause_type: str, form: str) -> None:
    """Move the first slot to the front; a question word or relative pronoun determines the category of the clause."""
    leading, rest = _LEADING.get(clause_type, ""), "S[q]" if form == "q" else "S[dcl]"
    if meaning.first:
        filled["front"] = filled.pop(meaning.first)
    if meaning.subject is not None and meaning.subject.leads:
        words, result = filled["subject"], category(leading, f"{rest}\\NP")
    elif meaning.first == "object" and not leading:
        del filled["front"]  # "that he wants to read": the pronoun is in front of `wants`, not of `to read`
        return
    elif meaning.first == "object":
        words, result = filled["front"], category(leading, f"{rest}/NP")
    elif meaning.first == "asked":
        words, result = filled["front"], category(leading, rest)
    else:
        return
    words[0].ccg = category(result, "N") if len(words) > 1 else result


def _content(meaning: Clause, content: Embedded) -> tuple[list[Word], str]:
    """Realise the clause or infinitive that a verb selects; return its category, too."""
    marker = content.marker
    if marker == "to":
        form = "ng" if meaning.verb.tools == ("ing",) else "to"
        return clause(content.clause, form), f"S[{form}]\\NP"
    expected = {"that": "S[em]", "bare": "S[dcl]"}.get(marker, "S[qem]")
    mark = _marker(marker, category(expected, "S[dcl]")) if marker in ("that", "whether") else None
    return clause(content.clause, "dcl" if marker else "indirect", mark=mark), expected


def _adverbial(meaning: Embedded, result: str) -> list[Word]:
    """Realise an adverbial clause, or an infinitive after `in order` or `without`."""
    if meaning.marker == "without":
        return clause(meaning.clause, "ng", mark=_marker("without", category(result, "S[ng]\\NP")))
    if meaning.marker != "in order":
        return clause(meaning.clause, "dcl", mark=_marker(meaning.marker, category(result, "S[dcl]")))
    mark = _marker("in", category(result, "NP"))
    order = Word("order", "NOUN", "NN", category("N", "S[to]\\NP"), feats=feats(Number="Sing"))
    return clause(meaning.clause, "to", mark=mark + hang([order], mark[0], "fixed"))


def _marker(form: str, ccg: str) -> list[Word]:
    return [Word(form, "SCONJ", "WRB" if form == "when" else "IN", ccg)]


def nominal(meaning: Nominal, *, role: str = "object") -> list[Word]:
    """Realise a nominal as `subject` or `object`."""
    if meaning.joined is not None:
        first = nominal(replace(meaning, joined=None), role=role)
        return [*first, *conjoined(_conjunction("and"), nominal(meaning.joined, role=role), head_of(first))]
    if meaning.relative:
        form, tag = ("who", "WP") if "person" in meaning.classes else ("that", "WDT")
        return [Word(form, "PRON", tag, feats=feats(PronType="Rel"))]
    if isinstance(meaning.word, Noun):
        return _noun_phrase(meaning, meaning.word)
    if isinstance(meaning.word, Name):
        return [Word(meaning.word.english, "PROPN", "NNP", "N", feats=feats(Number="Sing"))]
    if meaning.questions:
        return [Word(meaning.word.english[0], "PRON", "WP", feats=feats(PronType="Int"))]
    if meaning.word is PRONOUNS["there"]:
        return [Word("there", "PRON", "EX", "NP[thr]")]
    return [pronoun_word(meaning.word, role=role)]


def _conjunction(form: str) -> Word:
    return Word(form, "CCONJ", "CC", "conj")


def _noun_phrase(meaning: Nominal, noun: Noun) -> list[Word]:
    """Realise a noun with its determiner or owner, adjectives, prepositional phrases and relative clause."""
    words = noun_words(noun, meaning.number)
    head = words[-1]
    for graded in reversed(meaning.adjectives):
        words = hang(adjective(graded, "N/N"), head, "amod") + words
    if meaning.count:
        number = Word(meaning.count[0], "NUM", "CD", "N/N", feats=feats(NumForm="Word", NumType="Card"))
        words = hang([number], head, "nummod") + words
    if meaning.owner is not None:
        words = hang(_owner(meaning.owner), head, "nmod:poss") + words
    elif meaning.determiner:
        word = determiner_word(meaning.determiner, number=meaning.number, following=words[0].form)
        words = hang([word], head, "det") + words
    for modifier in meaning.modifiers:
        words += hang(prepositional(modifier, "noun"), head, "nmod")
    if meaning.clause:
        words += hang(clause(meaning.clause, "relative"), head, "acl:relcl")
    return words


def _owner(owner: Nominal) -> list[Word]:
    if owner.relative:
        ccg = category("NP\\NP", "S[dcl]\\NP")
        return [Word("whose", "PRON", "WP$", category(ccg, "N"), feats=feats(Poss="Yes", PronType="Rel"))]
    if isinstance(owner.word, Pronoun):
        return [pronoun_word(owner.word, role="owner")]
    words = nominal(owner)
    return [*words, *hang([Word("'s", "PART", "POS", "(NP/N)\\NP")], head_of(words), "case")]


def prepositional(meaning: Prepositional, use: str) -> list[Word]:
    """Realise a prepositional phrase, headed by its noun, for one of the uses of `_USES`."""
    if not meaning.link.english:
        return nominal(meaning.nominal)
    if meaning.nominal.relative:
        ccg = f"((NP\\NP)/S[dcl])\\({category(_USES['noun'], 'NP')})"
        words, use = [Word("which", "PRON", "WDT", ccg, feats=feats(PronType="Rel"))], "noun"
    else:
        words = nominal(meaning.nominal)
    first, *others = meaning.link.english.split()
    case = Word(first, "ADP", "IN", category(_USES[use], "PP" if others else "NP"))
    fixed = [Word(form, "ADP", "IN", "PP/NP", deprel="fixed", head=case) for form in others]
    return [*hang([case], head_of(words), "case"), *fixed, *words]


def _adverb(entry: Adverb, ccg: str) -> Word:
    if entry.slot == "asked":
        return Word(entry.english, "ADV", "WRB", ccg, feats=feats(PronType="Int"))
    return Word(entry.english, "ADV", "RB", ccg)


def adjective(meaning: Graded, ccg: str) -> list[Word]:
    """Realise an adjective with its degree; `ccg` is N/N before a noun, S[adj]\\NP after the copula."""
    if meaning.than is not None:
        return _comparison(meaning.adjective, nominal(meaning.than))
    word = Word(meaning.adjective.english, "ADJ", "JJ", ccg, feats=feats(Degree="Pos"))
    if meaning.degree is None:
        return [word]
    return [*hang([_adverb(meaning.degree, f"({ccg})/({ccg})")], word, "advmod"), word]


def _comparison(entry: Adjective, than: list[Word]) -> list[Word]:
    """Return `older than ...` as the complement of the copula."""
    if entry.english_more == "more":
        more = Word("more", "ADV", "RBR", f"({_ADJECTIVE})/({_ADJECTIVE})", feats=feats(Degree="Cmp"))
        word = Word(entry.english, "ADJ", "JJ", _ADJECTIVE, feats=feats(Degree="Pos"))
        words = [*hang([more], word, "advmod"), word]
    else:
        word = Word(entry.english_more, "ADJ", "JJR", _ADJECTIVE, lemma=entry.english, feats=feats(Degree="Cmp"))
        words = [word]
    case = Word("than", "ADP", "IN", f"(({_ADJECTIVE})\\({_ADJECTIVE}))/NP")
    return [*words, *hang([case], head_of(than), "case"), *hang(than, word, "obl")]
