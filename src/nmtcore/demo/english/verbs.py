"""The verbs of an English clause: auxiliaries, verb forms, and CCG categories."""

from nmtcore.demo.english.inflection import BE, DO, HAVE, verb_word
from nmtcore.demo.lexicon.entries import EnglishVerb
from nmtcore.demo.meaning import Predicate
from nmtcore.demo.trees import Word


def category(result: str, *arguments: str) -> str:
    """Return the category that yields `result` after taking `arguments` from its right, the last one first."""
    for argument in arguments:
        result = f"{_bracketed(result)}/{_bracketed(argument)}"
    return result


def _bracketed(text: str) -> str:
    return f"({text})" if "/" in text or "\\" in text else text


def verb_chain(
    meaning: Predicate, *, form: str, agree: tuple[int, str], support: bool, verb: EnglishVerb | None = None
) -> list[tuple[Word, str]]:
    """Return the auxiliaries and the verb, each with its feature; `support` adds `do` if there is no auxiliary."""
    verb = verb or (meaning.verb.english if meaning.verb else BE)
    lemmas: list[EnglishVerb | str] = []
    features = ["b" if form == "to" else form]
    for required, auxiliary, feature in (
        (meaning.modal or meaning.tense == "future", meaning.modal or "will", "b"),
        (meaning.tense in ("perfect", "pluperfect"), HAVE, "pt"),
        (meaning.progressive, BE, "ng"),
        (meaning.passive, BE, "pss"),
    ):
        if required:
            lemmas.append(auxiliary)
            features.append(feature)
    if not lemmas and support and verb is not BE:
        lemmas.append(DO)
        features.append("b")
    lemmas.append(verb)
    past = meaning.tense in ("past", "pluperfect")
    person, number = agree
    return [
        (verb_word(lemma, form=feature, past=past, person=person, number=number, aux=lemma is not verb or verb is BE),
         feature)
        for lemma, feature in zip(lemmas, features, strict=True)
    ]  # fmt: skip


def categorise(chain: list[tuple[Word, str]], *, arguments: list[str], inverted: bool) -> None:
    """Set the category of every verb of the chain: each auxiliary takes the verb phrase of the next verb."""
    for index, (word, feature) in enumerate(chain):
        last = index + 1 == len(chain)
        expected = list(reversed(arguments)) if last else [f"S[{chain[index + 1][1]}]\\NP"]
        if inverted and index == 0:
            word.ccg = category("S[q]", *expected, "NP")
        else:
            word.ccg = category(f"S[{feature}]\\NP", *expected)


def hang_auxiliaries(chain: list[tuple[Word, str]], *, head: Word, passive: bool) -> None:
    """Attach every verb of the chain to the head of the clause, except the head itself."""
    for index, (word, _) in enumerate(chain):
        if word is not head:
            last = index + 1 == len(chain)
            word.head = head
            word.deprel = "cop" if last else "aux:pass" if passive and index + 2 == len(chain) else "aux"
