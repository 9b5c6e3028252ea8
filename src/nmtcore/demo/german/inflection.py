"""German inflection: nouns, articles, adjectives, pronouns and verbs as words with tags and features."""

from nmtcore.demo.lexicon.entries import Case, Gender, GermanVerb, Noun, Number
from nmtcore.demo.trees import Word, feats

_CASES = ("nom", "acc", "dat", "gen")
_UD_GENDER = {"m": "Masc", "f": "Fem", "n": "Neut"}
_UD_CASE = {"nom": "Nom", "acc": "Acc", "dat": "Dat", "gen": "Gen"}
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


def _row(gender: Gender, number: Number) -> str:
    return "pl" if number == "pl" else gender


def nominal_feats(case: Case, gender: Gender, number: Number, **more: str) -> str:
    """Format the features Case, Gender and Number, and `more`."""
    return feats(Case=_UD_CASE[case], Gender=_UD_GENDER[gender], Number=_UD_NUMBER[number], **more)


def noun_word(noun: Noun, *, case: Case, number: Number) -> Word:
    """Return a declined noun; masculine nouns whose genitive ends in -n are weak."""
    form = noun.plural if number == "pl" else noun.nominative
    weak = noun.gender == "m" and noun.genitive.endswith("n")
    if number == "pl" and case == "dat" and not form.endswith(("n", "s")):
        form += "n"
    elif number == "sg" and (case == "gen" or (weak and case in ("acc", "dat"))):
        form = noun.genitive
    return Word(
        form=form,
        lemma=noun.nominative,
        upos="NOUN",
        xpos="NN",
        feats=nominal_feats(case, noun.gender, number),
    )


_DETERMINERS = {
    # English: (German stem, XPOS, features, declension of an adjective that follows)
    "this": ("dies", "PDAT", {"PronType": "Dem"}, "weak"),
    "that": ("jen", "PDAT", {"PronType": "Dem"}, "weak"),
    "every": ("jed", "PIAT", {"PronType": "Tot"}, "weak"),
    "all": ("all", "PIAT", {"PronType": "Tot"}, "weak"),
    "both": ("beid", "PIAT", {"PronType": "Tot"}, "weak"),
    "some": ("einig", "PIAT", {"PronType": "Ind"}, "strong"),
    "many": ("viel", "PIAT", {"PronType": "Ind"}, "strong"),
    "few": ("wenig", "PIAT", {"PronType": "Ind"}, "strong"),
    "which": ("welch", "PWAT", {"PronType": "Int"}, "weak"),
}


def determiner_word(determiner: str, *, case: Case, gender: Gender, number: Number) -> tuple[Word, str]:
    """Return the German determiner for an English one, and the declension of an adjective that follows it."""
    row = _row(gender, number)
    if determiner == "the":
        analysis = nominal_feats(case, gender, number, Definite="Def", PronType="Art")
        return _det(_DEFINITE[row, case], "der", "ART", analysis), "weak"
    if determiner in ("a", "no"):
        stem, xpos = ("ein", "ART") if determiner == "a" else ("kein", "PIAT")
        more = {"Definite": "Ind", "PronType": "Art"} if determiner == "a" else {"PronType": "Neg"}
        analysis = nominal_feats(case, gender, number, **more)
        return _det(stem + _MIXED_ARTICLE[row, case], stem, xpos, analysis), "mixed"
    stem, xpos, values, declension = _DETERMINERS[determiner]
    analysis = nominal_feats(case, gender, number, **values)
    lemma = stem + ("e" if determiner in ("all", "both", "some", "many", "few") else "er")
    return _det(stem + _STRONG[row, case], lemma, xpos, analysis), declension


def _det(form: str, lemma: str, xpos: str, analysis: str) -> Word:
    return Word(form=form, lemma=lemma, upos="DET", xpos=xpos, feats=analysis)


_POSSESSIVES = {
    (1, "sg", ""): "mein",
    (2, "sg", ""): "dein",
    (3, "sg", "m"): "sein",
    (3, "sg", "f"): "ihr",
    (3, "sg", "n"): "sein",
    (1, "pl", ""): "unser",
    (3, "pl", ""): "ihr",
}


