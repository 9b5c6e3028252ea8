r"""Categories of combinatory categorial grammar, as CCGbank writes them: `S[dcl]\NP`, `(S\NP)/NP`, `conj`, `,`."""

import re
from dataclasses import dataclass
from functools import lru_cache

DEEPEST = 50
"""Brackets within brackets; what lies deeper is noise (real categories have six at most)."""

_TOKEN = re.compile(
    r"""(?P<sign>[()/\\])
    |(?P<atom>[^\W\d_]+|[.,:;?!'"`$#%-]+)                       # NP, conj, LRB; or punctuation
    (?:\[(?P<feature>[\w=,|-]+)\]|:(?P<mark>[\w]+))?""",  # S[dcl] as in CCGbank, NP:thr as in the PMB
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Atomic:
    """A category without arguments; `feature` is "" where it has none."""

    name: str
    feature: str = ""

    def __str__(self) -> str:
        return f"{self.name}[{self.feature}]" if self.feature else self.name


@dataclass(frozen=True, slots=True)
class Functor:
    r"""A category that waits for an `argument` on its right (slash "/") or its left ("\") to give its `result`."""

    result: "Category"
    slash: str
    argument: "Category"

    def __str__(self) -> str:
        left, right = (f"({part})" if isinstance(part, Functor) else str(part) for part in (self.result, self.argument))
        return f"{left}{self.slash}{right}"


Category = Atomic | Functor


@lru_cache(maxsize=100_000)
def parse_category(text: str) -> Category:
    """Parse a category; one that is ill-formed is a `ValueError` that says where (characters from 1).

    Only the form is checked: any letters or punctuation marks are an atomic category, with a feature in brackets or
    after a colon. A complex part needs brackets; those around a whole complex category are
    superfluous, and let pass.
    """
    return _Parser(text).category()


@lru_cache(maxsize=100_000)
def category_fault(text: str) -> str | None:
    """Say what is wrong with a category; None if nothing is."""
    try:
        parse_category(text)
    except ValueError as error:
        return str(error)
    return None


class _Parser:
    """Reads one category from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def category(self) -> Category:
        if not self._text:
            raise ValueError("the category is empty")
        category = self._sequence(0)
        if self._at < len(self._text):
            slash = self._sign("/") or self._sign("\\")
            raise self._fault("brackets are missing" if slash else f"{self._text[self._at]!r} is not expected")
        return category

    def _sequence(self, depth: int) -> Category:
        """Read `part` or `part slash part`."""
        left = self._part(depth)
        if not (self._sign("/") or self._sign("\\")):
            return left
        slash = self._text[self._at]
        self._at += 1
        return Functor(left, slash, self._part(depth))

    def _part(self, depth: int) -> Category:
        if depth > DEEPEST:
            raise self._fault(f"more than {DEEPEST} brackets within one another")
        if self._sign("("):
            self._at += 1
            inner = self._sequence(depth + 1)
            if not self._sign(")"):
                raise self._fault("a bracket is not closed")
            if isinstance(inner, Atomic):
                raise self._fault(f"{inner} stands in brackets alone")
            self._at += 1
            return inner
        found = _TOKEN.match(self._text, self._at)
        if found is None or found["sign"]:
            raise self._fault("a category is missing")
        self._at = found.end()
        return Atomic(found["atom"], found["feature"] or found["mark"] or "")

    def _sign(self, sign: str) -> bool:
        return self._text.startswith(sign, self._at)

    def _fault(self, what: str) -> ValueError:
        return ValueError(f"{self._text[:80]!r} is no CCG category: {what} at character {self._at + 1}")
