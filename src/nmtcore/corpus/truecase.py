"""Moses' truecasing: give words at the start of a sentence the case that they usually have elsewhere.

This follows Moses' scripts (train-truecaser.perl, truecase.perl, detruecase.perl, with their defaults), for words
without escapes. sacremoses gives the same results with `MosesTruecaser.truecase(..., use_known=True)`; without
`use_known`, sacremoses changes words in the middle of a sentence that are in the training data, which Moses does not.
There is one difference: words that contain `<`, `>` or `|` next to other characters are treated like all other words.
The scripts take them for markup and factors, but here the number of words never changes. Lowercasing follows Unicode
for all languages, so Turkish dotless and dotted i are not matched.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from unicodedata import category

import numpy as np
import pyarrow as pa

from nmtcore.errors import LineError, UserError
from nmtcore.files import read_lines, write_lines
from nmtcore.parquet import read_batches

ENDS = frozenset(".:?!")
"""Words after which a sentence starts."""
DELAYS = frozenset(["(", "[", '"', "'", "&apos;", "&quot;", "&#91;", "&#93;"])
"""Words that do not change whether a sentence starts with the next word."""

_COUNT = re.compile(r"\((\d+(?:\.\d+)?)(?:/\d+(?:\.\d+)?)?\)")


class Truecaser:
    """A truecasing model: the most frequent form of each lowercased word, and the set of all known forms."""

    def __init__(self, best_forms: dict[str, str], known_forms: frozenset[str]) -> None:
        self._best_forms, self._known_forms = best_forms, known_forms

    @classmethod
    def load(cls, path: str | Path) -> "Truecaser":
        """Read a model in the format of Moses' truecaser. Raises `LineError` at a line in another format."""
        best_forms: dict[str, str] = {}
        known_forms: set[str] = set()
        for number, line in enumerate(read_lines(path), start=1):
            forms = line.split(" ")
            if len(forms) % 2 or not all(forms[::2]) or not all(map(_COUNT.fullmatch, forms[1::2])):
                fault = "this is not a truecasing model of Moses, whose lines look like 'word (3/4) Word (1)'."
                raise LineError(path, number, fault)
            best_forms[forms[0].lower()] = forms[0]
            known_forms.update(forms[::2])
        return cls(best_forms, frozenset(known_forms))

    def __call__(self, words: Sequence[str]) -> list[str]:
        """Truecase the words of one sentence (or of several consecutive sentences)."""
        truecased, at_start = [], True
        for word in words:
            truecased.append(self.initial_form(word) if at_start else self.inner_form(word))
            if not _is_transparent(word):
                at_start = word in ENDS
        return truecased

    def initial_form(self, word: str) -> str:
        """Return the truecased form of a word that starts a sentence."""
        return word if word.startswith("|") else self._best_forms.get(word.lower(), word)

    def inner_form(self, word: str) -> str:
        """Return the truecased form of a word inside a sentence, which changes only if its form is unknown."""
        return word if word in self._known_forms or word.startswith("|") else self._best_forms.get(word.lower(), word)

    def truecase_column(self, words: pa.ListArray) -> pa.ListArray:
        """Truecase a column with one sentence per row, as `__call__` does for each row."""
        column = _WordColumn(words)
        starts_W = column.starts(column.test(_is_transparent), column.test(ENDS.__contains__))
        forms = pa.array([*map(self.inner_form, column.forms), *map(self.initial_form, column.forms)], pa.string())
        codes_W = np.where(starts_W, column.codes_W + len(column.forms), column.codes_W)
        return pa.ListArray.from_arrays(pa.array(column.offsets), forms.take(pa.array(codes_W)))


def load_truecasers(paths: Mapping[str, Path]) -> dict[str, Truecaser]:
    """Read the truecasing model of each side in `paths`."""
    return {side: Truecaser.load(path) for side, path in paths.items()}


def truecase_pairs(pairs: pa.RecordBatch, truecasers: Mapping[str, Truecaser]) -> pa.RecordBatch:
    """Truecase the words of sentence pairs on the sides that have a model."""
    for side, truecaser in truecasers.items():
        name = f"{side}_words"
        words = truecaser.truecase_column(pairs.column(name)).cast(pairs.schema.field(name).type)
        pairs = pairs.set_column(pairs.schema.get_field_index(name), pairs.schema.field(name), words)
    return pairs