def possessive_word(
    owner: tuple[int, Number, Gender], *, case: Case, gender: Gender, number: Number
) -> tuple[Word, str]:
    """Return a possessive determiner: the stem from the owner (person, number, gender), the ending from the noun."""
    stem = _POSSESSIVES[_person_key(owner)]
    analysis = nominal_feats(case, gender, number, Poss="Yes", PronType="Prs")
    return _det(stem + _MIXED_ARTICLE[_row(gender, number), case], stem, "PPOSAT", analysis), "mixed"


def adjective_word(*, stem: str, lemma: str, declension: str, case: Case, gender: Gender, number: Number) -> Word:
    """Return a declined attributive adjective."""
    return Word(
        form=stem + _ADJECTIVE[declension][_row(gender, number), case],
        lemma=lemma,
        upos="ADJ",
        xpos="ADJA",
        feats=nominal_feats(case, gender, number, Degree="Pos"),
    )


def relative_word(*, case: Case, gender: Gender, number: Number) -> Word:
    """Return the relative pronoun; in the genitive, it is an owner."""
    analysis = nominal_feats(case, gender, number, PronType="Rel")
    xpos = "PRELAT" if case == "gen" else "PRELS"
    return Word(form=_RELATIVE[_row(gender, number), case], lemma="der", upos="PRON", xpos=xpos, feats=analysis)


def interrogative_word(*, person: bool, case: Case) -> Word:
    """Return wer, wen, wem or was."""
    form = {"nom": "wer", "acc": "wen", "dat": "wem"}[case] if person else "was"
    analysis = feats(Case=_UD_CASE[case], Number="Sing", PronType="Int")
    return Word(form=form, lemma="wer" if person else "was", upos="PRON", xpos="PWS", feats=analysis)


_PERSONAL = {
    (1, "sg", ""): "ich mich mir",
    (2, "sg", ""): "du dich dir",
    (3, "sg", "m"): "er ihn ihm",
    (3, "sg", "f"): "sie sie ihr",
    (3, "sg", "n"): "es es ihm",
    (1, "pl", ""): "wir uns uns",
    (3, "pl", ""): "sie sie ihnen",
}


def _person_key(owner: tuple[int, Number, Gender]) -> tuple[int, str, str]:
    person, number, gender = owner
    return person, number, gender if (person, number) == (3, "sg") else ""


def personal_word(person: int, number: Number, gender: Gender, *, case: Case) -> Word:
    """Return a personal pronoun."""
    key = _person_key((person, number, gender))
    forms = _PERSONAL[key].split()
    values = {"Case": _UD_CASE[case], "Number": _UD_NUMBER[number], "Person": str(person), "PronType": "Prs"}
    if key[2]:
        values["Gender"] = _UD_GENDER[gender]
    return Word(form=forms[_CASES.index(case)], lemma=forms[0], upos="PRON", xpos="PPER", feats=feats(**values))


def reflexive_word(person: int, number: Number) -> Word:
    """Return the accusative reflexive pronoun."""
    form = "sich" if person == 3 else _PERSONAL[person, number, ""].split()[1]
    values = {"Case": "Acc", "Number": _UD_NUMBER[number], "Person": str(person), "PronType": "Prs"}
    return Word(form=form, lemma="sich", upos="PRON", xpos="PRF", feats=feats(Reflex="Yes", **values))


