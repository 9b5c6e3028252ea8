"""Moses' tokenisation and normalisation, based on sacremoses but faster: results that cannot change are cached.

The results are those of sacremoses except for one rule in which sacremoses differs from Moses: the last word of a text
always loses its full stop, even if it is an abbreviation. The words are therefore those of Moses' `tokenizer.perl
-no-escape`, except that letters unknown to sacremoses (mainly Chinese and Korean characters) become separate words in
texts of other languages.

The tokeniser's rules consider a part of a text (the characters between white space) and little of its context: whether
it is the first or the last part, and whether the next part begins with a small letter or a digit (for full stops).
sacremoses therefore tokenises a part once per such context. There is one exception: the rules for apostrophes in
English, French and Italian consume the space after an apostrophe, so an apostrophe at the beginning of the next part is
treated differently. Such texts, and those with control characters, are passed to sacremoses as a whole.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from nmtcore.corpus.detokenise import Detokenizer
from nmtcore.errors import UserError

CACHED_PARTS = 1 << 17
"""Parts per cache; a full cache is emptied (the two caches take up to 80 MB together)."""
LONGEST_CACHED = 64
"""Characters of the longest part that is cached."""

_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b]")
"""Characters that sacremoses deletes; the other control characters of ASCII are white space."""
_FINAL_STOP = re.compile(r"(?<=\S)\.\Z")
"""A full stop that sacremoses keeps on the last word of a text."""
_NO_BREAK_SPACE = "\u00a0"


def _sacremoses() -> Any:
    try:
        import sacremoses
    except ImportError as error:
        raise UserError("Words of kind 'moses' need the package sacremoses: pip install sacremoses.") from error
    return sacremoses


class Tokenizer:
    """Moses' tokeniser for one language, without escapes, with a cache for parts of texts."""

    def __init__(self, language: str) -> None:
        tokenizer = _sacremoses().MosesTokenizer(lang=language)
        # sacremoses rebuilds the sets of all Unicode letters at every full stop; here they are built once.
        letters, small_letters = frozenset(tokenizer.IsAlpha), frozenset(tokenizer.IsLower)
        tokenizer.isanyalpha = lambda text: not letters.isdisjoint(text)
        tokenizer.islower = lambda text: small_letters.issuperset(text)
        tokenizer.NONBREAKING_PREFIXES = frozenset(tokenizer.NONBREAKING_PREFIXES)
        tokenizer.NUMERIC_ONLY_PREFIXES = frozenset(tokenizer.NUMERIC_ONLY_PREFIXES)
        split_full_stops = tokenizer.handles_nonbreaking_prefixes
        tokenizer.handles_nonbreaking_prefixes = lambda text: _FINAL_STOP.sub(" .", split_full_stops(text))
        self._tokenizer = tokenizer
        self._small_letters, self._pad_symbols = small_letters, tokenizer.PAD_NOT_ISALNUM
        self._plain = frozenset(tokenizer.IsAlnum) | {"-", "`"}
        self._numeric = tokenizer.NUMERIC_ONLY_PREFIXES
        self._abbreviations = tokenizer.NONBREAKING_PREFIXES - self._numeric
        self._words_of_part: dict[str, tuple[str, ...]] = {}
        """Words of parts whose tokenisation does not depend on their neighbours."""
        self._words_in_context: dict[tuple[str, str, str], tuple[str, ...]] = {}
        """Words of the other parts, by part and stand-ins for its neighbours."""

    def __call__(self, text: str) -> list[str]:
        """Tokenise a text into words."""
        if not text.isprintable() and _CONTROLS.search(text):
            return self._tokenize(text)
        parts = text.split()
        if "'" in text and "' '" in " ".join(parts):
            return self._tokenize(text)
        words: list[str] = []
        cached = self._words_of_part
        for number, part in enumerate(parts):
            words += cached.get(part) or self._tokenize_part(parts, number)
        return words

    def _tokenize(self, text: str) -> list[str]:
        return self._tokenizer.tokenize(text, escape=False)

    def _tokenize_part(self, parts: Sequence[str], number: int) -> tuple[str, ...]:
        part = parts[number]
        if "." not in part and "'" not in part:
            core = part.removesuffix(",")
            if core and self._is_plain(core):
                return self._cache(self._words_of_part, part, (part,) if core == part else (core, ","))
            if "," not in part and "MULTI" not in part:
                pattern, replacement = self._pad_symbols
                return self._cache(self._words_of_part, part, tuple(pattern.sub(replacement, part).split()))
        before, after = "A " if number else "", self._stand_in(parts, number + 1)
        cached = self._words_in_context.get((part, before, after))
        return cached or self._cache(
            self._words_in_context, (part, before, after), self._tokenize_between(part, before, after)
        )

    def _tokenize_between(self, part: str, before: str, after: str) -> tuple[str, ...]:
        core = part.removesuffix(".")
        if core and core != part and self._is_plain(core):
            keeps_stop = after == " a" or (after == " 0" and core in self._numeric) or core in self._abbreviations
            return (part,) if after and keeps_stop else (core, ".")
        words = self._tokenize(before + part + after)
        return tuple(words[1 if before else 0 : -1 if after else None])

    def _is_plain(self, part: str) -> bool:
        """Whether no rule changes a part. sacremoses encodes dots as MULTI, so text with that word may change."""
        return self._plain.issuperset(part) and "MULTI" not in part

    def _stand_in(self, parts: Sequence[str], number: int) -> str:
        """Return a stand-in for a part: the rules only test whether it begins with a small letter or a digit."""
        if number == len(parts):
            return ""
        initial = parts[number][0]
        return " a" if initial in self._small_letters else " 0" if initial in "0123456789" else " A"

    def _cache(self, cache: dict, key: Any, words: tuple[str, ...]) -> tuple[str, ...]:
        part = key if isinstance(key, str) else key[0]
        if len(part) <= LONGEST_CACHED:
            if len(cache) >= CACHED_PARTS:
                cache.clear()
            cache[key] = words
        return words


