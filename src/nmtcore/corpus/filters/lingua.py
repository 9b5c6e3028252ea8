"""The filter `lingua`: drop pairs with a side in the wrong language according to the package lingua.

If lingua finds no language for a text (for example, one of digits only), its pair is dropped. The code `no` stands for
both Bokmål and Nynorsk, which lingua distinguishes.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from nmtcore.config.filters import LinguaSettings
from nmtcore.corpus.filters.language import LanguageFilter, check_supported
from nmtcore.corpus.filters.pair_batch import FilterContext
from nmtcore.errors import UserError

FREQUENT = ("ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh")
"""Default languages to choose from, in addition to the data set's languages."""
VARIANTS = {"no": ("nb", "nn")}
"""Languages with several codes in lingua."""


class Filter(LanguageFilter):
    """Drops pairs with a side in the wrong language according to lingua."""

    def __init__(self, settings: LinguaSettings, context: FilterContext) -> None:
        super().__init__(settings, context)
        supported = {*supported_codes(), *VARIANTS}
        own_codes = {f"the language of the {side} side": code for side, code in context.languages.items()}
        check_supported(own_codes, supported, package="lingua")
        others = FREQUENT if settings.languages is None else settings.languages
        check_supported({f"one of its `languages` ({code})": code for code in others}, supported, package="lingua")
        self.codes = tuple(sorted({name for code in (*others, *own_codes.values()) for name in variants(code)}))
        self.least_confidence = settings.least_confidence

    def prepare(self) -> None:
        """Load the language models."""
        load_detector(self.codes)

    def accepts(self, side: str, texts: Sequence[str]) -> list[bool]:
        """Return which texts are in the language of a side."""
        detector = load_detector(self.codes)
        accepted = [_language(name) for name in variants(self.languages[side])]
        # One text at a time: per core, lingua's parallel calls are as fast as a loop, but they use all cores.
        verdicts = [detector.detect_language_of(text) in accepted for text in texts]
        if self.least_confidence > 0:
            for row, is_accepted in enumerate(verdicts):
                if not is_accepted:
                    confidences = (detector.compute_language_confidence(texts[row], name) for name in accepted)
                    verdicts[row] = max(confidences) >= self.least_confidence
        return verdicts


def variants(code: str) -> tuple[str, ...]:
    """Return lingua's codes for a language."""
    return VARIANTS.get(code, (code,))


def supported_codes() -> set[str]:
    """Return the ISO 639-1 codes of the languages that lingua supports."""
    return {language.iso_code_639_1.name.lower() for language in _package().Language.all()}


@cache
def load_detector(codes: tuple[str, ...]) -> Any:
    """Build a detector with all its models, once per process; processes forked from it do not load them again."""
    builder = _package().LanguageDetectorBuilder.from_languages(*map(_language, codes))
    return builder.with_preloaded_language_models().build()


def _language(code: str) -> Any:
    lingua = _package()
    return lingua.Language.from_iso_code_639_1(lingua.IsoCode639_1.from_str(code))


def _package() -> Any:
    try:
        import lingua
    except ImportError as error:
        raise UserError(
            "The filter lingua needs the package lingua: `pip install lingua-language-detector`."
        ) from error
    return lingua
