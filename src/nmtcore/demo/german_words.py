"""German words with their forms, tags and features."""

from nmtcore.demo.lexicon import DETERMINERS, PRONOUNS, Case, Gender, GermanVerb, Noun, Number, Pronoun
from nmtcore.demo.trees import Word, feats

_CASES = ("nom", "acc", "dat", "gen")
_UD_GENDER = {"m": "Masc", "f": "Fem", "n": "Neut"}
_UD_NUMBER = {"sg": "Sing", "pl": "Plur"}


def _table(m: str, f: str, n: str, pl: str) -> dict[tuple[str, str], str]:
    """Return endings by (gender or "pl", case); each argument lists those of nom, acc, dat, gen ("-" for none)."""
    rows = {"m": m, "f": f, "n": n, "pl": pl}
    return {
        (row, case): "" if ending == "-" else ending
        for row, endings in rows.items()
        for case, ending in zip(_CASES, endings.split(), strict=True)
    }


_DEFINITE = _table("der den dem des", "die die der der", "das das dem des", "die die den der")
_STRONG = _table("er en em es", "e e er er", "es es em es", "e e en er")
_MIXED_ARTICLE = _table("- en em es", "e e er er", "- - em es", "e e en er")
_ADJECTIVE = {
    "strong": _table("er en em en", "e e er er", "es es em en", "e e en er"),
    "weak": _table("e en en en", "e e en en", "e e en en", "en en en en"),
    "mixed": _table("er en en en", "e e en en", "es es en en", "en en en en"),
}
_RELATIVE = _table("der den dem dessen", "die die der deren", "das das dem dessen", "die die denen deren")
_STEMS = {"this": "dies", "that": "jen", "every": "jed", "all": "all", "both": "beid", "which": "welch"}
_QUANTIFIERS = {"some": "einig", "many": "viel", "few": "wenig"}
"""Stems of German determiners by English ones; adjectives after a quantifier are strong."""
_MODALS = frozenset({"können", "müssen", "dürfen", "sollen", "wollen"})
_IRREGULAR_PRESENT = {
    "sein": {(1, "sg"): "bin", (2, "sg"): "bist", (1, "pl"): "sind", (3, "pl"): "sind"},
    "haben": {(2, "sg"): "hast"},
    "werden": {(2, "sg"): "wirst"},
    "wissen": {(1, "sg"): "weiß", (2, "sg"): "weißt"},
}


def nominal_feats(case: Case, gender: Gender, number: Number, **more: str) -> str:
    """Format the features Case, Gender and Number, and `more`."""
    return feats(Case=case.capitalize(), Gender=_UD_GENDER[gender], Number=_UD_NUMBER[number], **more)


def _row(gender: Gender, number: Number) -> str:
    return "pl" if number == "pl" else gender


def noun_word(noun: Noun, *, case: Case, number: Number) -> Word:
    """Return a declined noun; masculine nouns whose genitive ends in -n are weak."""
    form = noun.plural if number == "pl" else noun.nominative
    weak = noun.gender == "m" and noun.genitive.endswith("n")
    if number == "pl" and case == "dat" and not form.endswith(("n", "s")):
        form += "n"
    elif number == "sg" and (case == "gen" or (weak and case in ("acc", "dat"))):
        form = noun.genitive
    return Word(form, "NOUN", "NN", lemma=noun.nominative, feats=nominal_feats(case, noun.gender, number))


def determiner_word(determiner: str, *, case: Case, gender: Gender, number: Number) -> tuple[Word, str]:
    """Return the German determiner for an English one, and the declension of an adjective that follows it."""
    row = _row(gender, number)
    if determiner == "the":
        analysis = nominal_feats(case, gender, number, Definite="Def", PronType="Art")
        return Word(_DEFINITE[row, case], "DET", "ART", lemma="der", feats=analysis), "weak"
    if determiner == "a":
        analysis = nominal_feats(case, gender, number, Definite="Ind", PronType="Art")
        return Word("ein" + _MIXED_ARTICLE[row, case], "DET", "ART", lemma="ein", feats=analysis), "mixed"
    if determiner == "no":
        analysis = nominal_feats(case, gender, number, PronType="Neg")
        return Word("kein" + _MIXED_ARTICLE[row, case], "DET", "PIAT", lemma="kein", feats=analysis), "mixed"
    stem = (_STEMS | _QUANTIFIERS)[determiner]
    xpos = {"this": "PDAT", "that": "PDAT", "which": "PWAT"}.get(determiner, "PIAT")
    lemma = stem + ("e" if determiner in ("all", "both", *_QUANTIFIERS) else "er")
    analysis = nominal_feats(case, gender, number, PronType=DETERMINERS[determiner])
    word = Word(stem + _STRONG[row, case], "DET", xpos, lemma=lemma, feats=analysis)
    return word, "strong" if determiner in _QUANTIFIERS else "weak"


