"""The languages of a sample of pairs, as the language filters judge them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nmtcore.config.corpora import SIDES
from nmtcore.config.filters import LangDetectSettings, LinguaSettings
from nmtcore.corpus.filters import make_filter
from nmtcore.corpus.filters.pair_batch import FilterContext
from nmtcore.errors import UserError

_TOOLS = {"langdetect": LangDetectSettings, "lingua": LinguaSettings}
"""The filters, the one that loads its models faster first."""


@dataclass(frozen=True, kw_only=True)
class LanguageShare:
    """How many texts of a side seem to be in another language."""

    tool: str
    """The filter that judged them."""
    texts: int
    """Texts that were judged; empty ones are not."""
    others: int
    """Texts that the filter would drop."""
    swapped: int = 0
    """Those that seem to be in the language of the other side; 0 if the filter does not know that language."""

    @property
    def share(self) -> float:
        """The share of texts in another language."""
        return self.others / self.texts if self.texts else 0.0


def language_shares(sample: Sequence[tuple[str, str]], languages: Mapping[str, str]) -> dict[str, LanguageShare]:
    """Judge both sides of a sample; `languages` are the codes by side.

    A side whose language no filter knows, or no installed one, is left out.
    """
    shares = {}
    for number, side in enumerate(SIDES):
        texts = [pair[number] for pair in sample if pair[number].strip()]
        if (share := _share(texts, side, languages)) is not None:
            shares[side] = share
    return shares


def _share(texts: Sequence[str], side: str, languages: Mapping[str, str]) -> LanguageShare | None:
    other = SIDES[1 - SIDES.index(side)]
    for tool in _TOOLS:
        own = _language_filter(tool, {side: languages[side]})
        if own is None:
            continue
        both = _language_filter(tool, languages)
        accepts = (both or own).accepts
        others = [text for text, accepted in zip(texts, accepts(side, texts), strict=True) if not accepted]
        swapped = sum(accepts(other, others)) if both and languages[side] != languages[other] else 0
        return LanguageShare(tool=tool, texts=len(texts), others=len(others), swapped=swapped)
    return None


def _language_filter(tool: str, languages: Mapping[str, str]):
    """Make a filter for some sides; None if its package is missing, or does not know one of the languages."""
    context = FilterContext(rows=0, others={}, folder=Path(), budget_bytes=0, languages=languages)
    try:
        return make_filter(_TOOLS[tool](sides=tuple(languages)), context)
    except UserError:
        return None
