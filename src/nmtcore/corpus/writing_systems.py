"""Recognise unsegmented text in writing systems without spaces, such as Japanese or Thai."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

MAX_CHARACTERS_PER_WORD = 8
"""Average above which text in a script without spaces is taken for unsegmented: Japanese and Chinese words have 2
characters, Thai and Burmese words 4 to 7."""
_NO_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"  # Kana, Han
)


def count_unspaced(text: str, words: Sequence[str], side: str, counts: Counter) -> None:
    """Add one side's words and characters in scripts without spaces to `counts`, if it has any."""
    if text.isascii() or not _NO_SPACES.search(text):
        return
    unspaced = [word for word in words if _NO_SPACES.search(word)]
    counts["unspaced_lines", side] += 1
    counts["unspaced_words", side] += len(unspaced)
    counts["unspaced_characters", side] += sum(map(len, unspaced))


def unsegmented_warning(counts: Counter, side: str, *, words_kind: str, language: str, lines: int) -> str | None:
    """Warn if a side's words are too long (`unsegmented_length`)."""
    if (length := unsegmented_length(counts, side, lines=lines)) is None:
        return None
    advice = "did you mean `mecab`?" if language == "ja" else "segment it first, with spaces between words."
    average = f"average {length:.0f} characters per word"
    return f"The {side} side has `words: {words_kind}`, but the text looks unsegmented ({average}): {advice}"


def unsegmented_length(counts: Counter, side: str, *, lines: int) -> float | None:
    """Return the characters per word if most of a side's `lines` are in a script without spaces and look unsegmented.

    `counts` are those of `count_unspaced`.
    """
    unspaced, words, characters = (counts[f"unspaced_{unit}", side] for unit in ("lines", "words", "characters"))
    if 2 * unspaced < lines or not words or characters <= MAX_CHARACTERS_PER_WORD * words:
        return None
    return characters / words


def has_unspaced(text: str) -> bool:
    """Return whether a text has characters of a script without spaces."""
    return not text.isascii() and _NO_SPACES.search(text) is not None


def main_script(texts: Iterable[str]) -> str | None:
    """Name the script of most letters (LATIN, CYRILLIC, CJK...), as Unicode's names of characters begin."""
    letters = Counter(letter for text in texts for letter in text if letter.isalpha())
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[unicodedata.name(letter, "").partition(" ")[0]] += count
    return max(scripts, key=lambda script: scripts[script], default=None)


def looks_tokenised(texts: Sequence[str]) -> bool:
    """Return whether most texts that end in a full stop, or the like, have a space before it."""
    ends = [text.rstrip()[-2:] for text in texts if text.rstrip().endswith((".", "?", "!"))]
    return bool(ends) and 2 * sum(end.startswith(" ") for end in ends) > len(ends)
