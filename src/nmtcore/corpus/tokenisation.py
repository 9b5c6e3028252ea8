"""Words of raw text, and text of words, by Moses' rules (sacremoses), MeCab or spaCy; no later stage changes words.

Moses' words are those of its `tokenizer.perl -no-escape`, except that letters unknown to sacremoses (mainly Chinese and
Korean characters) become separate words in texts of other languages. Its text is that of `detokenizer.perl`, except
that an English "'s" is attached to any word before it, and that white space within a word becomes a space.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

from nmtcore.config.corpora import WordsSettings
from nmtcore.corpus.writing_systems import NO_SPACES
from nmtcore.errors import UserError

MAX_CHARACTERS = 50_000
"""Characters per call of MeCab, which fails on much longer lines. Cutting a longer line may split a word."""

_INVISIBLE = re.compile("[\\s\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]*")
"""White space and characters without width. A text of nothing else has no words."""
SPACE = "▁"
"""The word that stands for white space among words of scripts without spaces."""
WITHIN_MARK = "\ua78c"
"""The letter that stands for a mark within a word while Moses splits a text."""
WITHIN = r"(?<=[\p{L}\p{M}\p{N}])['’ʼ·](?=\p{L})|(?<=[\p{L}\p{M}\p{N}\p{Cf}])[\p{M}\p{Cf}]|" + WITHIN_MARK
"""What `apostrophes: keep` leaves within words, for the package regex."""
CLOSING = r" +(?=(?![\x00-\x7f])[\p{Terminal_Punctuation}…])"
"""The spaces that it leaves out before punctuation that Moses does not know."""
QUOTED = r"([«»]) +([^«»]*?) +(?!\1)([«»])"
"""A quotation in guillemets, inside of which it leaves out spaces, except in French."""
CHARACTERS = rf"{NO_SPACES}[\p{{M}}\p{{Cf}}]*|(?:(?!{NO_SPACES})[\p{{L}}\p{{M}}\p{{N}}])+|\s+|\S"
"""The words of kind `characters`, for the package regex; white space becomes `SPACE`."""
UNSPACED = ("zh", "yue", "ja", "th", "lo", "km", "my")
"""Languages without spaces between words."""

_FINAL_STOP = re.compile(r"(.*[^.])\.", re.DOTALL)
"""A last word that sacremoses leaves with its full stop."""
# These two begin with a character that is quickly found, and then look back.
_CZECH_DECIMALS = re.compile(r"([0-9](?<!\S[0-9])[0-9]*) ([.,]) (?=[0-9]+(?!\S))")
_CZECH_HYPHEN = re.compile(r" (?<=[^\W\d_] |' )([-–]) (?=li(?!\S)|mail)", re.IGNORECASE)


class WordTokenizer:
    """Tokenises and detokenises the text of one side.

    The kinds of words are moses: Moses' tokeniser without escapes; spaces: words separated by white space; mecab:
    MeCab's words (Japanese); characters: those of scripts without spaces, other words and numbers whole; spacy: the
    words of spaCy's empty pipeline; given: the words in the corpus files. Here, `given` splits raw text at white space,
    since a model trained on given words expects text that is already tokenised. White space is Unicode's, so no word is
    empty or contains white space, even if the text has stray separators.

    With `normalise`, Moses' punctuation normalisation precedes tokenisation; given words are not normalised. If it is
    `nfc`, texts and words, given ones too, are composed instead.
    """

    def __init__(self, settings: WordsSettings, language: str) -> None:
        if settings.kind == "mecab" and language != "ja":
            raise UserError(f"Words of kind 'mecab' are Japanese (ja), but this side's language is '{language}'.")
        self.settings = settings
        self.language = language

    def compose(self, text: str) -> str:
        """Compose a text, or a word, in Unicode's NFC if the settings say so: what is written is the same."""
        return unicodedata.normalize("NFC", text) if self.settings.normalise == "nfc" else text

    def split(self, text: str) -> list[str]:
        """Split a text into words, after it is normalised if the settings say so."""
        if _INVISIBLE.fullmatch(text):
            return []
        text = self.compose(text)
        if self.settings.normalise is True:
            text = _moses("MosesPunctNormalizer", self.language).normalize(text)
        match self.settings.kind:
            case "moses":
                return (kept_words if self.settings.apostrophes == "keep" else moses_words)(text, self.language)
            case "mecab":
                return mecab_words(text)
            case "characters":
                return [SPACE if word.isspace() else word for word in _pattern(CHARACTERS).findall(text.strip())]
            case "spacy":
                return spacy_words(text, self.settings.language or self.language)
        return text.split()

    def join(self, words: Sequence[str]) -> str:
        """Make text from words: detokenise them, join given words and those between spaces with spaces."""
        match self.settings.kind:
            case "moses" if self.settings.apostrophes == "split":
                return moses_text(words, self.language)
            case "mecab":
                return mecab_text(words)
            case "characters" | "moses" | "spacy":
                rules = word_rules(self.settings, self.language)
                if "space" in rules:
                    return " ".join("".join(words).replace(SPACE, " ").split())
                text = _pattern(CLOSING).sub("", moses_text(words, self.language))
                return _pattern(QUOTED).sub(r"\1\2\3", text) if "quoted" in rules else text
        return " ".join(words)


