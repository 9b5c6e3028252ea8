"""Recognise text in scripts without spaces that is not cut into words."""

import re
from collections import Counter
from collections.abc import Sequence

MOST_CHARACTERS = 8
"""Average characters per word above which a text in a script without spaces is taken for unsegmented: Japanese and
Chinese words have 2 characters, Thai and Burmese words 4 to 7."""
_NO_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"  # Kana, Han
)


def count_unspaced(text: str, words: Sequence[str], name: str, counts: Counter) -> None:
    """Count, for one side of one pair, its words and characters in scripts that are written without spaces."""
    if text.isascii() or not _NO_SPACES.search(text):
        return
    unspaced = [word for word in words if _NO_SPACES.search(word)]
    counts["unspaced_lines", name] += 1
    counts["unspaced_words", name] += len(unspaced)
    counts["unspaced_characters", name] += sum(map(len, unspaced))


def unsegmented_warning(counts: Counter, name: str, *, kind: str, language: str, lines: int) -> str | None:
    """Say that a side's text looks unsegmented: most of `lines` are in such a script, and its words are too long."""
    found, words, characters = (counts[f"unspaced_{what}", name] for what in ("lines", "words", "characters"))
    if 2 * found < lines or not words or characters <= MOST_CHARACTERS * words:
        return None
    advice = "did you mean `mecab`?" if language == "ja" else "cut its words first, with spaces between them."
    average = f"average {characters / words:.0f} characters a word"
    return f"The {name} side has `words: {kind}`, but the text looks unsegmented ({average}): {advice}"
