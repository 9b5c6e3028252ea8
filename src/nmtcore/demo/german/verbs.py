"""The verbs of a German clause: their forms, and their order at the end of the clause."""

from nmtcore.demo.german.inflection import HABEN, MODALS, SEIN, WERDEN, WOLLEN, verb_word
from nmtcore.demo.lexicon.entries import GermanVerb
from nmtcore.demo.meaning import Predicate
from nmtcore.demo.trees import Word


def verb_chain(meaning: Predicate, *, form: str, agree: tuple[int, str], final: bool) -> list[tuple[Word, GermanVerb]]:
    """Return the verbs in the order of a subordinate clause: from the innermost to the outermost."""
    verbs = [meaning.verb.german if meaning.verb else SEIN]
    forms: list[str] = []
    if meaning.passive:
        verbs.append(WERDEN)
        forms.append("part")
    if meaning.tense in ("perfect", "pluperfect"):
        verbs.append(SEIN if verbs[-1].sein else HABEN)
        forms.append("part")
    outer = _modal(meaning)
    if outer is not None:
        verbs.append(outer)
        forms.append("inf")
    forms.append(form)
    past = meaning.tense in ("past", "pluperfect")
    person, number = agree
    return [
        (
            verb_word(verb, form=verb_form, past=past, person=person, number=number, fused=final or verb_form != "fin"),
            verb,
        )  # type: ignore[arg-type]
        for verb, verb_form in zip(verbs, forms, strict=True)
    ]


def _modal(meaning: Predicate) -> GermanVerb | None:
    """Return the modal or future auxiliary, if any; `must not` is darf nicht."""
    if meaning.attitude == "want":
        return WOLLEN
    if meaning.modal:
        return MODALS["may" if meaning.modal == "must" and meaning.negated else meaning.modal]
    return WERDEN if meaning.tense == "future" else None


def hang_verbs(chain: list[tuple[Word, GermanVerb]], *, head: Word) -> list[Word]:
    """Attach every verb to the head of the clause, except the head itself; return all verbs, the outermost last."""
    for index, (word, verb) in enumerate(chain):
        if word is not head:
            word.head = head
            passive = verb is WERDEN and index == 1 and chain[0][0].feats == "VerbForm=Part"
            word.deprel = "cop" if index == 0 else "aux:pass" if passive else "aux"
    return [word for word, _ in chain]
