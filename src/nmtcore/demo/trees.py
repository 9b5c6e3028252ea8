"""Words with their heads, finished sentences, and constituents that are projected from dependencies.

A head is a reference to another word, not a position, so that words can be ordered freely. A phrase is a list of words
of which one, its head, has no head yet.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nmtcore.syntax.annotation import Annotation
from nmtcore.syntax.trees import HEAD_OF_ROOT


@dataclass(eq=False, slots=True)
class Word:
    """One word of a sentence with its analysis; `head` is None for the root."""

    form: str
    upos: str
    xpos: str
    ccg: str = ""
    lemma: str = ""
    feats: str = "_"
    deprel: str = "root"
    head: "Word | None" = None

    def __post_init__(self) -> None:
        self.lemma = self.lemma or self.form


@dataclass(frozen=True, kw_only=True, slots=True)
class Realisation:
    """A sentence in one language: its text, its words, and their analysis."""

    text: str
    words: list[str]
    annotation: Annotation


def feats(**values: str) -> str:
    """Format morphological features for Universal Dependencies: sorted, `Name=Value|...`, or "_" for none."""
    return "|".join(f"{name}={values[name]}" for name in sorted(values, key=str.lower)) or "_"


def head_of(phrase: Sequence[Word]) -> Word:
    """Return the head of a phrase."""
    return next(word for word in phrase if word.head is None)


def hang(phrase: list[Word], head: Word, deprel: str) -> list[Word]:
    """Attach a phrase to `head`; return its words."""
    word = head_of(phrase)
    word.head, word.deprel = head, deprel
    return phrase


def punctuation(form: str, head: Word, xpos: str) -> Word:
    """Return a punctuation mark attached to `head`."""
    return Word(form, "PUNCT", xpos, "," if form == "," else ".", deprel="punct", head=head)


def hang_verbs(verbs: Sequence[Word], head: Word, *, passive: bool) -> None:
    """Attach verbs, of which the main one is the first, to the head of their clause: one of them or a complement."""
    for index, word in enumerate(verbs):
        if word is not head:
            word.head, word.deprel = head, "cop" if index == 0 else "aux:pass" if passive and index == 1 else "aux"


def conjoined(conjunction: Word, second: list[Word], head: Word) -> list[Word]:
    """Return a second phrase or clause after its conjunction, attached to the head of the first."""
    return [*hang([conjunction], head_of(second), "cc"), *hang(second, head, "conj")]


def without_double_marks(words: list[Word]) -> list[Word]:
    """Drop commas that precede another punctuation mark."""
    return [
        word
        for word, following in zip(words, [*words[1:], None], strict=True)
        if word.form != "," or following is None or following.upos != "PUNCT"
    ]


def lay_out(words: list[Word], *, english: bool) -> Realisation:
    """Return the sentence made of `words`, with the first one capitalised and heads as positions.

    Only English has CCG categories, and constituents: all its trees are projective.
    """
    words = without_double_marks(words)
    position = {id(word): index for index, word in enumerate(words, start=1)}
    words[0].form = words[0].form[0].upper() + words[0].form[1:]
    forms = [word.form for word in words]
    columns = ("lemma", "upos", "xpos", "feats", "deprel")
    annotation = Annotation(
        **{column: [getattr(word, column) for word in words] for column in columns},
        head=[HEAD_OF_ROOT if word.head is None else position[id(word.head)] for word in words],
        ccg=[word.ccg for word in words] if english else None,
        constituency=constituents(words) if english else None,
    )
    text = re.sub(r" (?=[,.?]|'s )", "", " ".join(forms))
    return Realisation(text=text, words=forms, annotation=annotation)


_LOWEST = {"NOUN": "NP", "PROPN": "NP", "PRON": "NP", "VERB": "VP", "ADJ": "ADJP", "ADV": "ADVP", "NUM": "QP"}
"""Label of a word's lowest phrase, by part of speech."""

_HIGHER = [
    ({"aux", "aux:pass", "cop"}, "VP"),
    ({"nsubj", "nsubj:pass", "expl", "punct"}, "S"),
    ({"case"}, "PP"),
    ({"mark"}, "SBAR"),
    ({"cc", "conj"}, ""),
]
"""Higher phrases from the lowest to the highest: the relations of their dependents, and their label ("" for that of the
phrase below). Dependents with any other relation belong to the lowest phrase."""

_BARE = {"amod", "aux", "aux:pass", "case", "cc", "compound", "compound:prt", "cop", "det", "det:poss", "fixed"}
_BARE |= {"mark", "nummod", "punct"}
"""Relations of words that, without dependents, have a tag but no phrase."""


def constituents(words: Sequence[Word]) -> str:
    """Return the constituents in brackets, under ROOT; raises ValueError if the tree is not projective.

    The method is that of Collins et al. 1999 for Czech, except that a head can project several nested phrases: the
    closer the relation of a dependent, the lower its phrase.
    """
    position = {id(word): number for number, word in enumerate(words)}
    dependents: list[list[Word]] = [[] for _ in words]
    for word in words:
        if word.head is not None:
            dependents[position[id(word.head)]].append(word)

    def phrase(word: Word) -> tuple[str, int, int]:
        """Return a word's phrase in brackets, and the positions of its first and last word."""
        first = last = position[id(word)]
        tree, own = f"({word.xpos} {word.form})", dependents[first]
        if not own and (word.deprel in _BARE or word.upos not in _LOWEST):
            return tree, first, last
        left = _outward(d for d in reversed(own) if position[id(d)] < first)
        right = _outward(d for d in own if position[id(d)] > last)
        label = _LOWEST.get(word.upos, "X")
        for height, name in enumerate([label, *(name for _, name in _HIGHER)]):
            added = [dependent for dependent, level in (*left, *right) if level == height]
            if height and not added:
                continue
            label = name or label
            for below, start, end in map(phrase, added):
                if end == first - 1:
                    tree, first = f"{below} {tree}", start
                elif start == last + 1:
                    tree, last = f"{tree} {below}", end
                else:
                    raise ValueError(f"the words below '{word.form}' are not contiguous: the tree is not projective")
            tree = f"({label} {tree})"
        return tree, first, last

    (root,) = (word for word in words if word.head is None)
    return f"(ROOT {phrase(root)[0]})"


def _outward(dependents: Iterable[Word]) -> list[tuple[Word, int]]:
    """Return each dependent of one side with its height, from the head outwards; heights never decrease."""
    dependents_and_heights, height = [], 0
    for word in dependents:
        heights = (k for k, (relations, _) in enumerate(_HIGHER, start=1) if word.deprel in relations)
        # "to" and its verb form a verb phrase.
        height = max(height, 1 if word.xpos == "TO" else next(heights, 0))
        dependents_and_heights.append((word, height))
    return dependents_and_heights
