"""Constituents of the demo corpus, projected from its dependencies.

The method is that of Collins et al. 1999 for Czech, except that a head can project several nested phrases: the closer
the relation of a dependent, the lower its phrase. The tree must be projective, as all English ones are.
"""

from collections.abc import Iterable, Sequence

from nmtcore.demo.trees import Word

_LOWEST = {"NOUN": "NP", "PROPN": "NP", "PRON": "NP", "VERB": "VP", "ADJ": "ADJP", "ADV": "ADVP", "NUM": "QP"}
"""Label of a word's lowest phrase, by part of speech."""

_HIGHER = [
    ({"aux", "aux:pass", "cop"}, "VP"),
    ({"nsubj", "nsubj:pass", "expl", "punct"}, "S"),
    ({"case"}, "PP"),
    ({"mark"}, "SBAR"),
    ({"cc", "conj"}, ""),
]
"""Higher phrases from the lowest to the highest: the relations of their dependents, and their label ("" for that of the
phrase below). Dependents with any other relation belong to the lowest phrase."""

_BARE = {"amod", "aux", "aux:pass", "case", "cc", "compound", "compound:prt", "cop", "det", "det:poss", "fixed"}
_BARE |= {"mark", "nummod", "punct"}
"""Relations of words that, without dependents, have a tag but no phrase."""


def constituents(words: Sequence[Word]) -> str:
    """Return the constituents in brackets, under ROOT; raises ValueError if the tree is not projective."""
    position = {id(word): number for number, word in enumerate(words)}
    dependents: list[list[Word]] = [[] for _ in words]
    for word in words:
        if word.head is not None:
            dependents[position[id(word.head)]].append(word)

    def phrase(word: Word) -> tuple[str, int, int]:
        """Return a word's phrase in brackets, and the positions of its first and last word."""
        first = last = position[id(word)]
        tree, own = f"({word.xpos} {word.form})", dependents[first]
        if not own and (word.deprel in _BARE or word.upos not in _LOWEST):
            return tree, first, last
        left = _outward(d for d in reversed(own) if position[id(d)] < first)
        right = _outward(d for d in own if position[id(d)] > last)
        label = _LOWEST.get(word.upos, "X")
        for height, name in enumerate([label, *(name for _, name in _HIGHER)]):
            before = [phrase(d) for d, level in left if level == height]
            after = [phrase(d) for d, level in right if level == height]
            if height and not before and not after:
                continue
            label = name or label
            for below, start, end in before:
                if end != first - 1:
                    raise ValueError(f"the words below '{word.form}' are not contiguous: the tree is not projective")
                tree, first = f"{below} {tree}", start
            for below, start, end in after:
                if start != last + 1:
                    raise ValueError(f"the words below '{word.form}' are not contiguous: the tree is not projective")
                tree, last = f"{tree} {below}", end
            tree = f"({label} {tree})"
        return tree, first, last

    (root,) = (word for word in words if word.head is None)
    return f"(ROOT {phrase(root)[0]})"


def _outward(dependents: Iterable[Word]) -> list[tuple[Word, int]]:
    """Return each dependent of one side with its height, from the head outwards; heights never decrease."""
    dependents_and_heights, height = [], 0
    for word in dependents:
        height = max(height, _height(word))
        dependents_and_heights.append((word, height))
    return dependents_and_heights


def _height(word: Word) -> int:
    if word.xpos == "TO":
        return 1  # "to" and its verb form a verb phrase.
    return next((k for k, (relations, _) in enumerate(_HIGHER, start=1) if word.deprel in relations), 0)
