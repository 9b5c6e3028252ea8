"""Moses' truecasing: words at the start of a sentence get the case that they mostly have elsewhere.

As Moses' scripts do it (train-truecaser.perl, truecase.perl, detruecase.perl, with their defaults), on words without
escapes; sacremoses gives the same results (`MosesTruecaser.truecase(..., use_known=True)`: without it, sacremoses
changes words in the middle of a sentence too, which Moses does not where the training data know them). One
difference: words that hold `<`, `>` or `|` beside other characters are words like all others here, where the scripts
see markup and factors, because words are fixed before and their number never changes.
Small and capital letters are Unicode's for all languages, so Turkish dotless and dotted i do not find each other.
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
"""Words that leave it open whether a sentence has started."""

_COUNT = re.compile(r"\((\d+(?:\.\d+)?)(?:/\d+(?:\.\d+)?)?\)")


class Truecaser:
    """A truecasing model: the most frequent form of every word, by its small letters, and all forms that are known."""

    def __init__(self, best: dict[str, str], known: frozenset[str]) -> None:
        self._best, self._known = best, known

    @classmethod
    def load(cls, path: str | Path) -> "Truecaser":
        """Read a model in the format of Moses' truecaser. Raises `LineError` at a line of another kind."""
        best: dict[str, str] = {}
        known: set[str] = set()
        for number, line in enumerate(read_lines(path), start=1):
            forms = line.split(" ")
            if len(forms) % 2 or not all(forms[::2]) or not all(map(_COUNT.fullmatch, forms[1::2])):
                what = "this is no truecasing model of Moses, whose lines are like 'word (3/4) Word (1)'."
                raise LineError(path, number, what)
            best[forms[0].lower()] = forms[0]
            known.update(forms[::2])
        return cls(best, frozenset(known))

    def __call__(self, words: Sequence[str]) -> list[str]:
        """Truecase the words of one sentence (or of several that stand together)."""
        found, first = [], True
        for word in words:
            found.append(self.at_start(word) if first else self.inside(word))
            if not _is_open(word):
                first = word in ENDS
        return found

    def at_start(self, word: str) -> str:
        """Give the form of a word that starts a sentence."""
        return word if word.startswith("|") else self._best.get(word.lower(), word)

    def inside(self, word: str) -> str:
        """Give the form of another word: only one that is not known in its form is changed."""
        return word if word in self._known or word.startswith("|") else self._best.get(word.lower(), word)

    def column(self, words: pa.ListArray) -> pa.ListArray:
        """Truecase a column of sentences, as calling does with each."""
        column = _Column(words)
        starts = column.starts(column.where(_is_open), column.where(ENDS.__contains__))
        forms = pa.array([*map(self.inside, column.forms), *map(self.at_start, column.forms)], pa.string())
        codes = np.where(starts, column.codes + len(column.forms), column.codes)
        return pa.ListArray.from_arrays(pa.array(column.offsets), forms.take(pa.array(codes)))


def load_truecasers(paths: Mapping[str, Path]) -> dict[str, Truecaser]:
    """Read the models of some sides."""
    return {side: Truecaser.load(path) for side, path in paths.items()}


def truecased(pairs: pa.RecordBatch, truecasers: Mapping[str, Truecaser]) -> pa.RecordBatch:
    """Truecase the words of pairs on the sides that have a model."""
    for side, truecaser in truecasers.items():
        name = f"{side}_words"
        words = truecaser.column(pairs.column(name)).cast(pairs.schema.field(name).type)
        pairs = pairs.set_column(pairs.schema.get_field_index(name), pairs.schema.field(name), words)
    return pairs


def learn_truecaser(raw: Path, side: str, output: Path) -> None:
    """Learn the truecasing of one side of a corpus file (`{side}_words`) and write the model as Moses does.

    A form counts where it does not start a sentence. A line for each word: its forms by falling frequency, then first
    occurrence. Memory grows with the number of different words, not with the corpus.
    """
    counts: Counter[str] = Counter()
    for batch in read_batches(raw, columns=[f"{side}_words"]):
        for word, count in counted_forms(batch.column(0)):
            counts[word] += count
    if not counts:
        raise UserError(
            f"{raw} has no {side} word inside a sentence to learn truecasing from: write `truecase: false`."
        )
    write_lines(output, _model_lines(counts))


def counted_forms(words: pa.ListArray) -> Iterator[tuple[str, int]]:
    """Count the forms that do not start a sentence, in the order of their first such occurrence."""
    column = _Column(words)
    delays = column.where(DELAYS.__contains__)
    starts = column.starts_alternating(delays, column.where(ENDS.__contains__))
    codes = column.codes[~starts & ~delays & column.where(_is_cased)]
    found, first, counts = np.unique(codes, return_index=True, return_counts=True)
    for place in np.argsort(first):
        yield column.forms[found[place]], int(counts[place])


class _Column:
    """The words of many sentences as numbers of their different forms."""

    def __init__(self, words: pa.ListArray) -> None:
        encoded = words.flatten().dictionary_encode()
        self.forms: list[str] = encoded.dictionary.to_pylist()
        self.codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        lengths = words.value_lengths().to_numpy(zero_copy_only=False)
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        self._places = np.arange(len(self.codes))
        self._row_start = np.repeat(self.offsets[:-1], lengths)

    def where(self, holds: Callable[[str], bool]) -> np.ndarray:
        """Tell for each word whether something holds of its form."""
        return np.fromiter(map(holds, self.forms), bool, len(self.forms))[self.codes]

    def starts(self, open_: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Tell which words start a sentence: all before them, back to an end or to the row's beginning, is open."""
        last = self._last(~open_)
        return self._next(np.where(last < 0, True, ends[last]))

    def starts_alternating(self, open_: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Do it as Moses' training does: an end where a sentence starts is a word of that sentence.

        So of several ends in a row the first, third... make the next word start a sentence, and an end at the row's
        beginning does not.
        """
        last = self._last(~open_ & ~ends)
        ended = np.concatenate([[0], np.cumsum(ends)])
        since = ended[1:] - np.where(last < 0, ended[self._row_start], ended[last + 1])
        return self._next((since % 2 == 1) ^ (last < 0))

    def _last(self, which: np.ndarray) -> np.ndarray:
        """Give for each word the place of the last one of `which` in its row up to itself; -1 where there is none."""
        last = np.maximum.accumulate(np.where(which, self._places, -1))
        return np.where(last < self._row_start, -1, last)

    def _next(self, after: np.ndarray) -> np.ndarray:
        """Shift by a word: what holds after one holds for the next; it holds for the first of a row."""
        starts = np.ones(len(after), bool)
        starts[1:] = after[:-1]
        return starts | (self._places == self._row_start)


def detruecase(words: Sequence[str]) -> list[str]:
    """Give words that start a sentence a capital, as Moses' detruecase.perl does."""
    found, first = [], True
    for word in words:
        found.append(word[:1].upper() + word[1:] if first else word)
        if word not in DELAYS:
            first = word in ENDS
    return found


def _is_open(word: str) -> bool:
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
