"""Sentence pairs of raw text as examples with targets, for measuring a model on given translations."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from typing import NamedTuple

import numpy as np

from nmtcore.corpus.text_lines import clean_lines
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import LineError
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.raw import MAX_SUBWORDS, TextReader
from nmtcore.segmentation.segmenter import Subwords
from nmtcore.segmentation.vocabulary import Vocabulary


class TextFile(NamedTuple):
    """Lines of text, and their name in messages."""

    lines: Iterable[str | bytes]
    name: str


def line_pairs(source: TextFile, target: TextFile) -> Iterator[tuple[str, str]]:
    """Yield the corresponding lines of two texts.

    Raises `LineError` if a text has more lines than the other, and the errors of `clean_lines`.
    """
    texts = (clean_lines(text.lines, where=text.name) for text in (source, target))
    for number, (source_line, target_line) in enumerate(zip_longest(*texts), start=1):
        if source_line is None or target_line is None:
            longer, shorter = (target, source) if source_line is None else (source, target)
            raise LineError(
                longer.name,
                number,
                f"{shorter.name} ends before this line: give one sentence per line, and as many lines in both files.",
            )
        yield source_line, target_line


def pair_characters(pair: tuple[str, str]) -> int:
    """Count the characters of both sides."""
    return len(pair[0]) + len(pair[1])


class TextPairs(NamedTuple):
    """Lines of text with their translations, as examples; a line whose source has no words has no example."""

    examples: Examples
    lines: list[int]
    """The line of each example, from 0 in these lines."""
    targets: list[Subwords]
    """The subwords of each line's translation."""


def read_text_pairs(
    bundle: Bundle,
    reader: TextReader,
    pairs: Sequence[tuple[str, str]],
    *,
    numbers: Sequence[int],
    names: tuple[str, str],
) -> TextPairs:
    """Cut pairs of lines into subwords and annotate the sources, as to translate them.

    `numbers` are the numbers of the lines (from 1) and `names` the files' names in messages. Raises `LineError` for a
    line with more than `MAX_SUBWORDS` subwords: a part of a translation has no counterpart in the source.
    """
    words = WordTokenizer(bundle.run.text_words("target"), bundle.run.target, bundle.target_truecaser)
    targets = [bundle.target_segmenter.segment(words.split(text)) for _, text in pairs]
    parts = reader.parts(reader.split(text) for text, _ in pairs)
    lines = [part.line for part in parts]
    _check_lengths(names[0], numbers, {line for line, after in pairwise(lines) if line == after})
    long_targets = {line for line, target in enumerate(targets) if len(target.pieces) > MAX_SUBWORDS}
    _check_lengths(names[1], numbers, long_targets)
    side = _target_side([targets[line] for line in lines], bundle.target_vocabulary)
    return TextPairs(replace(reader.examples_of(parts), target=side), lines, targets)


def _check_lengths(name: str, numbers: Sequence[int], long_lines: set[int]) -> None:
    """Raise `LineError` for the first of the lines (from 0) that are too long."""
    if long_lines:
        problem = f"the line has more than {MAX_SUBWORDS:,} subwords: shorten it, or split the sentence on both sides."
        raise LineError(name, numbers[min(long_lines)], problem)


def _target_side(targets: Sequence[Subwords], vocabulary: Vocabulary) -> SideExamples:
    return SideExamples(
        ids=Ragged.from_lists([vocabulary.ids(target.pieces) for target in targets], np.int32),
        word_of_subword=Ragged.from_lists([target.word_of_subword for target in targets], np.int32),
    )
