"""What a text's characters show: an encoding other than UTF-8, or a text that is not cut into words."""

import re
from collections import Counter
from collections.abc import Sequence

SAMPLE = 1 << 12
"""Bytes that an encoding is guessed from."""
MOST_CHARACTERS = 8
"""Average characters per word above which a text in a script without spaces is taken for unsegmented: Japanese and
Chinese words have 2 characters, Thai and Burmese words 4 to 7."""
_BOMS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_NO_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"  # Kana, Han
)


def wide_encoding(start: bytes) -> str | None:
    """Name the encoding of a text that begins with `start` if that is UTF-16 or UTF-32, as `iconv -f` calls it.

    It is told by its byte order mark, or where there is none by NUL bytes: read in the right order of bytes, a text in
    UTF-16 has many ASCII characters (spaces and ends of lines at least), in the wrong order hardly any.
    """
    for mark, name in _BOMS.items():
        if start.startswith(mark):
            return name
    start = start[: min(len(start), SAMPLE) // 2 * 2]
    if start.count(0) < 3:
        return None
    little, big = _ascii_share(start[::2], start[1::2]), _ascii_share(start[1::2], start[::2])
    if max(little, big) < 0.15 or min(little, big) > 0.1 * max(little, big):
        return None
    return "UTF-16LE" if little > big else "UTF-16BE"


def convert_advice(encoding: str) -> str:
    """Say that a text is in such an encoding, and the command that converts it."""
    return f"is {encoding}, not UTF-8: convert it (iconv -f {encoding} -t UTF-8 OLD > NEW)"


def _ascii_share(low: bytes, high: bytes) -> float:
    """Give the share of the characters, of these low and high bytes, that are ASCII and no NUL."""
    return sum(1 for one, other in zip(low, high, strict=True) if other == 0 and 0 < one < 128) / len(low)


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
