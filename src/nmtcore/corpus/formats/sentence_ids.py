"""Ids of the sentences of two parallel treebanks, without what tells one side from the other in all of them."""

import re
from collections import Counter
from collections.abc import Sequence

NO_ID = "(no id)"
"""The id of a sentence without one, in a file with ids."""
_WORD = re.compile(r"[0-9]+|[^\W\d_]+")
_TELLING = re.compile(r"[0-9]+|train|dev|test")
"""What tells a text from other texts, not from its translation."""


def comparable_ids(ids: Sequence[Sequence[str]], languages: Sequence[str]) -> list[list[str]]:
    """Return the ids of both files without the words by which the files differ.

    The language of the side at the end is always left out (`n1/en`, `n1/en-US`); words that all ids of one file have
    and none of the other (`en_lines-1` beside `sv_lines-1`), if most ids are equal without them, and more than with
    them. Of a file with one sentence, only a language code is such a word.
    """
    zones = (re.compile(rf"(?<=.)/{re.escape(code)}([-_]\w+)?$", re.IGNORECASE) for code in languages)
    sides = [[zone.sub("", id_) for id_ in side] for zone, side in zip(zones, ids, strict=True)]
    words = [[{*_WORD.findall(id_.casefold())} for id_ in {*side} - {"", NO_ID}] for side in sides]
    if not all(words):
        return sides
    constant = []
    for id_words, other, code in zip(words, reversed(words), languages, strict=True):
        own_words = set.intersection(*id_words) - set.union(*other)
        own_words = own_words if len(id_words) > 1 else own_words & {code.casefold()}
        constant.append({word for word in own_words if not _TELLING.fullmatch(word)})
    shorter = [[_without(id_, left_out) for id_ in side] for side, left_out in zip(sides, constant, strict=True)]
    most = max(len(shared_ids(sides)), min(map(len, words)) / 2)
    return shorter if len(shared_ids(shorter)) > most else sides


def shared_ids(ids: Sequence[Sequence[str]]) -> set[str]:
    """Return the ids that both files have once."""
    once = ({id_ for id_, count in Counter(side).items() if count == 1} for side in ids)
    return set.intersection(*once) - {"", NO_ID}


def _without(id_: str, words: set[str]) -> str:
    if id_ == NO_ID:
        return id_
    return _WORD.sub(lambda word: "" if word[0].casefold() in words else word[0], id_).strip("/_-. ")
