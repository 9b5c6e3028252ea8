"""Tokenise raw text into words and make text from words; the rest of the pipeline never changes words."""

from collections.abc import Sequence

from nmtcore.config.segmentation import WordsSettings
from nmtcore.corpus import mecab
from nmtcore.corpus.moses import moses_detokenizer, moses_normalizer, moses_tokenizer
from nmtcore.corpus.truecase import Truecaser, detruecase
from nmtcore.errors import UserError


class WordTokenizer:
    """Tokenises and detokenises the text of one side.

    The kinds of words are moses: Moses' tokeniser without escapes; spaces: words separated by white space; mecab:
    MeCab's words (Japanese); given: the words in the corpus files. Here, `given` splits raw text at white space, since
    a model trained on given words expects text that is already tokenised. White space is Unicode's, so no word is empty
    or contains white space, even if the text has stray separators.

    With `normalise`, Moses' punctuation normalisation precedes tokenisation; given words are not normalised. With
    `truecase`, `truecaser` truecases the words of raw text, and text made from words is detruecased. The corpus stage
    passes no truecaser: it learns one from the words that it reads.
    """

    def __init__(self, settings: WordsSettings, language: str, truecaser: Truecaser | None = None) -> None:
        if settings.kind == "mecab" and language != "ja":
            raise UserError(f"Words of kind 'mecab' are Japanese (ja), but this side's language is '{language}'.")
        self.settings = settings
        self.language = language
        self._truecaser = truecaser if settings.truecase else None

    def split(self, text: str) -> list[str]:
        """Split a text into words: normalise its punctuation, tokenise it and truecase the words, as configured."""
        if self.settings.normalise:
            text = moses_normalizer(self.language)(text)
        words = self._tokenize(text)
        return self._truecaser(words) if self._truecaser else words

    def join(self, words: Sequence[str]) -> str:
        """Make text from words: detokenise Moses and MeCab words, join other words with spaces."""
        words = self.detruecased(words)
        if self.settings.kind == "moses":
            return moses_detokenizer(self.language)(words)
        return mecab.join(words) if self.settings.kind == "mecab" else " ".join(words)

    def detruecased(self, words: Sequence[str]) -> Sequence[str]:
        """Detruecase words if this side is truecased; otherwise return them unchanged."""
        return detruecase(words) if self.settings.truecase else words

    def _tokenize(self, text: str) -> list[str]:
        if self.settings.kind == "moses":
            return moses_tokenizer(self.language)(text)
        return mecab.split(text) if self.settings.kind == "mecab" else text.split()
