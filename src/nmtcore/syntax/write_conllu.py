"""Writing of annotations in CoNLL-U."""

from collections.abc import Sequence

from nmtcore.syntax.annotation import Annotation


def conllu_sentence(
    words: Sequence[str], annotation: Annotation, *, sent_id: str | int | None = None, text: str | None = None
) -> str:
    """Format a sentence in CoNLL-U, including the empty line at its end; missing annotations are `_`.

    White space in a word or in `text` becomes a space, because tabs and line breaks would break the format.
    """
    lines = [] if sent_id is None else [f"# sent_id = {sent_id}"]
    lines += [] if text is None else [" ".join(["# text =", *text.split()])]
    for k, word in enumerate(words):
        cells = [str(k + 1), word, *(_conllu_cell(annotation, column, k) for column in _COLUMNS), "_", "_"]
        lines.append("\t".join(" ".join(cell.split()) or "_" for cell in cells))
    return "\n".join([*lines, "", ""])


_COLUMNS = ("lemma", "upos", "xpos", "feats", "head", "deprel")


def _conllu_cell(annotation: Annotation, column: str, k: int) -> str:
    values = getattr(annotation, column)
    return "_" if values is None else str(values[k])
