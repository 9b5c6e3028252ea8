"""The verbs of a German clause: their forms, and their order at its end."""

from nmtcore.demo.german.inflection import HABEN, MODALS, SEIN, WERDEN, WOLLEN, verb_word
from nmtcore.demo.lexicon.entries import GermanVerb
from nmtcore.demo.meaning import Predicate
from nmtcore.demo.trees import Word


def verb_chain(meaning: Predicate, *, form: str, agree: tuple[int, str], final: bool) -> list[tuple[Word, GermanVerb]]:
    """Return the verbs from the innermost to the outermost, as they stand at the end of a subordinate clause."""
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
        (verb_word(verb, form=wanted, past=past, person=person, number=number, fused=final or wanted != "fin"), verb)  # type: ignore[arg-type]
        for verb, wanted in zip(verbs, forms, strict=True)
    ]


def _modal(meaning: Predicate) -> GermanVerb | None:
    """Return the modal, if any; what one must not do, one darf nicht."""
    if meaning.attitude == "want":
        return WOLLEN
    if meaning.modal:
        return MODALS["may" if meaning.modal == "must" and meaning.negated else meaning.modal]
    return WERDEN if meaning.tense == "future" else None


def hang_verbs(chain: list[tuple[Word, GermanVerb]], *, head: Word) -> list[Word]:
    """Hang every verb but the head itself on the head of the clause; return them, the outermost last."""
    for index, (word, verb) in enumerate(chain):
        if word is not head:
            word.head = head
            passive = verb is WERDEN and index == 1 and chain[0][0].feats == "VerbForm=Part"
            word.deprel = "cop" if index == 0 else "aux:pass" if passive else "aux"
    return [word for word, _ in chain]
