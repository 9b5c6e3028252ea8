"""Ids of the sentences of two parallel treebanks, without what tells one side from the other in all of them."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import product, takewhile

from nmtcore.corpus.text_lines import natural_number

NO_ID = "(no id)"
"""The id of a sentence without one, in a file with ids."""
_SAMPLE = 200
"""Ids that are compared to find out which beginnings and ends are constant."""
_TELLING = re.compile(r"[0-9]+|train|dev|test", re.IGNORECASE)
"""What tells a text from other texts, not from its translation."""

Ends = tuple[str, str]
"""A beginning and an end that all ids of a file have."""


def comparable_ids(ids: Sequence[Sequence[str]], languages: Sequence[str]) -> list[list[str]]:
    """Return the ids of both files without a beginning and an end by which the files differ.

    The language of the side at the end is always left out (`n1/en`), another constant (`en_lines-1` beside
    `sv_lines-1`) if most ids are equal without it, and more than with it. It ends where a word or a number ends, has
    the same numbers in both files and, of a file with one sentence, is a language code.
    """
    sides = [[_without_zone(id_, code) for id_ in own] for own, code in zip(ids, languages, strict=True)]
    small = min((0, 1), key=lambda side: len({*sides[side]}))
    order = (small, 1 - small)
    own, others = ({*sides[side]} - {"", NO_ID} for side in order)
    sample = sorted(own)[:: max(1, len(own) // _SAMPLE)]
    most, best = sum(id_ in others for id_ in sample), None
    if others and most < len(sample):
        for ends in _constant_ends(own, others, [languages[side] for side in order]):
            hits = sum(_between(id_, ends[0]).join(ends[1]) in others for id_ in sample)
            if hits > max(most, len(sample) / 2):
                most, best = hits, ends
    if best is None:
        return sides
    return [[id_ if id_ in ("", NO_ID) else _between(id_, best[order[side]]) for id_ in sides[side]] for side in (0, 1)]


def shared_ids(ids: Sequence[Sequence[str]]) -> set[str]:
    """Return the ids that both files have once."""
    once = ({id_ for id_, count in Counter(own).items() if count == 1} for own in ids)
    return set.intersection(*once) - {"", NO_ID}


def is_count(ids: Sequence[str]) -> bool:
    """Return whether ids are 0, 1, 2... or 1, 2, 3...: they only count the sentences of their file."""
    return [natural_number(id_) for id_ in ids] in (list(range(first, first + len(ids))) for first in (0, 1))


def _without_zone(id_: str, language: str) -> str:
    """Remove the language from the end of an id, perhaps with a region or the like (`/en-US`)."""
    return re.sub(rf"(?<=.)/{re.escape(language)}([-_]\w+)?$", "", id_, flags=re.IGNORECASE)


def _between(id_: str, ends: Ends) -> str:
    return id_[len(ends[0]) : len(id_) - len(ends[1])]


def _constant_ends(own: Collection[str], others: Collection[str], codes: Sequence[str]) -> list[tuple[Ends, Ends]]:
    """Return the beginnings and ends of the ids of both files that may be left out, the shortest first."""
    files = (own, others)
    starts = list(_constant_starts(files, codes))
    reverse = _constant_starts([[id_[::-1] for id_ in ids] for ids in files], [code[::-1] for code in codes])
    stops = [tuple(text[::-1] for text in texts) for texts in reverse]
    both = (tuple(zip(*ends, strict=True)) for ends in product([("", ""), *starts], [("", ""), *stops]))
    telling = (ends for ends in both if len({tuple(_TELLING.findall(" ".join(own))) for own in ends}) == 1)
    return sorted(telling, key=lambda ends: sum(len(text) for own in ends for text in own))


def _constant_starts(files: Sequence[Collection[str]], codes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the beginnings of the ids of both files that may be left out, and differ."""
    constants = [_common_start(min(ids), max(ids)) for ids in files]
    cuts = [
        [k for k in range(len(constant) + 1) if all(_ends_word(id_, k) for id_ in ids)]
        for constant, ids in zip(constants, files, strict=True)
    ]
    is_learned = min(map(len, files)) > 1
    for lengths in product(*cuts):
        starts = [constant[:length] for constant, length in zip(constants, lengths, strict=True)]
        rests = [constant[length:] for constant, length in zip(constants, lengths, strict=True)]
        same = {start.casefold().removesuffix(code.casefold()) for start, code in zip(starts, codes, strict=True)}
        are_codes = len(same) == 1 and starts[0].casefold() != starts[1].casefold()
        may_match = rests[0].startswith(rests[1]) or rests[1].startswith(rests[0])
        if starts[0] != starts[1] and may_match and (is_learned or are_codes):
            yield tuple(starts)


def _common_start(first: str, last: str) -> str:
    """Return the longest beginning that both strings have."""
    return "".join(left for left, _ in takewhile(lambda both: both[0] == both[1], zip(first, last, strict=False)))


def _ends_word(id_: str, place: int) -> bool:
    """Return whether something follows a place in an id, and the place is not inside a word or a number."""
    around = id_[max(place - 1, 0) : place + 1]
    return place < len(id_) and (place == 0 or not (around.isalpha() or around.isdecimal()))
