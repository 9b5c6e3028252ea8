"""Annotations as CoNLL-U."""

from collections.abc import Sequence

from nmtcore.syntax.annotation import Annotation


def conllu_sentence(
    words: Sequence[str], annotation: Annotation, *, sent_id: str | int | None = None, text: str | None = None
) -> str:
    """Write a sentence in CoNLL-U, with the empty line after it; what the annotation lacks is `_`.

    White space other than spaces inside a word (it would break the format's lines and columns) becomes a space, and any
    in `text` as well.
    """
    lines = [] if sent_id is None else [f"# sent_id = {sent_id}"]
    lines += [] if text is None else [" ".join(["# text =", *text.split()])]
    for k, word in enumerate(words):
        cells = [str(k + 1), word, *(_cell(annotation, column, k) for column in _COLUMNS), "_", "_"]
        lines.append("\t".join(" ".join(cell.split()) or "_" for cell in cells))
    return "\n".join([*lines, "", ""])


_COLUMNS = ("lemma", "upos", "xpos", "feats", "head", "deprel")


def _cell(annotation: Annotation, column: str, k: int) -> str:
    values = getattr(annotation, column)
    return "_" if values is None else str(values[k])