def word_rules(settings: WordsSettings, language: str) -> dict[str, str]:
    """Return what a program needs to know to split and join words as here, beyond the kind of words."""
    rules = {}
    if settings.kind == "spacy":
        rules = {"language": settings.language or language}
    elif settings.kind == "characters":
        rules = {"characters": CHARACTERS}
    elif settings.apostrophes == "keep":
        rules = {"within": WITHIN, "within_mark": WITHIN_MARK}
    if settings.kind == "characters" or rules.get("language") in UNSPACED:
        return rules | {"space": SPACE}
    joined = {"closing": CLOSING} | ({"quoted": QUOTED} if language != "fr" else {})
    return rules | joined if rules else {}


def moses_words(text: str, language: str) -> list[str]:
    """Split a text into words as Moses does; unlike in sacremoses, a full stop at the end is always a word."""
    words = _moses("MosesTokenizer", language).tokenize(text, escape=False)
    if words and (match := _FINAL_STOP.fullmatch(words[-1])):
        words[-1:] = [match[1], "."]
    return words


def kept_words(text: str, language: str) -> list[str]:
    """Split a text as Moses does, but leave apostrophes and other marks within words."""
    marks = iter(_pattern(WITHIN).findall(text))
    words = moses_words(_pattern(WITHIN).sub(WITHIN_MARK, text), language)
    return ["".join(next(marks) if letter == WITHIN_MARK else letter for letter in word) for word in words]


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


def spacy_words(text: str, language: str) -> list[str]:
    """Split a text as the empty pipeline of a language does; in one without spaces, `SPACE` stands for each of them."""
    document = _blank_pipeline(language).make_doc(text.strip())
    words = [token.text for token in document if not token.is_space]
    if language not in UNSPACED:
        return [part for word in words for part in word.split()]
    spaced = ((SPACE if token.is_space else token.text, SPACE if token.whitespace_ else "") for token in document)
    return [word for pair in spaced for word in pair if word]


def _is_latin(character: str) -> bool:
    return character.isalnum() and unicodedata.east_asian_width(character) not in "WFH"


@cache
def _pattern(expression: str) -> Any:
    import regex

    return regex.compile(expression)


@cache
def _moses(tool: str, language: str) -> Any:
    import sacremoses

    return getattr(sacremoses, tool)(lang=language)


@cache
def _blank_pipeline(language: str) -> Any:
    try:
        import spacy

        return spacy.blank(language)
    except ModuleNotFoundError as error:
        raise UserError("Words of kind 'spacy' need the package spacy: pip install spacy.") from error
    except ImportError as error:  # of a language that spaCy lacks, or of a package that it needs for this one
        reason = " ".join(str(error).split())
        raise UserError(f"spaCy cannot split '{language}' into words: {reason}") from error


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
