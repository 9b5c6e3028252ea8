"""Words of raw text, and text of words, by Moses' rules (sacremoses) or MeCab; no later stage changes words.

Moses' words are those of its `tokenizer.perl -no-escape`, except that letters unknown to sacremoses (mainly Chinese and
Korean characters) become separate words in texts of other languages. Its text is that of `detokenizer.perl`, except
that an English "'s" is attached to any word before it, and that white space within a word becomes a space.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

from nmtcore.config.segmentation import WordsSettings
from nmtcore.errors import UserError

MAX_CHARACTERS = 50_000
"""Characters per call of MeCab, which fails on much longer lines. Cutting a longer line may split a word."""

_INVISIBLE = re.compile("[\\s\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]*")
"""White space and characters without width. A text of nothing else has no words."""
_FINAL_STOP = re.compile(r"(.*[^.])\.", re.DOTALL)
"""A last word that sacremoses leaves with its full stop."""
# These two begin with a character that is quickly found, and then look back.
_CZECH_DECIMALS = re.compile(r"([0-9](?<!\S[0-9])[0-9]*) ([.,]) (?=[0-9]+(?!\S))")
_CZECH_HYPHEN = re.compile(r" (?<=[^\W\d_] |' )([-–]) (?=li(?!\S)|mail)", re.IGNORECASE)


class WordTokenizer:
    """Tokenises and detokenises the text of one side.

    The kinds of words are moses: Moses' tokeniser without escapes; spaces: words separated by white space; mecab:
    MeCab's words (Japanese); given: the words in the corpus files. Here, `given` splits raw text at white space, since
    a model trained on given words expects text that is already tokenised. White space is Unicode's, so no word is empty
    or contains white space, even if the text has stray separators.

    With `normalise`, Moses' punctuation normalisation precedes tokenisation; given words are not normalised.
    """

    def __init__(self, settings: WordsSettings, language: str) -> None:
        if settings.kind == "mecab" and language != "ja":
            raise UserError(f"Words of kind 'mecab' are Japanese (ja), but this side's language is '{language}'.")
        self.settings = settings
        self.language = language

    def split(self, text: str) -> list[str]:
        """Split a text into words, after its punctuation is normalised if the settings say so."""
        if _INVISIBLE.fullmatch(text):
            return []
        if self.settings.normalise:
            text = _moses("MosesPunctNormalizer", self.language).normalize(text)
        if self.settings.kind == "moses":
            return moses_words(text, self.language)
        return mecab_words(text) if self.settings.kind == "mecab" else text.split()

    def join(self, words: Sequence[str]) -> str:
        """Make text from words: detokenise Moses and MeCab words, join other words with spaces."""
        if self.settings.kind == "moses":
            return moses_text(words, self.language)
        return mecab_text(words) if self.settings.kind == "mecab" else " ".join(words)


def moses_words(text: str, language: str) -> list[str]:
    """Split a text into words as Moses does; unlike in sacremoses, a full stop at the end is always a word."""
    words = _moses("MosesTokenizer", language).tokenize(text, escape=False)
    if words and (match := _FINAL_STOP.fullmatch(words[-1])):
        words[-1:] = [match[1], "."]
    return words


def moses_text(words: Sequence[str], language: str) -> str:
    """Join words into text as Moses does.

    sacremoses decides from the end of a Czech sentence whether any number in it is a decimal, and fails at "-li" and
    "-mail": here, these are joined before, and a last word that has no meaning hides the end.
    """
    text = " ".join(words)
    detokenizer = _moses("MosesDetokenizer", language)
    if language != "cs":
        return detokenizer.detokenize([text], unescape=False)
    text = _CZECH_HYPHEN.sub(r"\1", _CZECH_DECIMALS.sub(r"\1\2", text))
    return detokenizer.detokenize([text, "x"], unescape=False).removesuffix("x").rstrip()


def mecab_words(text: str) -> list[str]:
    """Split a Japanese text into words. The words concatenated are the text without its white space."""
    parse = _tagger().parse
    # MeCab stops at a NUL and at a line end, of which a line of a corpus has none. To it, U+3000 would be a symbol.
    lines = text.replace("\0", "\n").replace("\u3000", " ").split("\n")
    parts = (line[start : start + MAX_CHARACTERS] for line in lines for start in range(0, len(line), MAX_CHARACTERS))
    return [word for part in parts for word in parse(part).split()]


def mecab_text(words: Sequence[str]) -> str:
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
def _moses(tool: str, language: str) -> Any:
    import sacremoses

    return getattr(sacremoses, tool)(lang=language)


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
