"""The vocabulary of one side: entries and their ids."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nmtcore.config.corpora import SPECIALS
from nmtcore.errors import LineError, UserError
from nmtcore.files import read_lines, write_lines

PAD, UNK, BOS, EOS, ROOT_ID = range(5)

TAG_PREFIX = " "
"""The prefix of a tag's entry. Words, and so their pieces, contain no white space (the segmenter rejects it); so a tag
is never mistaken for a subword of text, whatever its name."""


def tag_entry(tag: str) -> str:
    """Return the entry of a tag that a transform adds among subwords, such as `<TR>`."""
    return TAG_PREFIX + tag


class Vocabulary:
    """Entries; the id of an entry is its index. The first five are `SPECIALS`.

    Raises `ValueError` for an entry that is empty or occurs twice.
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
        """Make a vocabulary of the special entries and `tokens`; tokens that look like special entries are dropped."""
        return cls((*SPECIALS, *(token for token in tokens if token not in SPECIALS)))

    def extended(self, tags: Iterable[str]) -> "Vocabulary":
        """Append the entries of `tags`; existing ids do not change.

        Raises `ValueError` for a tag that is empty or already in the vocabulary.
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
        """Return each token's id: `UNK` for a token without an entry, and for text that looks like a special entry."""
        ids = (self._ids.get(token, UNK) for token in tokens)
        return [i if i >= len(SPECIALS) else UNK for i in ids]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Return the entry of each id."""
        return [self.entries[i] for i in ids]

    def save(self, path: str | Path) -> None:
        """Write one entry per line."""
        write_lines(path, list(self.entries))

    @classmethod
    def load(cls, path: str | Path) -> "Vocabulary":
        """Read one entry per line. Raises `UserError` if special entries are missing or an entry occurs twice."""
        lines = read_lines(path)
        for i, special in enumerate(SPECIALS):
            if i >= len(lines) or lines[i] != special:
                raise LineError(path, i + 1, f"expected {special}: a vocabulary starts with {' '.join(SPECIALS)}.")
        try:
            return cls(lines)
        except ValueError as error:
            raise UserError(f"{path}: {error} (entry 0 is the first line): create the vocabulary again.") from error
