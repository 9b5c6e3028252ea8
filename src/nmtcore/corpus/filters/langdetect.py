"""The filter `langdetect`: drop pairs with a side in the wrong language according to the package langdetect.

langdetect draws n-grams of a sentence at random. Its generator is reseeded for every sentence, so the result depends
only on the sentence, the seed and the profiles. A text without any n-gram from the profiles (for example, one of digits
only) has no language, so its pair is dropped. Simplified and traditional Chinese (zh-cn, zh-tw) both count as zh.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from nmtcore.config.filters import LangDetectSettings
from nmtcore.corpus.filters.language import LanguageFilter, check_supported
from nmtcore.corpus.filters.pair_batch import FilterContext
from nmtcore.corpus.filters.walk import Walker
from nmtcore.errors import UserError

VARIANTS = {"zh": ("zh-cn", "zh-tw")}
"""Languages with several profiles."""


class Filter(LanguageFilter):
    """Drops pairs with a side in the wrong language according to langdetect."""

    def __init__(self, settings: LangDetectSettings, context: FilterContext) -> None:
        super().__init__(settings, context)
        names = profile_names()
        supported = {*names, *VARIANTS}
        own_codes = {f"the language of the {side} side": code for side, code in self.languages.items()}
        check_supported(own_codes, supported, package="langdetect")
        chosen = names if settings.profiles is None else settings.profiles
        profile_codes = {f"one of its `profiles` ({code})": code for code in chosen}
        check_supported(profile_codes, supported, package="langdetect")
        self.profiles = tuple(sorted({name for code in chosen for name in VARIANTS.get(code, (code,))}))
        self.accepted = {side: frozenset(VARIANTS.get(code, (code,))) for side, code in self.languages.items()}
        self.seed = settings.seed
        for side, code in self.languages.items():
            if not self.accepted[side] & set(self.profiles):
                raise UserError(
                    f"The filter langdetect's `profiles` lack '{code}', the language of the {side} side: add it."
                )
        if len(self.profiles) < 2:
            raise UserError("The filter langdetect needs at least two `profiles` to choose from: add one.")

    def prepare(self) -> None:
        """Load the profiles."""
        load_walker(self.profiles, self.seed)

    def accepts(self, side: str, texts: Sequence[str]) -> list[bool]:
        """Return which texts are in the language of a side."""
        accepted = self.accepted[side]
        return [language in accepted for language in load_walker(self.profiles, self.seed).languages(texts)]


def profile_names() -> tuple[str, ...]:
    """List the profiles that come with langdetect, sorted, without importing it."""
    return tuple(sorted(path.name for path in _profile_folder().iterdir() if not path.name.startswith(".")))


@cache
def load_walker(profiles: tuple[str, ...], seed: int) -> Walker:
    """Load profiles, once per process; processes forked from it share them."""
    from langdetect.detector_factory import DetectorFactory
    from langdetect.utils.lang_profile import LangProfile

    factory = DetectorFactory()
    factory.set_seed(seed)
    # In sorted order: the library uses the order of the folder, so sums would be rounded differently elsewhere.
    for number, name in enumerate(profiles):
        profile = LangProfile(**json.loads((_profile_folder() / name).read_text(encoding="utf-8")))
        factory.add_profile(profile, number, len(profiles))
    return Walker(factory)


def _profile_folder() -> Path:
    spec = find_spec("langdetect")
    if spec is None or spec.origin is None:
        raise UserError("The filter langdetect needs the package langdetect: `pip install langdetect`.")
    return Path(spec.origin).parent / "profiles"
