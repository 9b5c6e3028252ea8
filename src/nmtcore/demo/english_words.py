"""English words with their forms, tags, features and CCG categories."""

from nmtcore.demo.lexicon import DETERMINERS, EnglishVerb, Noun, Number, Pronoun
from nmtcore.demo.trees import Word, feats, hang

_DOUBLED = frozenset({"stop", "swim", "run", "cut", "plan", "forget", "put", "get", "begin", "sit", "forbid"})
_UD_GENDER = {"m": "Masc", "f": "Fem", "n": "Neut"}


def category(result: str, *arguments: str) -> str:
    """Return the category that yields `result` after taking `arguments` from its right, the last one first."""
    for argument in arguments:
        result = f"{_bracketed(result)}/{_bracketed(argument)}"
    return result


def _bracketed(text: str) -> str:
    return f"({text})" if "/" in text or "\\" in text else text


def verb_word(verb: EnglishVerb, form: str, *, past: bool, agree: tuple[int, Number], aux: bool) -> Word:
    """Inflect a verb; `aux` makes it an auxiliary.

    A form is the feature of a CCG category: dcl or q (finite), b, to or ng (infinitives), pt or pss (participles).
    """
    (person, number), upos, base = agree, "AUX" if aux else "VERB", verb.base
    if aux and base in ("will", "can", "must", "may", "should", "would"):
        return Word(base, "AUX", "MD", feats=feats(VerbForm="Fin"))
    if form in ("dcl", "q"):
        third = (person, number) == (3, "sg")
        values = {"Mood": "Ind", "Number": "Sing" if number == "sg" else "Plur", "Person": str(person)}
        values |= {"Tense": "Past" if past else "Pres", "VerbForm": "Fin"}
        text = _finite(verb, past=past, person=person, number=number)
        return Word(text, upos, "VBD" if past else "VBZ" if third else "VBP", lemma=base, feats=feats(**values))
    if form in ("b", "to"):
        return Word(base, upos, "VB", feats=feats(VerbForm="Inf"))
    if form == "ng":
        return Word(_gerund(base), upos, "VBG", lemma=base, feats=feats(Tense="Pres", VerbForm="Part"))
    voice = {"Voice": "Pass"} if form == "pss" else {}
    return Word(verb.participle, upos, "VBN", lemma=base, feats=feats(Tense="Past", VerbForm="Part", **voice))


def _finite(verb: EnglishVerb, *, past: bool, person: int, number: Number) -> str:
    base, third = verb.base, (person, number) == (3, "sg")
    if base == "be" and past:
        return "was" if number == "sg" and person != 2 else "were"
    if past:
        return verb.past
    if base == "be":
        return {(1, "sg"): "am", (3, "sg"): "is"}.get((person, number), "are")
    if not third:
        return base
    if base == "have":
        return "has"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


def _gerund(base: str) -> str:
    if base in ("lie", "die"):
        return base[:-2] + "ying"
    if base in _DOUBLED:
        return base + base[-1] + "ing"
    if base.endswith("e") and base != "be" and not base.endswith("ee"):
        return base[:-1] + "ing"
    return base + "ing"


def pronoun_word(pronoun: Pronoun, *, role: str) -> Word:
    """Return a personal pronoun as `subject`, `object` or `owner`."""
    subject, accusative, owner = pronoun.english
    values = {"Number": "Sing" if pronoun.number == "sg" else "Plur", "Person": str(pronoun.person), "PronType": "Prs"}
    if pronoun.gender:
        values["Gender"] = _UD_GENDER[pronoun.gender]
    if role == "owner":
        return Word(owner, "PRON", "PRP$", "NP/N", feats=feats(Poss="Yes", **values))
    if subject != accusative:
        values["Case"] = "Nom" if role == "subject" else "Acc"
    text = subject if role == "subject" else accusative
    return Word(text, "PRON", "PRP", "NP", lemma=subject, feats=feats(**values))


def determiner_word(determiner: str, *, number: Number, following: str) -> Word:
    """Return a determiner; the next word, `following`, decides between a and an."""
    text, values = determiner, {"PronType": DETERMINERS[determiner]}
    if determiner in ("the", "a"):
        values["Definite"] = "Def" if determiner == "the" else "Ind"
    if determiner == "a" and following[0] in "aeiou":
        text = "an"
    if determiner in ("this", "that"):
        values["Number"] = "Plur" if number == "pl" else "Sing"
        text = {"this": "these", "that": "those"}[determiner] if number == "pl" else determiner
    return Word(text, "DET", "WDT" if determiner == "which" else "DT", "NP/N", lemma=determiner, feats=feats(**values))


def noun_words(noun: Noun, number: Number) -> list[Word]:
    """Return a noun, or the words of a compound."""
    *modifiers, last = noun.english[number == "pl"].split("_")
    tag, value = ("NNS", "Plur") if number == "pl" else ("NN", "Sing")
    head = Word(last, "NOUN", tag, "N", lemma=noun.english[0].split("_")[-1], feats=feats(Number=value))
    compound = [Word(form, "NOUN", "NN", "N/N", feats=feats(Number="Sing")) for form in modifiers]
    return [*(word for part in compound for word in hang([part], head, "compound")), head]
