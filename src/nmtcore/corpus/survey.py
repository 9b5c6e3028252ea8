"""Look at the text of a data set before anything is made of it: lengths, odd pairs, overlap of splits, a sample.

Files are read as a stream by the readers of the corpus formats; memory does not grow with the training split.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from nmtcore.config.corpora import PartSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.formats import corpus_options
from nmtcore.corpus.formats.rows import BadRow, Input, Inputs, ReadingContext
from nmtcore.corpus.overlap import HeldOut
from nmtcore.corpus.pairs import SIDES
from nmtcore.corpus.read import part_rows
from nmtcore.corpus.record_batches import CorpusReader
from nmtcore.corpus.streams import open_stream
from nmtcore.corpus.writing_systems import count_unspaced, has_unspaced, unsegmented_length
from nmtcore.errors import UserError

LONG_WORDS, LONG_CHARACTERS = 250, 2_500
"""A longer side makes a pair very long."""
HIGH_RATIO = 9.0
"""Higher ratio of the lengths of both sides makes a pair unbalanced, as in the filter `ratio`."""
SAMPLE_PAIRS, SAMPLE_SEED = 1_000, 1
"""Pairs that are drawn from each split to identify their languages, and the seed of the draw."""
SAMPLE_CHARACTERS = 1_000
"""Characters that a sample keeps of a text."""
SHOWN_ROWS = 3
"""Odd pairs whose numbers a survey keeps; all are counted."""
LINE_FORMATS = ("plain", "tsv", "copied", "czeng", "conllu")
"""Formats in which the ends of lines matter."""
ODD = {
    "empty": "with an empty side",
    "identical": "with both sides identical",
    "long": f"with a side of over {LONG_WORDS} words or {LONG_CHARACTERS:,} characters",
    "unbalanced": f"with one side over {HIGH_RATIO:g} times as long as the other",
    "control": "with control characters or separators of lines inside a line",
    "replaced": "with U+FFFD, the trace of an earlier wrong conversion",
}
"""What is odd about a pair, by a short name."""
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass
class OddPairs:
    """The number of pairs with one oddity, and where the first ones are (corpus and row, from 1)."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, place: str) -> None:
        """Count a pair."""
        self.count += 1
        if len(self.first) < SHOWN_ROWS:
            self.first.append(place)


@dataclass
class SideSurvey:
    """One side of a split: its lengths in words (between white space) and in characters, each with its frequency."""

    side: str
    words: Counter[int] = field(default_factory=Counter)
    characters: Counter[int] = field(default_factory=Counter)
    unspaced: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Texts, words and characters in scripts without spaces, as `count_unspaced` counts them."""

    def add(self, text: str, words: Sequence[str]) -> None:
        """Count a text."""
        self.words[len(words)] += 1
        self.characters[len(text)] += 1
        count_unspaced(text, words, self.side, self.unspaced)

    @property
    def unit(self) -> str:
        """The unit of lengths: characters if most texts are in a script without spaces, else words."""
        return "characters" if 2 * self.unspaced["unspaced_lines", self.side] > self.words.total() else "words"

    @property
    def lengths(self) -> Counter[int]:
        """The frequencies of the lengths in `unit`."""
        return self.characters if self.unit == "characters" else self.words

    @property
    def unsegmented_length(self) -> float | None:
        """The characters per word if the text is in a script without spaces and looks unsegmented."""
        return unsegmented_length(self.unspaced, self.side, lines=self.words.total() - self.words[0])


@dataclass
class SplitSurvey:
    """What a split's text looks like."""

    split: str
    sides: dict[str, SideSurvey]
    """The sides that have text (treebanks may have only one; then no pair is odd)."""
    pairs: int = 0
    """Pairs that can be read."""
    odd: dict[str, OddPairs] = field(default_factory=lambda: {name: OddPairs() for name in ODD})
    bad: Counter[str] = field(default_factory=Counter)
    """Pairs that cannot be read, by reason."""
    first_bad: list[str] = field(default_factory=list)
    """The first of these, with file and line."""
    windows_lines: dict[str, int] = field(default_factory=dict)
    """Lines that end like those of Windows, by file; files without any are left out."""
    sample: list[tuple[str, str]] = field(default_factory=list)
    """Pairs drawn at random, cut to `SAMPLE_CHARACTERS`."""
    fault: str | None = None
    """The error that ended reading, if there was one."""
    is_cut: bool = False
    """Whether the survey ended after a given number of pairs, before the end of the files."""

    def add_bad(self, row: BadRow) -> None:
        """Count a pair that cannot be read."""
        self.bad[row.reason] += 1
        if len(self.first_bad) < SHOWN_ROWS:
            self.first_bad.append(f"{row.path}, line {row.line}: {row.fault}")


