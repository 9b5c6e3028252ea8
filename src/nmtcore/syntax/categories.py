r"""Categories of combinatory categorial grammar in CCGbank's notation, `(S[dcl]\NP)/NP`, and the constructions in them.

Constructions group sentences into subsets for error analysis (Nadejde 2018; Aycock 2021, section 5.2); a sentence may
be in several. All tests work on the string of a category.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

MAX_DEPTH = 50
"""Largest depth of nested brackets; deeper ones are noise (real categories have at most six)."""

_ATOM = r"""(?:[^\W\d_]++|[.,:;?!'"`$#%-]++)(?:\[[\w=,|-]+\]|:\w+)?"""
"""NP, conj, LRB, or punctuation; with a feature as in S[dcl] of CCGbank or NP:thr of the Parallel Meaning Bank."""
_CATEGORY = rf"(?:\0|{_ATOM})[/\\](?:\0|{_ATOM})|\0"
"""A complex category whose parts in brackets have been replaced by NUL."""
_IN_BRACKETS = re.compile(rf"\((?:{_CATEGORY})\)")
_WHOLE = re.compile(rf"{_CATEGORY}|{_ATOM}")


@lru_cache(maxsize=100_000)
def category_fault(text: str) -> str | None:
    """Return what is wrong with a category, or None.

    Only the form is checked: an atomic category may be any letters or punctuation marks, with a feature in brackets or
    after a colon. A complex part needs brackets; superfluous brackets around a whole complex category are accepted.
    """
    rest = text
    for _ in range(MAX_DEPTH):
        rest, count = _IN_BRACKETS.subn("\0", rest)
        if not count:
            break
    return None if _WHOLE.fullmatch(rest) and "\0" not in text else f"{text[:80]!r} is no CCG category"


_QUESTIONS = ("S[q]", "S[wq]", "S[qem]")
_PREPOSITIONS = (r"((S\NP)/(S\NP))/NP", r"((S\NP)\(S\NP))/NP", r"(NP\NP)/NP")
_INFINITIVE = r"(S[to]\NP)"

CONSTRUCTIONS: dict[str, Callable[[str], bool]] = {
    "question": lambda category: any(sentence in category for sentence in _QUESTIONS),
    "conjunction": lambda category: "conj" in category,
    "prepositional": lambda category: "PP" in category or category in _PREPOSITIONS,
    # An argument, at any depth, follows a slash; a complex argument is in brackets.
    "control_raising": lambda category: f"/{_INFINITIVE}" in category or f"\\{_INFINITIVE}" in category,
    "relative_subordinate": lambda category: category.startswith(r"(NP\NP)/(S"),
}
"""Construction → test whether a category shows it."""


def constructions(categories: Iterable[str]) -> tuple[str, ...]:
    """List the constructions that the categories of one sentence show, in the order of `CONSTRUCTIONS`."""
    shown = {name for category in categories for name in _constructions_of(category)}
    return tuple(name for name in CONSTRUCTIONS if name in shown)


@lru_cache(maxsize=100_000)
def _constructions_of(category: str) -> Sequence[str]:
    return tuple(name for name, shows in CONSTRUCTIONS.items() if shows(category))
