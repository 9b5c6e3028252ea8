r"""Constructions in a sentence, found by its CCG supertags, for error analysis (Aycock 2021, section 5.2).

Nadejde 2018 groups sentences into these subsets; a sentence may be in several. All tests work on the string of a
category.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

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
