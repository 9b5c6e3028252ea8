"""Words to subwords, with the word of every subword, and back."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from nmtcore.config.datasets import SegmentationSettings
from nmtcore.segmentation.bpe import Codes, joined

CACHED_WORDS = 1 << 19
"""The cache is emptied when it holds so many words (some 150 MB)."""
_WHITE = frozenset(" \t\n\r\x0b\x0c")


def codes_name(settings: SegmentationSettings, side: str) -> str | None:
    """Name the codes file of a side; None where words stay whole."""
    if settings.kind == "words":
        return None
    return "codes" if settings.joint else f"{side}.codes"


class _Cache(dict[str, tuple[str, ...]]):
    """The pieces of words, cut when they are first asked for."""

    def __init__(self, cut: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, word: str) -> tuple[str, ...]:
        if not word or not _WHITE.isdisjoint(word):
            raise ValueError(f"{word!r} is no word: words are not empty and hold no white space")
        if len(self) >= CACHED_WORDS:
            self.clear()
        cut = self[word] = self._cut(word)
        return cut


class Segmenter:
    """Cuts words as one segmentation does on one side."""

    def __init__(self, codes: Codes | None = None) -> None:
        """Cut by `codes`; None leaves words whole."""
        self._codes = codes
        self._cache = _Cache(codes.cut if codes else lambda word: (word,))

    @classmethod
    def load(cls, folder: str | Path, settings: SegmentationSettings, side: str) -> "Segmenter":
        """Read what `learn_segmentation` wrote (or a bundle copied)."""
        name = codes_name(settings, side)
        return cls(Codes.load(Path(folder) / name) if name else None)

    def segment(self, words: Sequence[str]) -> tuple[list[str], list[int]]:
        """Cut the words of one sentence; give the pieces and, for each, the number (from 0) of its word."""
        known = self._cache
        cuts = [known[word] for word in words]
        pieces = list(chain.from_iterable(cuts))
        if len(pieces) == len(cuts):
            return pieces, list(range(len(cuts)))
        return pieces, [number for number, cut in enumerate(cuts) for _ in cut]

    def many(self, sentences: Iterable[Sequence[str]]) -> list[tuple[list[str], list[int]]]:
        """Cut many sentences."""
        return [self.segment(words) for words in sentences]

    def join(self, pieces: Sequence[str]) -> list[str]:
        """Put pieces back together to words."""
        return joined(list(pieces)) if self._codes else list(pieces)
