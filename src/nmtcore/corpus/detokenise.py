"""Moses' detokenisation: join words into text, with spaces where Moses' detokenizer.perl puts them.

sacremoses implements these rules too, but deviates from Moses: it detects Czech decimals by the last words of the
sentence (so "v roce 2012 ." becomes "v roce2012."), never handles Czech "-li" and "e-mail", and attaches an English
"'s" to any preceding word.

Words are not escaped here, so nothing is unescaped. Three behaviours of the script are omitted: it takes a line from
"<" to ">" for markup and prints it unchanged; it attaches Finnish endings to a colon; and it counts the vowel signs of,
for example, Hebrew and Hindi as letters.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from unicodedata import category

CACHED_RULES = 1 << 15
"""Words whose rule is cached."""

_CJK = (
    "[\u1100-\u11ff\u2e80-\ua4cf\ua840-\ua87f\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff65-\uffdc\U00020000-\U0002ffff]"
)
_STARTS_CJK, _ENDS_CJK = re.compile(_CJK), re.compile(_CJK + r"\Z")
_OPENING, _CLOSING, _QUOTES = frozenset("([{¿¡"), frozenset(",.?!:;\\%}])"), frozenset("'\"„“`")
_FRENCH_CLOSING = frozenset("?!:;\\%")
_ELIDING = frozenset(["fr", "it", "ga"])


class _State:
    """The state of a detokenisation: the words, the position of the current word, and the effects of earlier words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words, self.position = words, 0
        self.space = ""
        """What to put before the current word unless its rule says otherwise."""
        self.open_quotes: set[str] = set()
        """Quotation marks that are open."""

    def word(self, offset: int) -> str:
        """Return the word at an offset from the current word; empty beyond either end."""
        position = self.position + offset
        return self.words[position] if 0 <= position < len(self.words) else ""


Rule = Callable[[_State], tuple[str, str]]
"""Returns what to put before the current word, and what to put after it unless the next word's rule says otherwise."""


class Detokenizer:
    """Moses' detokeniser for one language, for words without escapes."""

    def __init__(self, language: str) -> None:
        self._rule = lru_cache(CACHED_RULES)(partial(_rule, language))

    def __call__(self, words: Sequence[str]) -> str:
        """Join words into text. An empty word counts as a word, as two consecutive spaces do for Moses."""
        if "@-@" in words:
            words = f" {' '.join(words)} ".replace(" @-@ ", "-").strip(" ").split(" ")
        text, state, rule_of = "", _State(words), self._rule
        for position, word in enumerate(words):
            if (rule := rule_of(word)) is None:
                before, after = state.space, " "
            else:
                state.position = position
                before, after = rule(state)
            text += before + word
            state.space = after
        return (re.sub(" +", " ", text) if "  " in text else text).strip(" ")


def _rule(language: str, word: str) -> Rule | None:
    """Return the rule for a word of this form; None if it always stands between spaces, like most words."""
    if "A" <= word[:1] < "\u1100" and word[:1].isalpha() and word[-1] != "'":
        return None
    if _STARTS_CJK.match(word):
        return _stand_alone if language == "ko" else _join_cjk
    characters = frozenset(word)
    if word and all(character in _OPENING or category(character) == "Sc" for character in characters):
        return _attach_right
    if word and characters <= _CLOSING:
        return _put_space_before if language == "fr" and word in _FRENCH_CLOSING else _attach_left
    if rule := _rule_of_language(language, word):
        return rule
    return partial(_quote, language) if word and characters <= _QUOTES else None


def _rule_of_language(language: str, word: str) -> Rule | None:
    if language == "en" and word[:1] == "'" and _is_letter(word[1:2]):
        return _contraction
    if language == "cs" and _is_digits(word):
        return _decimals
    if language == "cs" and word in ("-", "–"):
        return _czech_dash
    return _elision if language in _ELIDING and word[-1:] == "'" and _is_letter(word[-2:-1]) else None


def _stand_alone(state: _State) -> tuple[str, str]:
    return state.space, " "


def _attach_left(state: _State) -> tuple[str, str]:
    """Attach the word to the previous word."""
    return "", " "


def _attach_right(state: _State) -> tuple[str, str]:
    """Attach the word to the next word."""
    return state.space, ""


def _put_space_before(state: _State) -> tuple[str, str]:
    """Put a space before a French mark, even after an opening mark."""
    return " ", " "


def _join_cjk(state: _State) -> tuple[str, str]:
    """Attach a Chinese, Japanese or Korean word to a previous such word."""
    return _attach_left(state) if _ENDS_CJK.search(state.word(-1)) else _stand_alone(state)


def _contraction(state: _State) -> tuple[str, str]:
    """Attach an English "'s" to a previous word that ends in a letter or digit."""
    last = state.word(-1)[-1:]
    return _attach_left(state) if _is_letter(last) or last.isdecimal() else _stand_alone(state)


def _elision(state: _State) -> tuple[str, str]:
    """Attach a French "l'" to a next word that begins with a letter."""
    return _attach_right(state) if _is_letter(state.word(1)[:1]) else _stand_alone(state)


def _decimals(state: _State) -> tuple[str, str]:
    """Attach a Czech number to a comma or full stop that follows another number."""
    is_decimal = state.word(-1) in (".", ",") and _is_digits(state.word(-2))
    return _attach_left(state) if is_decimal else _stand_alone(state)


def _czech_dash(state: _State) -> tuple[str, str]:
    """Attach "-li" and "-mail" to the previous word, but not at the end of a sentence, which Moses' rule omits."""
    before, after = state.word(-1), state.word(1).lower()
    if state.position + 2 < len(state.words) and (after == "li" or after.startswith("mail")):
        return ("", "") if _is_letter(before[-1:]) and not _STARTS_CJK.match(before) else _stand_alone(state)
    return _stand_alone(state)


def _quote(language: str, state: _State) -> tuple[str, str]:
    """Attach a quotation mark to the text that it encloses.

    Occurrences of the same mark open and close in turn; Czech „ always opens and Czech “ always closes.
    """
    word = state.word(0)
    mark = word if word.strip("„“") else '"'
    closes = mark in state.open_quotes if language != "cs" or word not in ("„", "“") else word == "“"
    if not closes and language == "en" and word == "'" and state.word(-1).endswith("s"):
        return _attach_left(state)
    state.open_quotes = state.open_quotes - {mark} if closes else state.open_quotes | {mark}
    return _attach_left(state) if closes else _attach_right(state)


def _is_letter(character: str) -> bool:
    return character.isalpha() or (character != "" and category(character) == "Nl")


def _is_digits(word: str) -> bool:
    return word.isascii() and word.isdecimal()
