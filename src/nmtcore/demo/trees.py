"""Words with their heads, phrases, and finished sentences.

A head is a reference to another word, not a position, so that a realiser can order the words freely.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

from nmtcore.syntax.annotation import Annotation
from nmtcore.syntax.trees import HEAD_OF_ROOT


@dataclass(eq=False, kw_only=True, slots=True)
class Word:
    """One word of a sentence with its analysis; `head` is None for the root."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str = "_"
    ccg: str = ""
    deprel: str = "root"
    head: "Word | None" = None


@dataclass(kw_only=True, slots=True)
class Phrase:
    """Words in their order, and the one that heads the phrase."""

    head: Word
    words: list[Word] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, slots=True)
class Realisation:
    """A sentence in one language: its text, its words, and their analysis."""

    text: str
    words: list[str]
    annotation: Annotation


def feats(**values: str) -> str:
    """Format morphological features for Universal Dependencies: sorted, `Name=Value|...`, or "_" for none."""
    return _joined(tuple(values.items()))


@cache
def _joined(values: tuple[tuple[str, str], ...]) -> str:
    return "|".join(f"{name}={value}" for name, value in sorted(values, key=lambda item: item[0].lower())) or "_"


def attach(dependent: Phrase | Word, *, head: Word, deprel: str) -> list[Word]:
    """Attach a phrase to `head`; return its words."""
    word = dependent.head if isinstance(dependent, Phrase) else dependent
    word.head, word.deprel = head, deprel
    return dependent.words if isinstance(dependent, Phrase) else [dependent]


def punctuation(form: str, *, head: Word, xpos: str) -> Word:
    """Return a punctuation mark attached to `head`."""
    ccg = "," if form == "," else "."
    return Word(form=form, lemma=form, upos="PUNCT", xpos=xpos, ccg=ccg, deprel="punct", head=head)


def detokenise(words: Iterable[str]) -> str:
    """Join words into raw text, without a space before punctuation and the English 's."""
    text = ""
    for word in words:
        text += word if not text or word in {",", ".", "?", "'s"} else " " + word
    return text


def without_double_marks(words: list[Word]) -> list[Word]:
    """Drop commas that precede another punctuation mark."""
    following = [*words[1:], None]
    return [
        word
        for word, after in zip(words, following, strict=True)
        if not (word.form == "," and after is not None and after.upos == "PUNCT")
    ]


def lay_out(words: list[Word], *, ccg: bool, bracketed: Callable[[list[Word]], str] | None = None) -> Realisation:
    """Return the sentence made of `words`, with the first one capitalised and heads as positions.

    `bracketed` returns the constituents of the words in brackets.
    """
    words = without_double_marks(words)
    position = {id(word): index for index, word in enumerate(words, start=1)}
    words[0].form = words[0].form[0].upper() + words[0].form[1:]
    forms = [word.form for word in words]
    annotation = Annotation(
        lemma=[word.lemma for word in words],
        upos=[word.upos for word in words],
        xpos=[word.xpos for word in words],
        feats=[word.feats for word in words],
        head=[HEAD_OF_ROOT if word.head is None else position[id(word.head)] for word in words],
        deprel=[word.deprel for word in words],
        ccg=[word.ccg for word in words] if ccg else None,
        constituency=bracketed(words) if bracketed else None,
    )
    return Realisation(text=detokenise(forms), words=forms, annotation=annotation)
