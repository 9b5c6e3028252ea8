"""Constituents of the demo corpus, projected from its dependencies.

As Collins et al. 1999 do for Czech, but with several phrases of one head, one inside the other: the lower, the closer
their relations tie dependents to it. The tree must be projective, as the English ones are.
"""

from collections.abc import Iterable, Sequence

from nmtcore.demo.trees import Word

_LOWEST = {"NOUN": "NP", "PROPN": "NP", "PRON": "NP", "VERB": "VP", "ADJ": "ADJP", "ADV": "ADVP", "NUM": "QP"}
"""The lowest phrase of a word, by its part of speech."""

_HIGHER = [
    ({"aux", "aux:pass", "cop"}, "VP"),
    ({"nsubj", "nsubj:pass", "expl", "punct"}, "S"),
    ({"case"}, "PP"),
    ({"mark"}, "SBAR"),
    ({"cc", "conj"}, ""),
]
"""The phrases above, from below: the relations that each takes, and its label ("": that of the phrase below it). What
has another relation is in the lowest."""

_BARE = {"amod", "aux", "aux:pass", "case", "cc", "compound", "compound:prt", "cop", "det", "det:poss", "fixed"}
_BARE |= {"mark", "nummod", "punct"}
"""Relations of words without dependents that are tags alone."""


def constituents(words: Sequence[Word]) -> str:
    """Write the constituents of a sentence in brackets, under ROOT; a tree that is not projective is a `ValueError`."""
    place = {id(word): number for number, word in enumerate(words)}
    dependents: list[list[Word]] = [[] for _ in words]
    for word in words:
        if word.head is not None:
            dependents[place[id(word.head)]].append(word)

    def phrase(word: Word) -> tuple[str, int, int]:
        """Write a word's phrase; say where it begins and ends."""
        first = last = place[id(word)]
        tree, own = f"({word.xpos} {word.form})", dependents[first]
        if not own and (word.deprel in _BARE or word.upos not in _LOWEST):
            return tree, first, last
        left = _outward(d for d in reversed(own) if place[id(d)] < first)
        right = _outward(d for d in own if place[id(d)] > last)
        label = _LOWEST.get(word.upos, "X")
        for height, name in enumerate([label, *(name for _, name in _HIGHER)]):
            before = [phrase(d) for d, its in left if its == height]
            after = [phrase(d) for d, its in right if its == height]
            if height and not before and not after:
                continue
            label = name or label
            for below, start, end in before:
                if end != first - 1:
                    raise ValueError(f"the words of '{word.form}' do not stand together")
                tree, first = f"{below} {tree}", start
            for below, start, end in after:
                if start != last + 1:
                    raise ValueError(f"the words of '{word.form}' do not stand together")
                tree, last = f"{tree} {below}", end
            tree = f"({label} {tree})"
        return tree, first, last

    (root,) = (word for word in words if word.head is None)
    return f"(ROOT {phrase(root)[0]})"


def _outward(dependents: Iterable[Word]) -> list[tuple[Word, int]]:
    """Say how high each dependent of one side, from the head outwards, stands: never lower than what is inside."""
    heights, height = [], 0
    for word in dependents:
        height = max(height, _height(word))
        heights.append((word, height))
    return heights


def _height(word: Word) -> int:
    if word.xpos == "TO":
        return 1  # "to" and its verb are a verb phrase.
    return next((k for k, (relations, _) in enumerate(_HIGHER, start=1) if word.deprel in relations), 0)