def survey_split(
    dataset: DatasetSettings, split: str, inputs: Mapping[str, Inputs], held_out: HeldOut, *, limit: int | None = None
) -> SplitSurvey:
    """Survey a split, whose corpora have the files `inputs`.

    Pairs of the training split are compared with `held_out`, to which those of other splits are added; so survey the
    training split last. A fault that ends reading, such as files of different lengths, is recorded. At most `limit`
    pairs are read (None: all).
    """
    surveyor = _Surveyor(dataset, split, held_out, limit)
    survey = surveyor.survey
    try:
        for part in dataset.splits[split]:
            surveyor.read_part(part, inputs[part.corpus])
            if not survey.is_cut and dataset.corpora[part.corpus].format in LINE_FORMATS:
                _count_windows_lines(survey, inputs[part.corpus])
    except UserError as error:
        survey.fault = str(error)
    if not survey.pairs and survey.fault is None:
        survey.fault = f"{split} has no pair that can be read." + (f" {survey.first_bad[0]}" if survey.bad else "")
    return survey


def percentile(lengths: Counter[int], share: float) -> int:
    """Return the smallest length that at least `share` of all texts do not exceed; 0 if there are none."""
    below = 0
    for length in sorted(lengths):
        below += lengths[length]
        if below >= share * lengths.total():
            return length
    return 0


class _Surveyor:
    """Reads the parts of a split."""

    def __init__(self, dataset: DatasetSettings, split: str, held_out: HeldOut, limit: int | None) -> None:
        self.survey = SplitSurvey(split, sides={side: SideSurvey(side) for side in dataset.sides(split)})
        self._dataset = dataset
        self._context = ReadingContext(dataset.source, dataset.target, treebank=split in dataset.treebanks)
        self._held_out = held_out
        self._limit = limit
        self._draw = Random(SAMPLE_SEED)

    def read_part(self, part: PartSettings, inputs: Inputs) -> None:
        """Survey rows of a corpus."""
        survey, corpus = self.survey, self._dataset.corpora[part.corpus]
        options = corpus_options(corpus.format, corpus.options, corpus.files, where=f"corpora.{part.corpus}")
        reader = CorpusReader(
            corpus=part.corpus, format=corpus.format, options=options, context=self._context, tokenizers={}
        )
        limit = self._dataset.max_line_bytes
        inputs = {role: [file._replace(max_line_bytes=limit) for file in files] for role, files in inputs.items()}
        rows = part_rows(reader, inputs, part, where=f"splits.{survey.split}")
        remaining = None if self._limit is None else self._limit - survey.pairs - survey.bad.total()
        for number, row in islice(rows, remaining):
            try:
                source, target = reader.module.parse(row, options, self._context)
            except BadRow as error:
                survey.add_bad(error)
            else:
                self._add_pair(f"{part.corpus}:{number}", (source.text, target.text))
        survey.is_cut = remaining is not None and next(rows, None) is not None

    def _add_pair(self, place: str, texts: tuple[str, str]) -> None:
        survey, words = self.survey, [text.split() for text in texts]
        for side, text, side_words in zip(SIDES, texts, words, strict=True):
            if side in survey.sides:
                survey.sides[side].add(text, side_words)
        for name in oddities(texts) if len(survey.sides) == len(SIDES) else ():
            survey.odd[name].add(place)
        if survey.split == "train":
            self._held_out.compare(words)
        elif survey.split in self._dataset.tests:
            self._held_out.add(survey.split, words)
        self._draw_pair(texts)
        survey.pairs += 1

    def _draw_pair(self, texts: tuple[str, str]) -> None:
        """Add a pair to the sample so that all samples of the pairs so far are equally likely (reservoir sampling)."""
        pairs = self.survey.pairs
        place = pairs if pairs < SAMPLE_PAIRS else self._draw.randrange(pairs + 1)
        if place < SAMPLE_PAIRS:
            cut = (texts[0][:SAMPLE_CHARACTERS], texts[1][:SAMPLE_CHARACTERS])
            self.survey.sample[place : place + 1] = [cut]


def oddities(texts: tuple[str, str]) -> list[str]:
    """Name what is odd about a pair (of `ODD`). Scripts without spaces are compared by characters, not words."""
    words = [text.split() for text in texts]
    counts = list(map(len, texts if any(map(has_unspaced, texts)) else words))
    checks = {
        "empty": not all(words),
        "identical": words[0] == words[1] != [],
        "long": max(map(len, words)) > LONG_WORDS or max(map(len, texts)) > LONG_CHARACTERS,
        "unbalanced": all(words) and max(counts) > HIGH_RATIO * min(counts),
        "control": any(not text.isprintable() and _CONTROL.search(text) for text in texts),
        "replaced": any("\ufffd" in text for text in texts),
    }
    return [name for name, holds in checks.items() if holds]


def _count_windows_lines(survey: SplitSurvey, inputs: Inputs) -> None:
    for file in (file for files in inputs.values() for file in files):
        if count := windows_lines(file):
            survey.windows_lines[str(file.path)] = count


def windows_lines(file: Input) -> int:
    """Count the lines of a file that end in a carriage return and a line feed."""
    count, last = 0, b""
    with open_stream(file.path, file.member) as stream:
        while block := stream.read(1 << 16):
            count += block.count(b"\r\n") + (last == b"\r" and block.startswith(b"\n"))
            last = block[-1:]
    return count
