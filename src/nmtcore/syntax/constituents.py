"""Constituency trees in brackets: `(ROOT (S (NP (PRP He)) (VP (VBZ sleeps))))`; and without their words, for C&H."""

import re
from collections.abc import Iterator, Sequence
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
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)))


@dataclass(slots=True)
class Constituent:
    """A phrase, or a preterminal: a constituent whose only child is a word."""

    label: str
    """May be empty, as in the Penn Treebank's outermost brackets."""
    children: list["Constituent | str"] = field(default_factory=list)

    @property
    def preterminal(self) -> bool:
        """Whether it is a tag and its word."""
        return len(self.children) == 1 and isinstance(self.children[0], str)


def parse_constituents(text: str) -> Constituent:
    """Parse one bracketed tree; anything else is a `ValueError` that says at which character (from 1).

    Spaces, tabs and line breaks part labels and words; a no-break space is a part of a word. No recursion: a tree may
    be as deep as it likes.
    """
    tokens = list(_TOKEN.finditer(text))
    top = Constituent("")
    path = [top]
    for number, found in enumerate(tokens):
        token = found[0]
        if path[-1] is top and (top.children or token != "("):
            raise ValueError(f"no tree, or more than one, at character {found.start() + 1}")
        if token == "(":
            following = tokens[number + 1][0] if number + 1 < len(tokens) else ")"
            child = Constituent("" if following in "()" else following)
            path[-1].children.append(child)
            path.append(child)
        elif token == ")":
            if not path[-1].children:
                raise ValueError(f"a constituent without words at character {found.start() + 1}")
            path.pop()
        elif tokens[number - 1][0] != "(":
            path[-1].children.append(token)
    if len(path) > 1:
        raise ValueError(f"{len(path) - 1} brackets are not closed at character {len(text) + 1}")
    if not top.children:
        raise ValueError("no tree at character 1")
    return top.children[0]


def leaves(tree: Constituent) -> list[str]:
    """List the words of a tree as it writes them, from left to right."""
    return [step for step in _steps(tree) if isinstance(step, str)]


def same_words(tree: Constituent, words: Sequence[str]) -> bool:
    r"""Whether a tree's words are `words`; it may write brackets as -LRB- and so on, and \/ and \* for / and *."""
    found = leaves(tree)
    return len(found) == len(words) and all(
        leaf == word or _ESCAPED.sub(lambda found: _ESCAPES[found[0]], leaf) == word
        for leaf, word in zip(found, words, strict=True)
    )


def linearise(tree: Constituent) -> list[str]:
    """Write a tree as Currey and Heafield 2019 do for their second task: phrases alone, in the order of the words.

    A phrase is `(LABEL`, what is in it, and `)`, each a token of its own; words and preterminals are left out, so one
    of tags alone is `(NP )`; chains of unary phrases stay. (The paper shows labels on opening brackets; that closing
    ones are bare is assumed.)
    """
    tokens: list[str] = []
    hidden = 0
    for step in _steps(tree):
        if isinstance(step, Constituent):
            if step.preterminal:
                hidden = 1
            else:
                tokens.append(f"({step.label}")
        elif step is None:
            if not hidden:
                tokens.append(")")
            hidden = 0
    return tokens


def constituency_fault(text: str, words: int) -> str | None:
    """Say what keeps `text` from being a tree over so many words; None if nothing does."""
    try:
        found = len(leaves(parse_constituents(text)))
    except ValueError as error:
        return f"the constituency tree is broken: {error}"
    return None if found == words else f"the constituency tree has {found} words for {words} words"


def _steps(tree: Constituent) -> Iterator[Constituent | str | None]:
    """Walk a tree depth first: each constituent, what is in it, and None at its end; words between."""
    waiting: list[Constituent | str | None] = [tree]
    while waiting:
        step = waiting.pop()
        yield step
        if isinstance(step, Constituent):
            waiting.append(None)
            waiting += reversed(step.children)
