"""Japanese words by MeCab with the IPA dictionary, and Japanese text of words."""

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

from nmtcore.errors import UserError

LONGEST = 50_000
"""Characters that MeCab gets at once; it gives up on far more. A word may end where a longer line is cut."""


def split(text: str) -> list[str]:
    """Cut a text into words; beside white space nothing is lost or added, and words hold none."""
    parse = _tagger().parse
    if len(text) <= LONGEST and "\0" not in text and "\n" not in text:
        return parse(text).split()
    # A text ends for MeCab at a NUL and at a line's end; no line of a corpus holds either.
    lines = text.replace("\0", "\n").split("\n")
    parts = (line[start : start + LONGEST] for line in lines for start in range(0, len(line), LONGEST))
    return [word for part in parts for word in parse(part).split()]


def join(words: Sequence[str]) -> str:
    """Put words together without spaces, as Japanese is written; Latin words and numbers that meet keep one.

    The rule: a space stands between two words where both the characters that meet are letters or digits and neither
    is East Asian (wide, full-width or half-width by Unicode's width): iPhone 12 を買った, but 10,000円 and Apple社.
    """
    text, open_end = [], False
    for word in words:
        if open_end and _latin(word[0]):
            text.append(" ")
        text.append(word)
        open_end = _latin(word[-1])
    return "".join(text)


def _latin(character: str) -> bool:
    return character.isalnum() and unicodedata.east_asian_width(character) not in "WFH"


@cache
def _tagger() -> Any:
    try:
        import ipadic
        import MeCab
    except ImportError as error:
        raise UserError(
            "Words of kind 'mecab' need the packages mecab-python3 and ipadic: pip install mecab-python3 ipadic."
        ) from error
    return MeCab.Tagger(f"{ipadic.MECAB_ARGS} -Owakati")
