"""The entries of one side's vocabulary and their ids."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nmtcore.errors import LineError, UserError
from nmtcore.files import read_lines, write_lines
from nmtcore.syntax.trees import ROOT_ENTRY

SPECIALS = ("<pad>", "<unk>", "<s>", "</s>", ROOT_ENTRY)
"""The first entries of every vocabulary."""
PAD, UNK, BOS, EOS, ROOT_ID = range(5)

TAG_PREFIX = " "
"""The prefix of every tag's entry. No word holds white space (the segmenter refuses one that does), and pieces are
made of words: so a tag can never be taken for a subword of text, whatever its name."""


def tag_entry(tag: str) -> str:
    """Give the entry of a tag that a transform puts among subwords: a supertag, `<TR>`."""
    return TAG_PREFIX + tag


class Vocabulary:
    """Entries, each with its place as its id; the first five are `SPECIALS`.

    An entry that occurs twice, or is empty, is a `ValueError`.
    """

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = tuple(entries)
        if self.entries[: len(SPECIALS)] != SPECIALS:
            raise ValueError(f"a vocabulary starts with {' '.join(SPECIALS)}")
        self._ids: dict[str, int] = {}
        for i, entry in enumerate(self.entries):
            if not entry:
                raise ValueError(f"entry {i} is empty")
            if self._ids.setdefault(entry, i) != i:
                raise ValueError(f"'{entry}' is both entry {self._ids[entry]} and entry {i}")

    @classmethod
    def of(cls, tokens: Iterable[str]) -> "Vocabulary":
        """Put the specials before `tokens`; a token that looks like a special is left out."""
        return cls((*SPECIALS, *(token for token in tokens if token not in SPECIALS)))

    def extended(self, tags: Iterable[str]) -> "Vocabulary":
        """Append the entries of `tags`; the ids of what is there stay.

        A tag that is empty, or that is there already, is a `ValueError`.
        """
        tags = list(tags)
        if not all(tags):
            raise ValueError("a tag is empty")
        return Vocabulary((*self.entries, *map(tag_entry, tags)))

    def __len__(self) -> int:
        return len(self.entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.entries == other.entries

    __hash__ = None

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """Give each token's id; `UNK` for one that is not an entry, and for a text that looks like a special."""
        found = (self._ids.get(token, UNK) for token in tokens)
        return [i if i >= len(SPECIALS) else UNK for i in found]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Give the entry of each id."""
        return [self.entries[i] for i in ids]

    def save(self, path: str | Path) -> None:
        """Write one entry a line."""
        write_lines(path, list(self.entries))

    @classmethod
    def load(cls, path: str | Path) -> "Vocabulary":
        """Read one entry a line. Raises `UserError` where the specials are missing or an entry is there twice."""
        lines = read_lines(path)
        for i, special in enumerate(SPECIALS):
            if i >= len(lines) or lines[i] != special:
                raise LineError(path, i + 1, f"expected {special}: a vocabulary starts with {' '.join(SPECIALS)}.")
        try:
            return cls(lines)
        except ValueError as error:
            raise UserError(f"{path}: {error}; ids count from 0, the first line. Make the vocabulary again.") from error
