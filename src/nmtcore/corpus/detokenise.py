"""Moses' detokenisation: words become a text, with spaces where Moses' detokenizer.perl puts them.

sacremoses has these rules too, but some of its tests look at other words than Moses' do: Czech decimals are found by
the last words of the sentence (so "v roce 2012 ." becomes "v roce2012."), Czech "-li" and "e-mail" never, and an
English "'s" is attached to whatever stands before it.

Words have no escapes here, so none are undone. Three things of the script are left out: it prints a line from "<" to
">" as it is, taking it for markup; it attaches Finnish endings to a colon; and the vowel signs of Hebrew or Hindi, say,
count as letters there.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from unicodedata import category

REMEMBERED = 1 << 15
"""Words whose rule is remembered."""

_CJK = (
    "[\u1100-\u11ff\u2e80-\ua4cf\ua840-\ua87f\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff65-\uffdc\U00020000-\U0002ffff]"
)
_STARTS_CJK, _ENDS_CJK = re.compile(_CJK), re.compile(_CJK + r"\Z")
_OPENING, _CLOSING, _QUOTES = frozenset("([{¿¡"), frozenset(",.?!:;\\%}])"), frozenset("'\"„“`")
_FRENCH_CLOSING = frozenset("?!:;\\%")
_ELIDING = frozenset(["fr", "it", "ga"])


class _Text:
    """A text in the making: its words, the one that comes next, and what is known of those before it."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words, self.place = words, 0
        self.space = ""
        """What stands before the next word unless its rule says otherwise."""
        self.open: set[str] = set()
        """Quotation marks that are open."""

    def word(self, distance: int) -> str:
        """Give the word so far from the next one; empty beyond the ends."""
        place = self.place + distance
        return self.words[place] if 0 <= place < len(self.words) else ""


Rule = Callable[[_Text], tuple[str, str]]
"""Gives what stands before a word, and what stands after it unless the rule of the word after it says otherwise."""


class Detokenizer:
    """Moses' detokeniser of one language, for words without escapes."""

    def __init__(self, language: str) -> None:
        self._rule = lru_cache(REMEMBERED)(partial(_rule, language))

    def __call__(self, words: Sequence[str]) -> str:
        """Make a text of words. An empty word counts as one, as two spaces in a row do for Moses."""
        if "@-@" in words:
            words = f" {' '.join(words)} ".replace(" @-@ ", "-").strip(" ").split(" ")
        made, text, rule_of = "", _Text(words), self._rule
        for place, word in enumerate(words):
            if (rule := rule_of(word)) is None:
                before, after = text.space, " "
            else:
                text.place = place
                before, after = rule(text)
            made += before + word
            text.space = after
        return (re.sub(" +", " ", made) if "  " in made else made).strip(" ")


def _rule(language: str, word: str) -> Rule | None:
    """Give the rule for a word of this form; None where it always stands between spaces, as most do."""
    if "A" <= word[:1] < "\u1100" and word[:1].isalpha() and word[-1] != "'":
        return None
    if _STARTS_CJK.match(word):
        return _apart if language == "ko" else _after_cjk
    characters = frozenset(word)
    if word and all(character in _OPENING or category(character) == "Sc" for character in characters):
        return _right
    if word and characters <= _CLOSING:
        return _spaced if language == "fr" and word in _FRENCH_CLOSING else _left
    if rule := _rule_of_language(language, word):
        return rule
    return partial(_quote, language) if word and characters <= _QUOTES else None


def _rule_of_language(language: str, word: str) -> Rule | None:
    if language == "en" and word[:1] == "'" and _is_letter(word[1:2]):
        return _contraction
    if language == "cs" and _is_number(word):
        return _decimals
    if language == "cs" and word in ("-", "–"):
        return _czech_dash
    return _elision if language in _ELIDING and word[-1:] == "'" and _is_letter(word[-2:-1]) else None


def _apart(text: _Text) -> tuple[str, str]:
    return text.space, " "


def _left(text: _Text) -> tuple[str, str]:
    """Attach a word to the one before it."""
    return "", " "


def _right(text: _Text) -> tuple[str, str]:
    """Attach a word to the one after it."""
    return text.space, ""


def _spaced(text: _Text) -> tuple[str, str]:
    """Put a space before a French mark, even after an opening one."""
    return " ", " "


def _after_cjk(text: _Text) -> tuple[str, str]:
    """Attach a Chinese, Japanese or Korean word to such a word before it."""
    return _left(text) if _ENDS_CJK.search(text.word(-1)) else _apart(text)


def _contraction(text: _Text) -> tuple[str, str]:
    """Attach an English "'s" to a word before it."""
    last = text.word(-1)[-1:]
    return _left(text) if _is_letter(last) or last.isdecimal() else _apart(text)


def _elision(text: _Text) -> tuple[str, str]:
    """Attach a French "l'" to a word after it."""
    return _right(text) if _is_letter(text.word(1)[:1]) else _apart(text)


def _decimals(text: _Text) -> tuple[str, str]:
    """Attach a Czech number to another one with a comma or a full stop before it."""
    return _left(text) if text.word(-1) in (".", ",") and _is_number(text.word(-2)) else _apart(text)


def _czech_dash(text: _Text) -> tuple[str, str]:
    """Attach "-li" and "-mail" to the word before, unless they end the sentence, which Moses' rule does not reach."""
    before, after = text.word(-1), text.word(1).lower()
    if text.place + 2 < len(text.words) and (after == "li" or after.startswith("mail")):
        return ("", "") if _is_letter(before[-1:]) and not _STARTS_CJK.match(before) else _apart(text)
    return _apart(text)


def _quote(language: str, text: _Text) -> tuple[str, str]:
    """Attach a quotation mark to what it encloses: marks of a kind open and close in turn, Czech ones by their form."""
    word = text.word(0)
    kind = word if word.strip("„“") else '"'
    is_open = kind in text.open if language != "cs" or word not in ("„", "“") else word == "“"
    if not is_open and language == "en" and word == "'" and text.word(-1).endswith("s"):
        return _left(text)
    text.open = text.open - {kind} if is_open else text.open | {kind}
    return _left(text) if is_open else _right(text)


def _is_letter(character: str) -> bool:
    return character.isalpha() or (character != "" and category(character) == "Nl")


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal()
