"""Examples whose sources have certain trees, with the columns of a feature file."""

from collections.abc import Sequence

from factories import examples_of, side

from nmtcore.features.examples import Examples

TREES = {
    "one word": ([0], [-1]),
    "one word of three subwords": ([0, 0, 0], [-1]),
    "non-projective": ([0, 1, 1, 2, 3], [2, 3, -1, 2]),
    "two roots": ([0, 0, 1, 2, 2], [-1, 0, -1]),
    "null annotation": ([0, 1, 1, 2], [-2, -2, -2]),
    "one word without annotation": ([0, 0, 1, 2], [1, -1, -2]),
    "no words": ([], []),
}
"""The word of each subword, and the governor of each word."""


def parent_of(word: int, governors: Sequence[int]) -> int:
    return word if governors[word] < 0 else governors[word]


def columns_of_word(word: int, words: Sequence[int]) -> list[int]:
    return [i for i, w in enumerate(words) if w == word]


def pairs(*trees: tuple[Sequence[int], Sequence[int]]) -> Examples:
    """Make examples from the word of each source subword and the governor of each source word."""
    columns = {"governor": [], "parent_position": []}
    for words, governors in trees:
        parents = [columns_of_word(parent_of(word, governors), words) for word in range(len(governors))]
        columns["governor"].append(governors)
        columns["parent_position"].append([sum(parent) / len(parent) for parent in parents])
    ids = [[5 + i for i in range(len(words))] for words, _ in trees]
    words = [words for words, _ in trees]
    return examples_of(side(ids, words, columns), side(ids, words))
