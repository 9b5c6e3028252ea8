"""Words are fixed once, here: from raw text to words, and from words back to text."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from nmtcore.config.datasets import WordsSettings
from nmtcore.errors import UserError


class Words:
    """How the words of one side are made.

    moses: sacremoses' tokeniser without escapes; spaces: at white space; given: as the corpus format gives them,
    which here means at white space (a model that learned from given words wants text whose words are cut already).
    White space is Unicode's, so that no word is empty or holds any, whatever stray separators the text has.
    """

    def __init__(self, settings: WordsSettings, language: str) -> None:
        self.kind = settings.kind
        self.settings = settings
        self.language = language

    def split(self, text: str) -> list[str]:
        """Cut a text into words."""
        return _moses_tokenizer(self.language)(text) if self.kind == "moses" else text.split()

    def join(self, words: Sequence[str]) -> str:
        """Make a text of words: Moses' detokeniser where its tokeniser cut them, else with spaces between."""
        return _moses_detokenizer(self.language)(words) if self.kind == "moses" else " ".join(words)


def _sacremoses() -> Any:
    try:
        import sacremoses
    except ImportError as error:
        raise UserError("Words of kind 'moses' need the package sacremoses: pip install sacremoses.") from error
    return sacremoses


@cache
def _moses_tokenizer(language: str) -> Callable[[str], list[str]]:
    tokenizer = _sacremoses().MosesTokenizer(lang=language)
    # sacremoses makes sets of all of Unicode's letters anew at every full stop; here they are made once.
    letters, small = frozenset(tokenizer.IsAlpha), frozenset(tokenizer.IsLower)
    tokenizer.isanyalpha = lambda text: not letters.isdisjoint(text)
    tokenizer.islower = lambda text: small.issuperset(text)
    tokenizer.NONBREAKING_PREFIXES = frozenset(tokenizer.NONBREAKING_PREFIXES)
    tokenizer.NUMERIC_ONLY_PREFIXES = frozenset(tokenizer.NUMERIC_ONLY_PREFIXES)
    return lambda text: tokenizer.tokenize(text, escape=False)


@cache
def _moses_detokenizer(language: str) -> Callable[[Sequence[str]], str]:
    detokenizer = _sacremoses().MosesDetokenizer(lang=language)
    return lambda words: detokenizer.detokenize(words, unescape=False)
