"""Recognise unsegmented text in writing systems without spaces, such as Japanese or Thai."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MAX_CHARACTERS_PER_WORD = 8
"""Average above which text in a script without spaces is taken for unsegmented: Japanese and Chinese words have 2
characters, Thai and Burmese words 4 to 7."""
MAX_CHARACTERS_PER_CUT_WORD = 4
"""Average up to which Chinese or Japanese text is taken to be cut into words: between spaces of uncut text there are
clauses."""
SEGMENTED_BY_SPACES = ("spaces", "moses")
"""Kinds of words that do not segment scripts without spaces."""
NO_SPACES = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"  # Kana, Han
)
"""A character of a script without spaces, as a regular expression."""


def has_unspaced(texts: pa.Array) -> np.ndarray:
    """Return for each text whether it has characters of a script without spaces."""
    return pc.match_substring_regex(texts, NO_SPACES).to_numpy(zero_copy_only=False)


def count_unspaced(texts: pa.Array, words: pa.Array) -> Counter:
    """Count the lines in scripts without spaces, and the words and characters in them; and all lines with words."""
    unspaced = pc.list_flatten(words.filter(pa.array(has_unspaced(texts))))
    unspaced = unspaced.filter(pa.array(has_unspaced(unspaced)))
    return Counter(
        texts=int(np.count_nonzero(pc.list_value_length(words))),
        lines=int(np.count_nonzero(has_unspaced(texts))),
        words=len(unspaced),
        characters=pc.sum(pc.utf8_length(unspaced)).as_py() or 0,
    )


def unsegmented_warning(counts: Counter, side: str, *, words_kind: str, language: str) -> str | None:
    """Warn if words are split at spaces, but most texts are in a script without spaces and have too long words.

    `counts` are those of `count_unspaced`.
    """
    is_rare = 2 * counts["lines"] < counts["texts"]
    is_segmented = counts["characters"] <= MAX_CHARACTERS_PER_WORD * counts["words"]
    if words_kind not in SEGMENTED_BY_SPACES or is_rare or is_segmented:
        return None
    spacy = ", `{kind: spacy, language: zh}`" if language == "zh" else ""
    others = f"write `characters`{spacy}, or segment it first, with spaces between words."
    advice = "did you mean `mecab`?" if language == "ja" else others
    average = f"average {counts['characters'] / counts['words']:.0f} characters per word"
    return f"The {side} side has `words: {words_kind}`, but the text looks unsegmented ({average}): {advice}"


def main_script(texts: Iterable[str]) -> str | None:
    """Name the script of most letters (LATIN, CYRILLIC, CJK...), as Unicode's names of characters begin."""
    letters = Counter(letter for text in texts for letter in text if letter.isalpha())
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[unicodedata.name(letter, "").partition(" ")[0]] += count
    return max(scripts, key=lambda script: scripts[script], default=None)


def tokeniser_needed(texts: Sequence[str]) -> str | None:
    """Name BLEU's tokeniser for texts without spaces: zh, ja or char; None if most texts have spaces between words."""
    letters = "".join(filter(str.isalpha, "".join(texts)))
    if 2 * len(re.findall(NO_SPACES, letters)) <= len(letters) or looks_tokenised(texts):
        return None
    if 2 * sum(bool(re.search("[\u3040-\u30ff]", text)) for text in texts) > len(texts):
        return "ja"
    return "zh" if main_script(texts) == "CJK" else "char"


def looks_tokenised(texts: Sequence[str]) -> bool:
    """Return whether most texts that end in a full stop, or the like, have a space before it.

    Of a script without spaces: whether most texts have spaces, and as many as there are words.
    """
    unspaced = [words for text in texts if (words := [word for word in text.split() if re.search(NO_SPACES, word)])]
    if 2 * len(unspaced) > len(texts):
        several = sum(len(words) > 1 for words in unspaced)
        characters = sum(len(word) for words in unspaced for word in words)
        is_cjk = main_script(texts) in ("CJK", "HIRAGANA", "KATAKANA")
        most = MAX_CHARACTERS_PER_CUT_WORD if is_cjk else MAX_CHARACTERS_PER_WORD
        return 2 * several > len(unspaced) and characters <= most * sum(map(len, unspaced))
    ends = [text.rstrip()[-2:] for text in texts if text.rstrip().endswith((".", "?", "!"))]
    return bool(ends) and 2 * sum(end.startswith(" ") for end in ends) > len(ends)