def learn_truecaser(raw: Path, side: str, output: Path) -> None:
    """Learn a truecasing model from one side of a corpus file (`{side}_words`) and write it in Moses' format.

    Only forms inside a sentence are counted. The model has one line per word: its forms in order of falling frequency,
    then of first occurrence. Memory grows with the number of distinct words, not with the corpus. Raises `UserError` if
    there is no such form.
    """
    counts: Counter[str] = Counter()
    for batch in read_batches(raw, columns=[f"{side}_words"]):
        for word, count in count_inner_forms(batch.column(0)):
            counts[word] += count
    if not counts:
        raise UserError(
            f"{raw} has no {side} word inside a sentence to learn truecasing from: write `truecase: false`."
        )
    write_lines(output, _model_lines(counts))


def count_inner_forms(words: pa.ListArray) -> Iterator[tuple[str, int]]:
    """Count the forms inside a sentence; yield (form, count) in the order of first occurrence."""
    column = _WordColumn(words)
    delays_W = column.test(DELAYS.__contains__)
    starts_W = column.training_starts(delays_W, column.test(ENDS.__contains__))
    inner_codes = column.codes_W[~starts_W & ~delays_W & column.test(_is_cased)]
    codes, first, counts = np.unique(inner_codes, return_index=True, return_counts=True)
    for index in np.argsort(first):
        yield column.forms[codes[index]], int(counts[index])


class _WordColumn:
    """All words of a column of sentences, each encoded as the number of its form."""

    def __init__(self, words: pa.ListArray) -> None:
        encoded = words.flatten().dictionary_encode()
        self.forms: list[str] = encoded.dictionary.to_pylist()
        self.codes_W = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        lengths = words.value_lengths().to_numpy(zero_copy_only=False)
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        self._positions_W = np.arange(len(self.codes_W))
        self._row_start_W = np.repeat(self.offsets[:-1], lengths)

    def test(self, predicate: Callable[[str], bool]) -> np.ndarray:
        """Return for each word whether a predicate holds of its form."""
        return np.fromiter(map(predicate, self.forms), bool, len(self.forms))[self.codes_W]

    def starts(self, transparent_W: np.ndarray, ends_W: np.ndarray) -> np.ndarray:
        """Return which words start a sentence: those separated from an end or the row's start by transparent words."""
        last_W = self._last(~transparent_W)
        return self._next(np.where(last_W < 0, True, ends_W[last_W]))

    def training_starts(self, transparent_W: np.ndarray, ends_W: np.ndarray) -> np.ndarray:
        """Return which words start a sentence in Moses' training, where an end that starts one counts as a word of it.

        Among consecutive ends, the first, third, ... make the next word start a sentence; an end at the beginning of a
        row does not.
        """
        last_W = self._last(~transparent_W & ~ends_W)
        end_counts = np.concatenate([[0], np.cumsum(ends_W)])
        before_W = np.where(last_W < 0, end_counts[self._row_start_W], end_counts[last_W + 1])
        return self._next(((end_counts[1:] - before_W) % 2 == 1) ^ (last_W < 0))

    def _last(self, mask_W: np.ndarray) -> np.ndarray:
        """Return for each word the last position in its row, up to itself, where the mask is true; -1 if none."""
        last_W = np.maximum.accumulate(np.where(mask_W, self._positions_W, -1))
        return np.where(last_W < self._row_start_W, -1, last_W)

    def _next(self, mask_W: np.ndarray) -> np.ndarray:
        """Shift a mask by one word; the result is true for the first word of each row."""
        next_W = np.ones(len(mask_W), bool)
        next_W[1:] = mask_W[:-1]
        return next_W | (self._positions_W == self._row_start_W)


def detruecase(words: Sequence[str]) -> list[str]:
    """Capitalise the words that start a sentence, as Moses' detruecase.perl does."""
    detruecased, at_start = [], True
    for word in words:
        detruecased.append(word[:1].upper() + word[1:] if at_start else word)
        if word not in DELAYS:
            at_start = word in ENDS
    return detruecased


def _is_transparent(word: str) -> bool:
    return word in DELAYS or word.startswith("|")


def _is_cased(word: str) -> bool:
    return any(category(character) in ("Ll", "Lu", "Lt") for character in word)


def _model_lines(counts: Counter[str]) -> list[str]:
    forms: dict[str, list[str]] = {}
    for word in counts:
        forms.setdefault(word.lower(), []).append(word)
    lines = []
    for group in forms.values():
        group.sort(key=lambda word: -counts[word])
        total = sum(counts[word] for word in group)
        first = f"{group[0]} ({counts[group[0]]}/{total})"
        lines.append(" ".join([first, *(f"{word} ({counts[word]})" for word in group[1:])]))
    return lines