WERDEN = GermanVerb(infinitive="werden", present="wird", past="wurde", participle="worden", sein=True)
HABEN = GermanVerb(infinitive="haben", present="hat", past="hatte", participle="gehabt")
SEIN = GermanVerb(infinitive="sein", present="ist", past="war", participle="gewesen", sein=True)
WOLLEN = GermanVerb(infinitive="wollen", present="will", past="wollte", participle="gewollt")
MODALS = {
    "can": GermanVerb(infinitive="können", present="kann", past="konnte", participle="gekonnt"),
    "must": GermanVerb(infinitive="müssen", present="muss", past="musste", participle="gemusst"),
    "may": GermanVerb(infinitive="dürfen", present="darf", past="durfte", participle="gedurft"),
    "should": GermanVerb(infinitive="sollen", present="sollte", past="sollte", participle="gesollt"),
    "would": GermanVerb(infinitive="werden", present="würde", past="würde", participle="geworden"),
}
AUXILIARIES = (WERDEN, HABEN, SEIN, WOLLEN, *MODALS.values())
_MODAL_LEMMAS = frozenset({"können", "müssen", "dürfen", "sollen", "wollen"})

_IRREGULAR_PRESENT = {
    "sein": {(1, "sg"): "bin", (2, "sg"): "bist", (1, "pl"): "sind", (3, "pl"): "sind"},
    "haben": {(2, "sg"): "hast"},
    "werden": {(2, "sg"): "wirst"},
    "wissen": {(1, "sg"): "weiß", (2, "sg"): "weißt"},
}


def finite_form(verb: GermanVerb, *, past: bool, person: int, number: Number) -> str:
    """Conjugate a verb in the indicative, without its separable prefix."""
    if past or verb.present == verb.past:
        return _past_form(verb.past, person=person, number=number)
    irregular = _IRREGULAR_PRESENT.get(verb.infinitive, {})
    if verb.present != "würde" and (person, number) in irregular:
        return irregular[person, number]
    if (person, number) == (3, "sg"):
        return verb.present
    if number == "pl":
        return verb.infinitive
    if verb.infinitive in _MODAL_LEMMAS:
        return verb.present + ("st" if person == 2 else "")
    stem = verb.infinitive.removesuffix("n").removesuffix("e")
    if person == 1:
        return stem[:-2] + "le" if verb.infinitive.endswith("eln") else stem + "e"
    return _second_person(verb.present, stem=stem)


def _second_person(third: str, *, stem: str) -> str:
    if stem.endswith("t") and not third.endswith("et"):
        return third.removesuffix("t") + ("tst" if not third.endswith("dt") else "st")
    base = third.removesuffix("t")
    return base + ("t" if base.endswith(("s", "ß", "z", "x")) else "st")


def _past_form(past: str, *, person: int, number: Number) -> str:
    if number == "pl":
        return past + ("n" if past.endswith("e") else "en")
    if person == 2:
        return past + ("est" if past.endswith(("s", "ß", "z", "d", "t")) else "st")
    return past


def verb_word(
    verb: GermanVerb, *, form: str, past: bool = False, person: int = 3, number: Number = "sg", fused: bool = True
) -> Word:
    """Return a verb form: fin, inf, part or zu (the infinitive, of a separable verb with zu inside).

    `fused` writes a separable prefix and the finite verb as one word, as at the end of a subordinate clause.
    """
    family = "M" if verb.infinitive in _MODAL_LEMMAS else "A" if verb in AUXILIARIES else "V"
    upos = "VERB" if family == "V" else "AUX"
    if form == "fin":
        text = finite_form(verb, past=past, person=person, number=number)
        text = verb.prefix + text if fused else text
        subjunctive = verb.present == "würde" or (verb.infinitive == "sollen")
        values = {
            "Mood": "Sub" if subjunctive else "Ind",
            "Number": _UD_NUMBER[number],
            "Person": str(person),
            "Tense": "Past" if past or subjunctive else "Pres",
            "VerbForm": "Fin",
        }
    elif form == "part":
        text, values = verb.prefix + verb.participle, {"VerbForm": "Part"}
    else:
        text = verb.prefix + ("zu" if form == "zu" and verb.prefix else "") + verb.infinitive
        values = {"VerbForm": "Inf"}
    tag = {"fin": "FIN", "part": "PP", "inf": "INF", "zu": "IZU" if verb.prefix else "INF"}[form]
    return Word(form=text, lemma=verb.lemma, upos=upos, xpos=f"V{family}{tag}", feats=feats(**values))
