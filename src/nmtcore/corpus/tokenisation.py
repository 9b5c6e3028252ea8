"""Words are fixed once, here: from raw text to words, and from words back to text."""

from collections.abc import Sequence

from nmtcore.config.datasets import WordsSettings
from nmtcore.corpus import mecab
from nmtcore.corpus.moses import moses_detokenizer, moses_normalizer, moses_tokenizer
from nmtcore.corpus.truecase import Truecaser, detruecase
from nmtcore.errors import UserError


class WordTokenizer:
    """How the words of one side are made.

    moses: Moses' tokeniser without escapes; spaces: at white space; mecab: MeCab's words (Japanese); given: as the
    corpus format gives them, which here means at white space (a model that learned from given words wants text whose
    words are cut already).
    White space is Unicode's, so that no word is empty or holds any, whatever stray separators the text has.

    With `normalise`, Moses' normalisation of punctuation comes before the words are cut; words that a format gives stay
    as they are. With `truecase`, the words of raw text are truecased by `truecaser`; None leaves them as they are cut,
    for the corpus stage, which learns the model from them first. Text that is made of truecased words is detruecased.
    """

    def __init__(self, settings: WordsSettings, language: str, truecaser: Truecaser | None = None) -> None:
        if settings.kind == "mecab" and language != "ja":
            raise UserError(f"Words of kind 'mecab' are Japanese (ja), but this side's language is '{language}'.")
        self.kind = settings.kind
        self.settings = settings
        self.language = language
        self._truecaser = truecaser if settings.truecase else None

    def split(self, text: str) -> list[str]:
        """Cut a text into words."""
        if self.settings.normalise:
            text = moses_normalizer(self.language)(text)
        words = self._cut(text)
        return self._truecaser(words) if self._truecaser else words

    def join(self, words: Sequence[str]) -> str:
        """Make a text of words: detokenised as their kind is written, else with spaces between."""
        words = self.detruecased(words)
        if self.kind == "moses":
            return moses_detokenizer(self.language)(words)
        return mecab.join(words) if self.kind == "mecab" else " ".join(words)

    def detruecased(self, words: Sequence[str]) -> Sequence[str]:
        """Give the words as a text has them: detruecased where they were truecased."""
        return detruecase(words) if self.settings.truecase else words

    def _cut(self, text: str) -> list[str]:
        if self.kind == "moses":
            return moses_tokenizer(self.language)(text)
        return mecab.split(text) if self.kind == "mecab" else text.split()