def possessive_word(owner: Pronoun, *, case: Case, gender: Gender, number: Number) -> Word:
    """Return a possessive determiner: the stem from the owner, the ending from the noun."""
    stem = owner.german[3]
    analysis = nominal_feats(case, gender, number, Poss="Yes", PronType="Prs")
    return Word(stem + _MIXED_ARTICLE[_row(gender, number), case], "DET", "PPOSAT", lemma=stem, feats=analysis)


def adjective_word(lemma: str, stem: str, *, declension: str, case: Case, gender: Gender, number: Number) -> Word:
    """Return a declined attributive adjective."""
    form = stem + _ADJECTIVE[declension][_row(gender, number), case]
    return Word(form, "ADJ", "ADJA", lemma=lemma, feats=nominal_feats(case, gender, number, Degree="Pos"))


def relative_word(*, case: Case, gender: Gender, number: Number) -> Word:
    """Return the relative pronoun; in the genitive, it is an owner."""
    analysis = nominal_feats(case, gender, number, PronType="Rel")
    form = _RELATIVE[_row(gender, number), case]
    return Word(form, "PRON", "PRELAT" if case == "gen" else "PRELS", lemma="der", feats=analysis)


def pronoun_word(pronoun: Pronoun, *, case: Case) -> Word:
    """Return a personal pronoun, or wer, wen, wem or was."""
    form, lemma = pronoun.german[_CASES.index(case)], pronoun.german[0]
    if pronoun in (PRONOUNS["who"], PRONOUNS["what"]):
        analysis = feats(Case=case.capitalize(), Number="Sing", PronType="Int")
        return Word(form, "PRON", "PWS", lemma=lemma, feats=analysis)
    values = {"Number": _UD_NUMBER[pronoun.number], "Person": str(pronoun.person), "PronType": "Prs"}
    if pronoun.gender:
        values["Gender"] = _UD_GENDER[pronoun.gender]
    return Word(form, "PRON", "PPER", lemma=lemma, feats=feats(Case=case.capitalize(), **values))


def reflexive_word(person: int, number: Number) -> Word:
    """Return the accusative reflexive pronoun."""
    accusatives = {(entry.person, entry.number): entry.german[1] for entry in PRONOUNS.values()}
    form = "sich" if person == 3 else accusatives[person, number]
    values = {"Case": "Acc", "Number": _UD_NUMBER[number], "Person": str(person), "PronType": "Prs"}
    return Word(form, "PRON", "PRF", lemma="sich", feats=feats(Reflex="Yes", **values))


def verb_word(verb: GermanVerb, form: str, *, past: bool, agree: tuple[int, Number], fused: bool) -> Word:
    """Return a verb form: fin, inf, part or zu (the infinitive, of a separable verb with zu inside).

    `fused` writes a separable prefix and the finite verb as one word, as at the end of a subordinate clause.
    """
    family = "M" if verb.infinitive in _MODALS else "A" if verb.infinitive in ("werden", "haben", "sein") else "V"
    if form == "fin":
        text = (verb.prefix if fused else "") + _finite(verb, past=past, agree=agree)
        subjunctive = verb.present in ("würde", "sollte")
        values = {
            "Mood": "Sub" if subjunctive else "Ind",
            "Number": _UD_NUMBER[agree[1]],
            "Person": str(agree[0]),
            "Tense": "Past" if past or subjunctive else "Pres",
            "VerbForm": "Fin",
        }
    elif form == "part":
        text, values = verb.prefix + verb.participle, {"VerbForm": "Part"}
    else:
        text = verb.prefix + ("zu" if form == "zu" and verb.prefix else "") + verb.infinitive
        values = {"VerbForm": "Inf"}
    tag = {"fin": "FIN", "part": "PP", "inf": "INF", "zu": "IZU" if verb.prefix else "INF"}[form]
    upos = "VERB" if family == "V" else "AUX"
    return Word(text, upos, f"V{family}{tag}", lemma=verb.lemma, feats=feats(**values))


def _finite(verb: GermanVerb, *, past: bool, agree: tuple[int, Number]) -> str:
    """Conjugate a verb in the indicative, without its separable prefix."""
    person, number = agree
    if past or verb.present == verb.past:
        return _past(verb.past, person=person, number=number)
    irregular = _IRREGULAR_PRESENT.get(verb.infinitive, {})
    if agree in irregular:
        return irregular[agree]
    if agree == (3, "sg"):
        return verb.present
    if number == "pl":
        return verb.infinitive
    if verb.infinitive in _MODALS:
        return verb.present + ("st" if person == 2 else "")
    stem = verb.infinitive.removesuffix("n").removesuffix("e")
    if person == 1:
        return stem[:-2] + "le" if verb.infinitive.endswith("eln") else stem + "e"
    if stem.endswith("t") and not verb.present.endswith("et"):
        return verb.present.removesuffix("t") + ("tst" if not verb.present.endswith("dt") else "st")
    base = verb.present.removesuffix("t")
    return base + ("t" if base.endswith(("s", "ß", "z", "x")) else "st")


def _past(past: str, *, person: int, number: Number) -> str:
    if number == "pl":
        return past + ("n" if past.endswith("e") else "en")
    if person == 2:
        return past + ("est" if past.endswith(("s", "ß", "z", "d", "t")) else "st")
    return past