class Normalizer:
    """sacremoses' punctuation normalisation; a rule runs only if the text contains what its pattern requires."""

    def __init__(self, language: str) -> None:
        rules = _sacremoses().MosesPunctNormalizer(lang=language).substitutions
        self._rules = [(required_text(pattern), re.compile(pattern).sub, replacement) for pattern, replacement in rules]

    def __call__(self, text: str) -> str:
        """Normalise the punctuation of a text."""
        for required, substitute, replacement in self._rules:
            if required in text:
                text = substitute(replacement, text)
        return text.strip()


_REQUIRED_TEXT = {
    r" +": "  ",
    r"\r": "\r",
    r"\(": "(",
    r"\)": ")",
    r"\( ": "( ",
    r" \)": " )",
    r"\) ([.!:?;,])": ") ",
    r"(\d) %": " %",
    r" :": " :",
    r" ;": " ;",
    r"''": "''",
    "´´": "´´",
    "([a-zA-Z])‘([a-zA-Z])": "‘",
    "([a-zA-Z])’([a-zA-Z])": "’",
    r'"([,.]+)': '"',
    r',"': ',"',
    r'(\.+)"(\s*[^<])': '."',
}


def required_text(pattern: str) -> str:
    """Return a text without which a sacremoses pattern cannot match; empty for an unknown pattern."""
    if _NO_BREAK_SPACE in pattern:
        return _NO_BREAK_SPACE
    return pattern if len(pattern) == 1 else _REQUIRED_TEXT.get(pattern, "")


@cache
def moses_tokenizer(language: str) -> Callable[[str], list[str]]:
    """Return the tokeniser for a language; all callers share its cache."""
    return Tokenizer(language)


@cache
def moses_normalizer(language: str) -> Callable[[str], str]:
    """Return the punctuation normaliser for a language."""
    return Normalizer(language)


@cache
def moses_detokenizer(language: str) -> Callable[[Sequence[str]], str]:
    """Return the detokeniser for a language."""
    return Detokenizer(language)
