"""What the filters share that look at the language of raw text."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from nmtcore.config.filters import LangDetectSettings, LinguaSettings
from nmtcore.corpus.filters.view import Situation
from nmtcore.errors import UserError


class LanguageFilter:
    """Drops pairs of which a side is not in its language. A pair with a wrong first side is not looked at further."""

    def __init__(self, settings: LangDetectSettings | LinguaSettings, situation: Situation) -> None:
        if not settings.sides:
            raise UserError("A filter by language has no side to look at: give `sides: [source, target]`, or one.")
        self.sides = tuple(dict.fromkeys(settings.sides))
        self.columns = self.sides
        self.languages = {side: situation.languages[side] for side in self.sides}

    def prepare(self) -> None:
        """Load the models."""
        raise NotImplementedError

    def accepts(self, side: str, texts: Sequence[str]) -> Sequence[bool]:
        """Say which texts are in the language of a side."""
        raise NotImplementedError

    def wrong(self, texts: Mapping[str, Sequence[str]]) -> np.ndarray:
        """Say which pairs it drops."""
        rows = np.arange(len(texts[self.sides[0]]))
        dropped = np.ones(len(rows), dtype=bool)
        for side in self.sides:
            rows = rows[np.array(self.accepts(side, [texts[side][row] for row in rows]), dtype=bool)]
        dropped[rows] = False
        return dropped


def check_known(codes: Mapping[str, str], known: Collection[str], *, package: str) -> None:
    """Raise a `UserError` at the first of `codes` ({where it stands: code}) that a package does not know."""
    for where, code in codes.items():
        if code not in known:
            raise UserError(
                f"The filter {package} does not know '{code}', {where}. It knows {', '.join(sorted(known))}: correct "
                "the code, leave its side out of `sides`, or take another filter."
            )
