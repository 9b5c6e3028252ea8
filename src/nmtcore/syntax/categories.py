r"""Categories of combinatory categorial grammar in CCGbank's notation, `(S[dcl]\NP)/NP`, and the constructions in them.

Constructions group sentences into subsets for error analysis (Nadejde 2018; Aycock 2021, section 5.2); a sentence may
be in several. All tests work on the strings of categories.
"""

import re
from collections.abc import Iterable
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


_N = "NP?"
_SLASH = r"[/\\]"
_S = r"S(?:\[[a-z]{0,3}\])?"
"""S, perhaps with a feature such as [dcl]."""


def _any_of(*categories: str) -> str:
    return "|".join(map(re.escape, categories))


CONSTRUCTIONS = {
    "question": re.compile(_any_of("S[q]", "S[wq]", "S[qem]")),
    "conjunction": re.compile("conj"),
    "prepositional": re.compile(_any_of("PP", r"((S\NP)/(S\NP))/NP", r"(NP\NP)/NP")),
    "control_raising": re.compile(rf"\(S(?:\[[a-z]+\])?{_SLASH}{_N}\)/\(S\[to\]{_SLASH}{_N}\)"),
    # Whole categories, of a relative pronoun or of a word such as "that" between two clauses.
    "relative_subordinate": re.compile(
        rf"(?<= )(?:\({_N}{_SLASH}{_N}\){_SLASH}\({_S}{_SLASH}{_N}\)(?= |$)|{_S}{_SLASH}{_S}(?= ))"
    ),
}
"""Constructions and what shows them in the categories of a sentence, joined by spaces, as the code of Aycock 2021
counts them: in any part of a category; but relative and subordinate clauses by whole categories, never by that of the
first word, nor by S/S of the last one."""

_MODIFIER = rf"\(\((?P<phrase>S(?:\[\w+\])?\\NP)\){_SLASH}\((?P=phrase)\)\)|\(S{_SLASH}S\)"
r"""What modifies a verb phrase, perhaps with a feature, or a clause; `(S[dcl]\S[dcl])/NP` is a verb ("said")."""

FURTHER_CONSTRUCTIONS = {
    "adverbial_clause": re.compile(rf"(?<!\S)(?:{_MODIFIER})/S\[dcl\](?!\S)"),
    "adverbial_preposition": re.compile(rf"(?<!\S)(?:{_MODIFIER})/NP(?!\S)"),
}
"""Constructions that the thesis does not count, in the same form: categories of words such as "because" and of
prepositions whose phrase modifies a verb phrase or a clause."""

ALL_CONSTRUCTIONS = CONSTRUCTIONS | FURTHER_CONSTRUCTIONS


def constructions(categories: Iterable[str]) -> tuple[str, ...]:
    """List the constructions that the categories of one sentence show, in the order of `ALL_CONSTRUCTIONS`."""
    line = " ".join(categories)
    return tuple(name for name, pattern in ALL_CONSTRUCTIONS.items() if pattern.search(line))
