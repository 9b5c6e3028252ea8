"""Constituency trees in brackets, `(ROOT (S (NP (PRP He)) (VP (VBZ sleeps))))`, and their linearisation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(r"[()]|[^() \t\r\n]+")
_ESCAPES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "\\/": "/",
    "\\*": "*",
}
MAX_DEPTH = 200
"""Levels of brackets; a tree of a sentence has at most some dozens. Each takes two of Python's 1,000 calls."""
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)))


@dataclass(slots=True)
class Constituent:
    """A phrase, or a preterminal, whose only child is a word."""

    label: str
    """Label; may be empty, as in the Penn Treebank's outermost brackets."""
    children: list["Constituent | str"] = field(default_factory=list)

    @property
    def preterminal(self) -> bool:
        """Whether this constituent is a tag with its word."""
        return len(self.children) == 1 and isinstance(self.children[0], str)


def parse_constituents(text: str) -> Constituent:
    """Parse one bracketed tree. Raises ValueError, naming the character (from 1), if the text is no single tree.

    Spaces, tabs and line breaks separate labels and words; a no-break space is part of a word.
    """
    tokens = list(_TOKEN.finditer(text))
    top = Constituent("")
    path = [top]
    for number, match in enumerate(tokens):
        token = match[0]
        if path[-1] is top and (top.children or token != "("):
            raise ValueError(f"no tree, or more than one, at character {match.start() + 1}")
        if token == "(":
            following = tokens[number + 1][0] if number + 1 < len(tokens) else ")"
            child = Constituent("" if following in "()" else following)
            path[-1].children.append(child)
            path.append(child)
            if len(path) - 1 > MAX_DEPTH:
                raise ValueError(f"more than {MAX_DEPTH} levels at character {match.start() + 1}")
        elif token == ")":
            if not path[-1].children:
                raise ValueError(f"a constituent without words at character {match.start() + 1}")
            path.pop()
        elif tokens[number - 1][0] != "(":
            path[-1].children.append(token)
    if len(path) > 1:
        raise ValueError(f"{len(path) - 1} brackets are not closed at character {len(text) + 1}")
    if not top.children:
        raise ValueError("no tree at character 1")
    return top.children[0]


def leaves(tree: Constituent) -> list[str]:
    """List the words of a tree from left to right, escaped as in the tree."""
    return [word for child in tree.children for word in ([child] if isinstance(child, str) else leaves(child))]


def same_words(tree: Constituent, words: Sequence[str]) -> bool:
    r"""Return whether a tree's words are `words`; its brackets may be -LRB- etc., its / and * may be \/ and \*."""
    tree_words = leaves(tree)
    return len(tree_words) == len(words) and all(
        leaf == word or _ESCAPED.sub(lambda match: _ESCAPES[match[0]], leaf) == word
        for leaf, word in zip(tree_words, words, strict=True)
    )


_ROOT_LABELS = ("", "ROOT", "TOP")
"""Labels of the outermost bracket, which every tree has."""


def phrase_labels(tree: Constituent) -> set[str]:
    """Return the labels of a tree's phrases, without preterminals, the outermost bracket and functions (`NP-SBJ`)."""
    if tree.preterminal:
        return set()
    labels = set() if tree.label in _ROOT_LABELS else {re.split("[-=]", tree.label)[0] or tree.label}
    return labels.union(*(phrase_labels(child) for child in tree.children if isinstance(child, Constituent)))


def linearise(tree: Constituent) -> list[str]:
    """Linearise a tree as Currey and Heafield 2019 do for their second task: phrases only, in word order.

    A phrase is the token `(LABEL`, the tokens of its phrases, and the token `)`. Words and preterminals are removed, so
    a phrase of tags alone is `(NP )`; unary chains stay. (The paper shows labels on opening brackets; closing brackets
    without labels are an assumption.)
    """
    if tree.preterminal:
        return []
    children = (child for child in tree.children if isinstance(child, Constituent))
    return [f"({tree.label}", *(token for child in children for token in linearise(child)), ")"]


def constituency_fault(text: str, words: int) -> str | None:
    """Return why `text` is no tree over `words` words, or None if it is one."""
    try:
        tree_words = len(leaves(parse_constituents(text)))
    except ValueError as error:
        return f"the constituency tree is broken: {error}"
    return None if tree_words == words else f"the constituency tree has {tree_words} words for {words} words"
