"""The analysis of one sentence by a parser or tagger: its checks, and its form in CoNLL-U."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from nmtcore.syntax.categories import category_fault
from nmtcore.syntax.constituents import constituency_fault
from nmtcore.syntax.trees import HEAD_OF_ROOT, find_cycle


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotation:
    """The analysis of one sentence: one list entry per word; None for what the annotator does not provide.

    `head` is 1-based with 0 for a root, as in CoNLL-U; several roots are normal (CzEng). If the sentence could not be
    analysed, `reason` says why and all other fields are None.
    """

    lemma: Sequence[str] | None = None
    upos: Sequence[str] | None = None
    xpos: Sequence[str] | None = None
    feats: Sequence[str] | None = None
    head: Sequence[int] | None = None
    deprel: Sequence[str] | None = None
    ccg: Sequence[str] | None = None
    constituency: str | None = None
    reason: str | None = None


COLUMNS = tuple(field.name for field in fields(Annotation))
"""The fields of an annotation, in the order of its Parquet columns."""
PER_WORD = COLUMNS[:7]
"""The fields that are lists with one entry per word, those of CoNLL-U first."""


def failed(reason: str) -> Annotation:
    """Make the null annotation of a sentence that could not be analysed."""
    return Annotation(reason=reason)


def tree_fault(heads: Sequence[int]) -> str | None:
    """Return why `heads` (1-based, 0 = root) is no forest under the artificial root, or None if it is one."""
    n = len(heads)
    for word, head in enumerate(heads, start=1):
        if not 0 <= head <= n:
            return f"word {word} has head {head}, but the sentence has {n} words"
        if head == word:
            return f"word {word} is its own head"
    if n and HEAD_OF_ROOT not in heads:
        return "no word is a root (head 0)"
    cycle = find_cycle(heads)
    return f"the heads form a cycle at word {cycle[0]}" if cycle else None


def annotation_fault(annotation: Annotation, words: int) -> str | None:
    """Return what is wrong with an annotation of a sentence of `words` words, or None."""
    if annotation.reason is not None:
        return None
    for column in PER_WORD:
        values = getattr(annotation, column)
        if values is not None and len(values) != words:
            return f"{column} has {len(values)} entries for {words} words"
    if annotation.head is not None and (fault := tree_fault(annotation.head)):
        return fault
    for number, category in enumerate(annotation.ccg or (), start=1):
        if fault := category_fault(category):
            return f"word {number}: {fault}"
    return None if annotation.constituency is None else constituency_fault(annotation.constituency, words)


def conllu_sentence(
    words: Sequence[str], annotation: Annotation, *, sent_id: str | int | None = None, text: str | None = None
) -> str:
    """Format a sentence in CoNLL-U, including the empty line at its end; missing annotations are `_`.

    White space in a word or in `text` becomes a space, because tabs and line breaks would break the format.
    """
    lines = [] if sent_id is None else [f"# sent_id = {sent_id}"]
    lines += [] if text is None else [" ".join(["# text =", *text.split()])]
    columns = [getattr(annotation, column) for column in PER_WORD[:6]]
    for k, word in enumerate(words):
        values = ("_" if column is None else str(column[k]) for column in columns)
        lines.append("\t".join(" ".join(cell.split()) or "_" for cell in (str(k + 1), word, *values, "_", "_")))
    return "\n".join([*lines, "", ""])
