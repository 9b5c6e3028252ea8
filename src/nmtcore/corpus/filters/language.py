"""The common part of the filters that identify the language of raw text."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from nmtcore.config.filters import LangDetectSettings, LinguaSettings
from nmtcore.corpus.filters.pair_batch import FilterContext
from nmtcore.errors import UserError


class LanguageFilter:
    """Drops pairs with a side in the wrong language. If the first side is wrong, the second side is not checked."""

    def __init__(self, settings: LangDetectSettings | LinguaSettings, context: FilterContext) -> None:
        if not settings.sides:
            raise UserError("A language filter has no side to check: set `sides: [source, target]`, or to one of them.")
        self.sides = tuple(dict.fromkeys(settings.sides))
        self.columns = self.sides
        self.languages = {side: context.languages[side] for side in self.sides}

    def prepare(self) -> None:
        """Load the language models."""
        raise NotImplementedError

    def accepts(self, side: str, texts: Sequence[str]) -> Sequence[bool]:
        """Return which texts are in the language of a side."""
        raise NotImplementedError

    def drops_texts(self, texts: Mapping[str, Sequence[str]]) -> np.ndarray:
        """Return which pairs to drop."""
        rows = np.arange(len(texts[self.sides[0]]))
        dropped = np.ones(len(rows), dtype=bool)
        for side in self.sides:
            rows = rows[np.array(self.accepts(side, [texts[side][row] for row in rows]), dtype=bool)]
        dropped[rows] = False
        return dropped


def check_supported(codes: Mapping[str, str], supported: Collection[str], *, package: str) -> None:
    """Raise `UserError` for the first of `codes` ({description: code}) that a package does not support."""
    for description, code in codes.items():
        if code not in supported:
            listed = ", ".join(sorted(supported))
            raise UserError(
                f"The filter {package} does not support '{code}', {description}. It supports {listed}:"
                " correct the code, remove its side from `sides`, or use another filter."
            )
