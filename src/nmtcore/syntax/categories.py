r"""Categories of combinatory categorial grammar in CCGbank's notation: `S[dcl]\NP`, `(S\NP)/NP`, `conj`, `,`."""

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_DEPTH = 50
"""Largest depth of nested brackets; deeper ones are noise (real categories have at most six)."""

_TOKEN = re.compile(
    r"""(?P<sign>[()/\\])
    |(?P<atom>[^\W\d_]+|[.,:;?!'"`$#%-]+)                       # NP, conj, LRB; or punctuation
    (?:\[(?P<feature>[\w=,|-]+)\]|:(?P<mark>[\w]+))?""",  # S[dcl] as in CCGbank, NP:thr as in the PMB
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Atomic:
    """A category without arguments; `feature` is "" if it has none."""

    name: str
    feature: str = ""

    def __str__(self) -> str:
        return f"{self.name}[{self.feature}]" if self.feature else self.name


@dataclass(frozen=True, slots=True)
class Functor:
    r"""A category that takes an `argument` on its right (slash "/") or its left ("\") and yields `result`."""

    result: "Category"
    slash: str
    argument: "Category"

    def __str__(self) -> str:
        left, right = (f"({part})" if isinstance(part, Functor) else str(part) for part in (self.result, self.argument))
        return f"{left}{self.slash}{right}"


Category = Atomic | Functor


@lru_cache(maxsize=100_000)
def parse_category(text: str) -> Category:
    """Parse a category. Raises ValueError, naming the character (from 1), if it is ill-formed.

    Only the form is checked: an atomic category may be any letters or punctuation marks, with a feature in brackets or
    after a colon. A complex part needs brackets; superfluous brackets around a whole complex category are accepted.
    """
    return _CategoryParser(text).category()


_PUNCTUATION_NAMES = ("LRB", "RRB", "LQU", "RQU")
"""CCGbank's names of brackets and quotation marks."""


def is_punctuation_category(text: str) -> bool:
    """Say whether a category is that of a punctuation mark: a mark itself, or the name of a bracket or quote."""
    return text in _PUNCTUATION_NAMES or (bool(text) and not any(character.isalnum() for character in text))


@lru_cache(maxsize=100_000)
def category_fault(text: str) -> str | None:
    """Return what is wrong with a category, or None."""
    try:
        parse_category(text)
    except ValueError as error:
        return str(error)
    return None


class _CategoryParser:
    """A recursive-descent parser of one category."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def category(self) -> Category:
        if not self._text:
            raise ValueError("the category is empty")
        category = self._sequence(0)
        if self._at < len(self._text):
            slash = self._next_is("/") or self._next_is("\\")
            raise self._fault("brackets are missing" if slash else f"{self._text[self._at]!r} is not expected")
        return category

    def _sequence(self, depth: int) -> Category:
        """Read `part` or `part slash part`."""
        left = self._part(depth)
        if not (self._next_is("/") or self._next_is("\\")):
            return left
        slash = self._text[self._at]
        self._at += 1
        return Functor(left, slash, self._part(depth))

    def _part(self, depth: int) -> Category:
        if depth > MAX_DEPTH:
            raise self._fault(f"more than {MAX_DEPTH} brackets within one another")
        if self._next_is("("):
            self._at += 1
            inner = self._sequence(depth + 1)
            if not self._next_is(")"):
                raise self._fault("a bracket is not closed")
            if isinstance(inner, Atomic):
                raise self._fault(f"{inner} stands in brackets alone")
            self._at += 1
            return inner
        match = _TOKEN.match(self._text, self._at)
        if match is None or match["sign"]:
            raise self._fault("a category is missing")
        self._at = match.end()
        return Atomic(match["atom"], match["feature"] or match["mark"] or "")

    def _next_is(self, sign: str) -> bool:
        return self._text.startswith(sign, self._at)

    def _fault(self, fault: str) -> ValueError:
        return ValueError(f"{self._text[:80]!r} is no CCG category: {fault} at character {self._at + 1}")
