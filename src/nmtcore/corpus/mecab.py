"""Segment Japanese text with MeCab and the IPA dictionary, and join Japanese words into text."""

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

from nmtcore.errors import UserError

MAX_CHARACTERS = 50_000
"""Characters per call of MeCab, which fails on much longer lines. Cutting a longer line may split a word."""


def split(text: str) -> list[str]:
    """Split a text into words. The words concatenated are the text without its white space."""
    parse = _tagger().parse
    if len(text) <= MAX_CHARACTERS and "\0" not in text and "\n" not in text:
        return parse(text).split()
    # MeCab stops at a NUL and at a line end; lines of a corpus contain neither.
    lines = text.replace("\0", "\n").split("\n")
    parts = (line[start : start + MAX_CHARACTERS] for line in lines for start in range(0, len(line), MAX_CHARACTERS))
    return [word for part in parts for word in parse(part).split()]


def join(words: Sequence[str]) -> str:
    """Join words without spaces, as Japanese is written, but keep a space between adjacent Latin words and numbers.

    A space separates two words if the last character of the first and the first character of the second are letters or
    digits and neither is East Asian (Unicode's width wide, full-width or half-width): iPhone 12 を買った, but 10,000円
    and Apple社.
    """
    text, after_latin = [], False
    for word in words:
        if after_latin and _is_latin(word[0]):
            text.append(" ")
        text.append(word)
        after_latin = _is_latin(word[-1])
    return "".join(text)


def _is_latin(character: str) -> bool:
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
