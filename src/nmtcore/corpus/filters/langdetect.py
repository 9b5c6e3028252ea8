"""Pairs of which a side is not in its language, as the package langdetect sees it.

langdetect draws n-grams of a sentence at random. Its walk is seeded anew for every sentence, so a verdict depends on
nothing but the sentence, the seed and the profiles. A text without any letter that a profile knows (digits only, say)
is in no language: its pair is dropped. Simplified and traditional Chinese (zh-cn, zh-tw) are both zh.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from nmtcore.config.filters import LangDetectSettings
from nmtcore.corpus.filters.language import LanguageFilter, check_known
from nmtcore.corpus.filters.view import Situation
from nmtcore.corpus.filters.walk import Walker
from nmtcore.errors import UserError

VARIANTS = {"zh": ("zh-cn", "zh-tw")}
"""Languages that have several profiles."""


class Filter(LanguageFilter):
    """Drops them."""

    def __init__(self, settings: LangDetectSettings, situation: Situation) -> None:
        super().__init__(settings, situation)
        known = profile_names()
        places = {f"the language of the {side} side": code for side, code in self.languages.items()}
        check_known(places, {*known, *VARIANTS}, package="langdetect")
        chosen = known if settings.profiles is None else settings.profiles
        check_known(
            {f"one of its `profiles` ({code})": code for code in chosen}, {*known, *VARIANTS}, package="langdetect"
        )
        self.profiles = tuple(sorted({name for code in chosen for name in VARIANTS.get(code, (code,))}))
        self.accepted = {side: frozenset(VARIANTS.get(code, (code,))) for side, code in self.languages.items()}
        self.seed = settings.seed
        for side, code in self.languages.items():
            if not self.accepted[side] & set(self.profiles):
                raise UserError(f"`profiles` of the filter langdetect lack '{code}', the language of the {side} side.")
        if len(self.profiles) < 2:
            raise UserError("The filter langdetect needs at least two `profiles` to choose from.")

    def prepare(self) -> None:
        """Load the profiles."""
        load(self.profiles, self.seed)

    def accepts(self, side: str, texts: Sequence[str]) -> list[bool]:
        """Say which texts are in the language of a side."""
        accepted = self.accepted[side]
        return [language in accepted for language in load(self.profiles, self.seed).languages(texts)]


def profile_names() -> tuple[str, ...]:
    """List the profiles that come with langdetect, sorted, without loading it."""
    return tuple(sorted(path.name for path in _folder().iterdir() if not path.name.startswith(".")))


@cache
def load(profiles: tuple[str, ...], seed: int) -> Walker:
    """Load profiles, once a process and those forked from it."""
    from langdetect.detector_factory import DetectorFactory
    from langdetect.utils.lang_profile import LangProfile

    factory = DetectorFactory()
    factory.set_seed(seed)
    # Sorted: the library takes them as the folder lists them, so that sums would round differently elsewhere.
    for number, name in enumerate(profiles):
        profile = LangProfile(**json.loads((_folder() / name).read_text(encoding="utf-8")))
        factory.add_profile(profile, number, len(profiles))
    return Walker(factory)


def _folder() -> Path:
    spec = find_spec("langdetect")
    if spec is None or spec.origin is None:
        raise UserError("The filter langdetect needs the package langdetect: `pip install langdetect`.")
    return Path(spec.origin).parent / "profiles"
