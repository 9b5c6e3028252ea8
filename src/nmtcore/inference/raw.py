"""Examples made from raw text: words, subwords, and the syntactic features that translation needs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

import numpy as np

from nmtcore.annotation.base import AnnotationTask, Annotator, NumberedSentence, guarded, open_annotator
from nmtcore.annotation.existing import Given
from nmtcore.annotation.shards import annotation_batch
from nmtcore.config.annotators import ANNOTATORS, AnnotatorSettings, ExistingSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.runs import RunSettings
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples, SideExamples, group_by_annotator, ragged_column
from nmtcore.features.extract import token_batch
from nmtcore.features.ragged import Ragged
from nmtcore.features.schema import columns_of
from nmtcore.features.syntax import syntax_batch
from nmtcore.features.transforms.chain import Transforms
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary
from nmtcore.syntax.annotation import Annotation

T = TypeVar("T")

LINES_PER_CHUNK = 2000
"""Lines of raw text that are read, sorted and translated at once."""

MAX_SUBWORDS = 1000
"""Subwords per example; longer lines are cut into parts."""

MAX_CHARACTERS = 1 << 20
"""Characters of a group of lines after which no more lines are added, so that very long lines take little memory."""


def grouped(items: Iterator[T], size: int) -> Iterator[list[T]]:
    """Group a stream into lists of `size` items; the last may be shorter."""
    while group := list(islice(items, size)):
        yield group


def grouped_texts(items: Iterable[T], size: int, *, characters: Callable[[T], int]) -> Iterator[tuple[int, list[T]]]:
    """Group a stream of texts into lists of `size` items, and of fewer if these have over `MAX_CHARACTERS`.

    Yields the number of each list's first item, from 0, and the list.
    """
    first, group, length = 0, [], 0
    for item in items:
        group.append(item)
        length += characters(item)
        if len(group) == size or length > MAX_CHARACTERS:
            yield first, group
            first, group, length = first + len(group), [], 0
    if group:
        yield first, group


class TextPart(NamedTuple):
    """A line, or a part of a very long line."""

    line: int
    first: int
    """The line's word (from 0) with which the part begins. A word too long for one part continues in the next."""
    words: list[str]
    ids: list[int]
    word_of_subword: list[int]


