"""Pairs of which a side is not in its language, as the package lingua sees it.

A text that lingua finds no language for (digits only, say) is not in its language: its pair is dropped. The code `no`
means Bokmål and Nynorsk, which lingua tells apart.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from nmtcore.config.filters import LinguaSettings
from nmtcore.corpus.filters.language import LanguageFilter, check_known
from nmtcore.corpus.filters.view import Situation
from nmtcore.errors import UserError

FREQUENT = ("ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh")
"""What it chooses from beside the data set's languages, where the settings do not say it."""
VARIANTS = {"no": ("nb", "nn")}


class Filter(LanguageFilter):
    """Drops them."""

    def __init__(self, settings: LinguaSettings, situation: Situation) -> None:
        super().__init__(settings, situation)
        known = {*known_codes(), *VARIANTS}
        places = {f"the language of the {side} side": code for side, code in situation.languages.items()}
        check_known(places, known, package="lingua")
        others = FREQUENT if settings.languages is None else settings.languages
        check_known({f"one of its `languages` ({code})": code for code in others}, known, package="lingua")
        self.codes = tuple(sorted({name for code in (*others, *places.values()) for name in variants(code)}))
        self.least_confidence = settings.least_confidence

    def prepare(self) -> None:
        """Load the models."""
        load(self.codes)

    def accepts(self, side: str, texts: Sequence[str]) -> list[bool]:
        """Say which texts are in the language of a side."""
        detector = load(self.codes)
        own = [_language(name) for name in variants(self.languages[side])]
        # One text at a time: lingua's parallel calls are as fast as a loop, core by core, but take all cores.
        verdicts = [detector.detect_language_of(text) in own for text in texts]
        if self.least_confidence > 0:
            for row, fine in enumerate(verdicts):
                if not fine:
                    confidence = (detector.compute_language_confidence(texts[row], each) for each in own)
                    verdicts[row] = max(confidence) >= self.least_confidence
        return verdicts


def variants(code: str) -> tuple[str, ...]:
    """Give lingua's codes of a language."""
    return VARIANTS.get(code, (code,))


def known_codes() -> set[str]:
    """List the languages that lingua knows (ISO 639-1)."""
    return {language.iso_code_639_1.name.lower() for language in _package().Language.all()}


@cache
def load(codes: tuple[str, ...]) -> Any:
    """Make a detector, once a process, with all its models: they are not loaded again by processes forked from it."""
    builder = _package().LanguageDetectorBuilder.from_languages(*map(_language, codes))
    return builder.with_preloaded_language_models().build()


def _language(code: str) -> Any:
    lingua = _package()
    return lingua.Language.from_iso_code_639_1(lingua.IsoCode639_1.from_str(code))


def _package() -> Any:
    try:
        import lingua
    except ImportError as error:
        what = "The filter lingua needs the package lingua: `pip install lingua-language-detector`."
        raise UserError(what) from error
    return lingua
