"""The languages of a sample of pairs, as the filter langdetect judges them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nmtcore.config.corpora import SIDES
from nmtcore.corpus.filters import detect_language, detected_languages


@dataclass(frozen=True, kw_only=True)
class LanguageShare:
    """How many texts of a side seem to be in another language."""

    texts: int
    """Texts that were judged; empty ones are not."""
    others: int
    """Texts that the filter would drop."""
    swapped: int
    """Those that seem to be in the language of the other side."""

    @property
    def share(self) -> float:
        """The share of texts in another language."""
        return self.others / self.texts if self.texts else 0.0


def language_shares(sample: Sequence[tuple[str, str]], languages: Mapping[str, str]) -> dict[str, LanguageShare]:
    """Judge both sides of a sample; `languages` are the codes by side. Languages that langdetect lacks are left out."""
    shares = {}
    for number, side in enumerate(SIDES):
        if languages[side] in detected_languages():
            detected = [detect_language(pair[number]) for pair in sample if pair[number].strip()]
            others = [language for language in detected if language != languages[side]]
            swapped = others.count(languages[SIDES[1 - number]])
            shares[side] = LanguageShare(texts=len(detected), others=len(others), swapped=swapped)
    return shares
