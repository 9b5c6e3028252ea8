"""English inflection: verbs, pronouns and determiners as words with tags and features."""

from nmtcore.demo.lexicon.entries import EnglishVerb, Number
from nmtcore.demo.meaning import Pronoun
from nmtcore.demo.trees import Word, feats

_DOUBLED = frozenset({"stop", "swim", "run", "cut", "plan", "forget", "put", "get", "begin", "sit", "forbid"})
_BE = {(1, "sg"): "am", (3, "sg"): "is"}

BE = EnglishVerb(base="be", past="was", participle="been")
HAVE = EnglishVerb(base="have", past="had", participle="had")
DO = EnglishVerb(base="do", past="did", participle="done")
LIKE = EnglishVerb(base="like", past="liked", participle="liked")
WANT = EnglishVerb(base="want", past="wanted", participle="wanted")


def third_person(base: str) -> str:
    """Return the third person singular of the present tense."""
    if base in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[base]
    if base.endswith(("s", "sh", "ch", "x", "z")):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def gerund(base: str) -> str:
    """Return the form in -ing."""
    if base in ("lie", "die"):
        return base[:-2] + "ying"
    if base in _DOUBLED:
        return base + base[-1] + "ing"
    if base.endswith("e") and base != "be" and not base.endswith("ee"):
        return base[:-1] + "ing"
    return base + "ing"


def _finite(verb: EnglishVerb, *, past: bool, person: int, number: Number) -> tuple[str, str]:
    third = person == 3 and number == "sg"
    if verb is BE and past:
        return ("was" if number == "sg" and person != 2 else "were"), "VBD"
    if past:
        return verb.past, "VBD"
    if verb is BE:
        return _BE.get((person, number), "are"), "VBZ" if third else "VBP"
    return (third_person(verb.base), "VBZ") if third else (verb.base, "VBP")


def verb_word(
    verb: EnglishVerb | str, *, form: str, past: bool = False, person: int = 3, number: Number = "sg", aux: bool = False
) -> Word:
    """Inflect a verb. `form` is the feature of its CCG category: dcl or q (finite), b, to, ng, pt or pss.

    If `verb` is a string, it is a modal. `aux` makes the word an auxiliary.
    """
    upos = "AUX" if aux else "VERB"
    if isinstance(verb, str):
        return Word(form=verb, lemma=verb, upos="AUX", xpos="MD", feats=feats(VerbForm="Fin"))
    if form in ("dcl", "q"):
        text, xpos = _finite(verb, past=past, person=person, number=number)
        analysis = feats(
            Mood="Ind",
            Number="Sing" if number == "sg" else "Plur",
            Person=str(person),
            Tense="Past" if past else "Pres",
            VerbForm="Fin",
        )
    elif form in ("b", "to"):
        text, xpos, analysis = verb.base, "VB", feats(VerbForm="Inf")
    elif form == "ng":
        text, xpos, analysis = gerund(verb.base), "VBG", feats(Tense="Pres", VerbForm="Part")
    else:
        voice = {"Voice": "Pass"} if form == "pss" else {}
        text, xpos, analysis = verb.participle, "VBN", feats(Tense="Past", VerbForm="Part", **voice)
    return Word(form=text, lemma=verb.base, upos=upos, xpos=xpos, feats=analysis)


_PERSONAL = {
    (1, "sg", ""): ("I", "me", "my"),
    (2, "sg", ""): ("you", "you", "your"),
    (3, "sg", "m"): ("he", "him", "his"),
    (3, "sg", "f"): ("she", "her", "her"),
    (3, "sg", "n"): ("it", "it", "its"),
    (1, "pl", ""): ("we", "us", "our"),
    (3, "pl", ""): ("they", "them", "their"),
}
_UD_GENDER = {"m": "Masc", "f": "Fem", "n": "Neut"}


def pronoun_word(pronoun: Pronoun, *, role: str) -> Word:
    """Return a personal pronoun as `subject`, `object` or `owner`."""
    gender = pronoun.gender if (pronoun.person, pronoun.number) == (3, "sg") else ""
    forms = _PERSONAL[pronoun.person, pronoun.number, gender]
    values = {"Number": "Sing" if pronoun.number == "sg" else "Plur", "Person": str(pronoun.person), "PronType": "Prs"}
    if gender:
        values["Gender"] = _UD_GENDER[gender]
    if role == "owner":
        values["Poss"] = "Yes"
    elif forms[0] not in ("you", "it"):
        values["Case"] = "Nom" if role == "subject" else "Acc"
    text = forms[("subject", "object", "owner").index(role)]
    lemma = forms[2] if role == "owner" else forms[0]
    xpos, ccg = ("PRP$", "NP/N") if role == "owner" else ("PRP", "NP")
    return Word(form=text, lemma=lemma, upos="PRON", xpos=xpos, feats=feats(**values), ccg=ccg)


_DETERMINERS = {
    "the": {"Definite": "Def", "PronType": "Art"},
    "a": {"Definite": "Ind", "PronType": "Art"},
    "this": {"Number": "Sing", "PronType": "Dem"},
    "that": {"Number": "Sing", "PronType": "Dem"},
    "every": {"PronType": "Tot"},
    "all": {"PronType": "Tot"},
    "both": {"PronType": "Tot"},
    "some": {"PronType": "Ind"},
    "many": {"PronType": "Ind"},
    "few": {"PronType": "Ind"},
    "no": {"PronType": "Neg"},
    "which": {"PronType": "Int"},
}


def determiner_word(determiner: str, *, number: Number, following: str) -> Word:
    """Return a determiner; the next word, `following`, decides between a and an."""
    values = dict(_DETERMINERS[determiner])
    text = determiner
    if determiner == "a" and following[0] in "aeiou":
        text = "an"
    if determiner in ("this", "that") and number == "pl":
        text = {"this": "these", "that": "those"}[determiner]
        values["Number"] = "Plur"
    xpos = "WDT" if determiner == "which" else "DT"
    return Word(form=text, lemma=determiner, upos="DET", xpos=xpos, feats=feats(**values), ccg="NP/N")
