"""Alignment of a text with its words by characters; words may have other letters than the text (normalised quotes)."""

from collections.abc import Sequence
from typing import NamedTuple

from nmtcore.corpus.tokenisation import SPACE

FARTHEST = 20
"""The most letters of the text, and of the words, that are left out at once where they differ."""

Place = tuple[str, int]
"""A letter, and its place in the text or its word."""


class Alignment(NamedTuple):
    """The letters of a text that belong to words; letters are all characters but white space and `SPACE`."""

    places: list[int]
    """The place of each in the text, ascending."""
    words: list[int]
    """The word (from 0) of each, ascending."""
    unaligned: int
    """The number of letters, of the text and of the words, that have no equal one on the other side."""


def align(text: str, words: Sequence[str]) -> Alignment:
    """Align the letters of a text and of its words in order; where they differ, the fewest letters are left out.

    Letters of the text that stand in the place of others belong to the first word of these.
    """
    letters = [(letter, place) for place, letter in enumerate(text) if _is_letter(letter)]
    expected = [(letter, number) for number, word in enumerate(words) for letter in word if _is_letter(letter)]
    if [letter for letter, _ in letters] == [letter for letter, _ in expected]:
        return Alignment([place for _, place in letters], [number for _, number in expected], 0)
    aligned: list[tuple[int, int]] = []
    i = j = unaligned = 0
    while i < len(letters) or j < len(expected):
        more, fewer = _difference(letters[i : i + FARTHEST + 1], expected[j : j + FARTHEST + 1])
        unaligned += more + fewer
        aligned += [(place, expected[j][1]) for _, place in letters[i : i + more] if fewer]
        i, j = i + more, j + fewer
        if i < len(letters) and j < len(expected) and letters[i][0] == expected[j][0]:
            aligned.append((letters[i][1], expected[j][1]))
            i, j = i + 1, j + 1
    return Alignment([place for place, _ in aligned], [number for _, number in aligned], unaligned)


def _difference(letters: Sequence[Place], expected: Sequence[Place]) -> tuple[int, int]:
    """Return how many letters to leave out on each side, the fewest in all, so that the next two are equal.

    If there are none, these are all, at most `FARTHEST`; of equal sums, the fewest letters of the text.
    """
    for both in range(len(letters) + len(expected) - 1):
        for more in range(max(0, both - len(expected) + 1), min(both + 1, len(letters))):
            if letters[more][0] == expected[both - more][0]:
                return more, both - more
    return min(len(letters), FARTHEST), min(len(expected), FARTHEST)


def _is_letter(character: str) -> bool:
    return not character.isspace() and character != SPACE