class TextReader:
    """Makes examples from lines of text; a context manager, which starts and stops the annotators.

    `from_treebank`: the lines come from a treebank, and their trees are given to `annotate`.
    """

    def __init__(
        self,
        run: RunSettings,
        vocabulary: Vocabulary,
        segmenter: Segmenter,
        transforms: Transforms,
        *,
        labels: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
        model_folders: Sequence[Path] = (),
        from_treebank: bool = False,
    ) -> None:
        self._tokenizer = WordTokenizer(run.text_words("source"), run.source)
        self._vocabulary, self._segmenter, self._transforms = vocabulary, segmenter, transforms
        self._labels = (labels or {}).get("source", {})
        self._annotator_features = [
            (name, ANNOTATORS.build(run.annotators[name], where=f"run.json: annotators.{name}"), features)
            for name, features in group_by_annotator(run.inference_features["source"]).items()
        ]
        self._task = AnnotationTask(side="source", language=run.source, model_folders=tuple(model_folders))
        self._from_treebank = from_treebank
        self._annotators: list[tuple[str, AnnotatorSettings, list[str], Annotator | None]] = []
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for name, settings, features in self._annotator_features:
            if self._from_treebank and isinstance(settings, ExistingSettings):
                _check_in_conllu(features)
                annotator = None
            else:
                annotator = self._stack.enter_context(open_annotator(settings, self._task))
            self._annotators.append((name, settings, features, annotator))
        return self

    def __exit__(self, *error: object) -> None:
        self._annotators.clear()
        self._stack.close()

    def examples(self, texts: Sequence[str]) -> tuple[Examples, list[int]]:
        """Make one example per line, several for a very long line, none for a line without words.

        Also returns the line (from 0) of each example.
        """
        parts = self.parts(map(self.split, texts))
        return self.examples_of(parts), [part.line for part in parts]

    def split(self, text: str) -> list[str]:
        """Split a line into words."""
        return self._tokenizer.split(text)

    def parts(self, lines: Iterable[Sequence[str]]) -> list[TextPart]:
        """Cut lines of words into subwords, and very long lines into parts; a line without words has no parts."""
        return [part for line, words in enumerate(lines) for part in self._parts(line, list(words))]

    @property
    def given_by(self) -> list[str]:
        """The names of the annotators whose annotations must be given to `annotate`."""
        return [name for name, _, _, annotator in self._annotators if annotator is None]

    def annotate(self, parts: Sequence[TextPart], given: Sequence[Annotation] = ()) -> dict[str, list[Annotation]]:
        """Annotate parts by each annotator whose features translation needs; by the annotator's name.

        `given` has the treebank's annotation of each part, which `existing` returns. One that does not fit the words of
        its part becomes null.
        """
        annotations: dict[str, list[Annotation]] = {}
        for name, settings, _, own in self._annotators:
            annotator = Given(given) if own is None else own
            sentences = (NumberedSentence(number, part.words) for number, part in enumerate(parts))
            checked = guarded(annotator, sentences, max_words=settings.max_words)
            annotations[name] = [annotation for _, annotation in checked]
        return annotations

    def examples_of(
        self, parts: Sequence[TextPart], annotations: Mapping[str, Sequence[Annotation]] | None = None
    ) -> Examples:
        """Make one example per part, with the run's transforms applied; `annotations` are made if they are None."""
        side = SideExamples(
            ids=Ragged.from_lists([part.ids for part in parts], np.int32),
            word_of_subword=Ragged.from_lists([part.word_of_subword for part in parts], np.int32),
            features=self._features(parts, self.annotate(parts) if annotations is None else annotations),
        )
        return self._transforms.for_translation(Examples(id=np.arange(len(parts)), source=side))

    def _parts(self, line: int, words: list[str]) -> Iterator[TextPart]:
        pieces, word_of_subword = self._segmenter.segment(words)
        ids = self._vocabulary.ids(pieces)
        for start, stop in part_ranges(word_of_subword, longest=MAX_SUBWORDS):
            first, last = word_of_subword[start], word_of_subword[stop - 1]
            words_from_0 = [word - first for word in word_of_subword[start:stop]]
            yield TextPart(line, first, words[first : last + 1], ids[start:stop], words_from_0)

    def _features(
        self, parts: Sequence[TextPart], annotations: Mapping[str, Sequence[Annotation]]
    ) -> dict[str, Ragged]:
        """Compute the features that translation needs from the annotations of parts."""
        columns: dict[str, Ragged] = {}
        if not parts:
            return columns
        tokens = token_batch((part.ids, part.word_of_subword) for part in parts)
        for name, _, features, _ in self._annotators:
            rows = annotation_batch(annotations[name])
            batch = syntax_batch(rows, tokens, self._labels, features=features, side="source", where="the text")
            columns |= {
                column: ragged_column(batch.column(column), dtype) for column, dtype in columns_of(features).items()
            }
        return columns


def _check_in_conllu(features: Iterable[str]) -> None:
    """Raise `UserError` if features are made from annotations that CoNLL-U has no columns for."""
    for feature in features:
        if (annotation := FEATURES[feature].annotation) not in ("dependencies", "tags"):
            raise UserError(
                f"The model reads {annotation} of the source side, which came with its corpus (the annotator "
                "'existing') and which a CoNLL-U file does not have: use a model of a system without it."
            )


def part_ranges(word_of_subword: Sequence[int], *, longest: int) -> Iterator[tuple[int, int]]:
    """Cut a sentence into ranges (start, stop) of at most `longest` subwords, between words if possible."""
    start, end = 0, len(word_of_subword)
    while start < end:
        stop = min(start + longest, end)
        while stop < end and stop > start and word_of_subword[stop] == word_of_subword[stop - 1]:
            stop -= 1
        stop = stop if stop > start else min(start + longest, end)
        yield start, stop
        start = stop
