"""Moses' conventions by sacremoses, faster: what nothing can change is not computed again.

The results are those of sacremoses but for one rule, where it differs from Moses: the last word of a text always
loses its full stop, even if it is an abbreviation. So words are those of Moses' `tokenizer.perl -no-escape`, except
that letters which sacremoses does not know (Chinese and Korean ones, above all) are words of their own in texts of
other languages.

The tokeniser's rules look at a part of a text (what stands between white space) and at little beside it: whether it is
the first or the last, and whether the next begins with a small letter or a digit (for full stops). So the words of a
part are computed once in each such situation, by sacremoses. There is one exception: the rules for apostrophes in
English, French and Italian use up the space after an apostrophe, so that one at the beginning of the next part is
treated differently; such texts, and those with control characters, go to sacremoses whole.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from nmtcore.corpus.detokenise import Detokenizer
from nmtcore.errors import UserError

CACHED_PARTS = 1 << 17
"""Each of the two memories is emptied when it holds so many parts (80 MB together)."""
LONGEST_CACHED = 64
"""Characters of a part that is worth remembering."""

_JUNK = re.compile("[\x00-\x08\x0e-\x1b]")
"""What sacremoses deletes; the rest of ASCII's control characters is white space."""
_FINAL_STOP = re.compile(r"(?<=\S)\.\Z")
"""A full stop that sacremoses has left at the last word of a text."""
_SPACE = "\u00a0"


def _sacremoses() -> Any:
    try:
        import sacremoses
    except ImportError as error:
        raise UserError("Words of kind 'moses' need the package sacremoses: pip install sacremoses.") from error
    return sacremoses


class Tokenizer:
    """Moses' tokeniser of one language, without escapes, with a memory for parts of texts."""

    def __init__(self, language: str) -> None:
        tokenizer = _sacremoses().MosesTokenizer(lang=language)
        # sacremoses makes sets of all of Unicode's letters anew at every full stop; here they are made once.
        letters, small = frozenset(tokenizer.IsAlpha), frozenset(tokenizer.IsLower)
        tokenizer.isanyalpha = lambda text: not letters.isdisjoint(text)
        tokenizer.islower = lambda text: small.issuperset(text)
        tokenizer.NONBREAKING_PREFIXES = frozenset(tokenizer.NONBREAKING_PREFIXES)
        tokenizer.NUMERIC_ONLY_PREFIXES = frozenset(tokenizer.NUMERIC_ONLY_PREFIXES)
        cut_full_stops = tokenizer.handles_nonbreaking_prefixes
        tokenizer.handles_nonbreaking_prefixes = lambda text: _FINAL_STOP.sub(" .", cut_full_stops(text))
        self._tokenizer = tokenizer
        self._small, self._pad = small, tokenizer.PAD_NOT_ISALNUM
        self._plain = frozenset(tokenizer.IsAlnum) | {"-", "`"}
        self._numeric = tokenizer.NUMERIC_ONLY_PREFIXES
        self._abbreviations = tokenizer.NONBREAKING_PREFIXES - self._numeric
        self._free: dict[str, tuple[str, ...]] = {}
        """Words of parts that are the same wherever they stand."""
        self._bound: dict[tuple[str, str, str], tuple[str, ...]] = {}
        """Words of parts by what stands for their neighbours."""

    def __call__(self, text: str) -> list[str]:
        """Cut a text into words."""
        if not text.isprintable() and _JUNK.search(text):
            return self._bare(text)
        parts = text.split()
        if "'" in text and "' '" in " ".join(parts):
            return self._bare(text)
        words: list[str] = []
        free = self._free
        for number, part in enumerate(parts):
            words += free.get(part) or self._cut(parts, number)
        return words

    def _bare(self, text: str) -> list[str]:
        return self._tokenizer.tokenize(text, escape=False)

    def _cut(self, parts: Sequence[str], number: int) -> tuple[str, ...]:
        part = parts[number]
        if "." not in part and "'" not in part:
            core = part.removesuffix(",")
            if core and self._is_plain(core):
                return self._remember(self._free, part, (part,) if core == part else (core, ","))
            if "," not in part and "MULTI" not in part:
                return self._remember(self._free, part, tuple(self._pad[0].sub(self._pad[1], part).split()))
        before, after = "A " if number else "", self._after(parts, number + 1)
        known = self._bound.get((part, before, after))
        return known or self._remember(self._bound, (part, before, after), self._cut_among(part, before, after))

    def _cut_among(self, part: str, before: str, after: str) -> tuple[str, ...]:
        core = part.removesuffix(".")
        if core and core != part and self._is_plain(core):
            kept = after == " a" or (after == " 0" and core in self._numeric) or core in self._abbreviations
            return (part,) if after and kept else (core, ".")
        words = self._bare(before + part + after)
        return tuple(words[1 if before else 0 : -1 if after else None])

    def _is_plain(self, part: str) -> bool:
        """Whether no rule changes a part: sacremoses writes dots as MULTI, so it changes a text that has this word."""
        return self._plain.issuperset(part) and "MULTI" not in part

    def _after(self, parts: Sequence[str], number: int) -> str:
        """Give what stands for the next part: the rules ask only for a small letter or a digit."""
        if number == len(parts):
            return ""
        initial = parts[number][0]
        return " a" if initial in self._small else " 0" if initial in "0123456789" else " A"

    def _remember(self, memory: dict, key: Any, words: tuple[str, ...]) -> tuple[str, ...]:
        if len(key if isinstance(key, str) else key[0]) <= LONGEST_CACHED:
            if len(memory) >= CACHED_PARTS:
                memory.clear()
            memory[key] = words
        return words


class Normalizer:
    """sacremoses' normalisation of punctuation; a rule runs only where the text holds what it needs."""

    def __init__(self, language: str) -> None:
        rules = _sacremoses().MosesPunctNormalizer(lang=language).substitutions
        self._rules = [(needed(pattern), re.compile(pattern).sub, replacement) for pattern, replacement in rules]

    def __call__(self, text: str) -> str:
        """Normalise the punctuation of a text."""
        for need, substitute, replacement in self._rules:
            if need in text:
                text = substitute(replacement, text)
        return text.strip()


_NEEDED = {
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


def needed(pattern: str) -> str:
    """Give a text without which a rule of sacremoses changes nothing; empty for a rule that is not known here."""
    if _SPACE in pattern:
        return _SPACE
    return pattern if len(pattern) == 1 else _NEEDED.get(pattern, "")


@cache
def moses_tokenizer(language: str) -> Callable[[str], list[str]]:
    """Give the tokeniser of a language; its memory is shared by all who ask."""
    return Tokenizer(language)


@cache
def moses_normalizer(language: str) -> Callable[[str], str]:
    """Give the normalisation of a language's punctuation."""
    return Normalizer(language)


@cache
def moses_detokenizer(language: str) -> Callable[[Sequence[str]], str]:
    """Give the detokeniser of a language."""
    return Detokenizer(language)
