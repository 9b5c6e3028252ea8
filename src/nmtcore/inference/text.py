"""Text as a model reads and writes it.

Examples are made of lines of raw text or of the sentences of a treebank: words, subwords, and the syntactic features
that translation needs.
"""

import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from nmtcore.annotation.base import AnnotationTask, Annotator, NumberedSentence, guarded, open_annotator
from nmtcore.annotation.existing import Given
from nmtcore.annotation.shards import annotation_batch
from nmtcore.config.datasets import ANNOTATORS, AnnotatorSettings, ExistingSettings
from nmtcore.config.features import feature_named
from nmtcore.config.runs import RunSettings
from nmtcore.corpus.formats.conllu import parse_sentence, sentences
from nmtcore.corpus.text_lines import BadRow, Input, clean_lines, decode
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import LineError, UserError
from nmtcore.features.examples import Examples, SideExamples, columns_of, group_by_annotator
from nmtcore.features.ragged import Ragged
from nmtcore.features.sources import MAX_SUBWORDS, Sources, select_sources
from nmtcore.features.syntax import AnnotatedWords, column_of
from nmtcore.features.transforms.chain import Transforms
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary
from nmtcore.syntax.annotation import Annotation

T = TypeVar("T")

LINES_PER_CHUNK = 2000
"""Sentences of a text that are read, sorted and translated at once."""


class InputSentence(NamedTuple):
    """A line of raw text, or a sentence of a treebank."""

    number: int
    """Of the line, or of the treebank's sentence, from 1."""
    where: str
    """Its place in messages."""
    text: str
    words: Sequence[str] | None = None
    """None: the text is to be split into words."""
    gold: Annotation | None = None
    """The annotation of a treebank."""
    block: str = ""
    """The lines of a treebank."""


def read_text(lines: Iterable[str | bytes], *, where: str = "standard input") -> Iterator[InputSentence]:
    """Read raw text, one sentence per line. Raises the errors of `clean_lines`."""
    for number, text in enumerate(clean_lines(lines, where=where), start=1):
        yield InputSentence(number, f"{where}, line {number}", text)


def read_treebank(path: Path) -> Iterator[InputSentence]:
    """Read the sentences of a CoNLL-U file: their syntactic words and trees.

    Raises `LineError` for a line that is not CoNLL-U or a sentence that is not a tree.
    """
    for number, piece in enumerate(sentences(Input(path, None)), start=1):
        try:
            side = parse_sentence(piece, surface=False)
        except BadRow as error:
            raise LineError(error.path, error.line, str(error)) from error
        yield InputSentence(number, f"{path}, line {piece.line}", side.text, side.words, side.annotation, decode(piece))


def grouped(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Group a stream into lists of `size` items; if it ends with a `UserError`, the items before it come first."""
    group: list[T] = []
    try:
        for item in items:
            group.append(item)
            if len(group) == size:
                yield group
                group = []
    except UserError:
        if group:
            yield group
        raise
    if group:
        yield group


class Chunk(NamedTuple):
    """Consecutive sentences, and the examples that a model reads."""

    sentences: Sequence[InputSentence]
    words: list[list[str]]
    annotations: dict[str, list[Annotation]]
    """The annotations of each sentence that the model reads, by annotator; null where the annotator failed."""
    sources: Sources
    """Their ids are the numbers of the sentences, from 0."""

    @property
    def examples(self) -> Examples:
        """The examples of `sources`."""
        return self.sources.examples


class TextOutput:
    """Turns ids into text, `detokenised` or as tokens joined by spaces."""

    def __init__(
        self,
        run: RunSettings,
        vocabulary: Vocabulary,
        segmenter: Segmenter,
        transforms: Transforms,
        *,
        detokenised: bool = True,
    ) -> None:
        self._target, self._transforms = (vocabulary, segmenter), transforms
        tokenizer = WordTokenizer(run.text_words("target"), run.target)
        self._join = tokenizer.join if detokenised else " ".join
        if run.segmentation.kind == "sentencepiece":  # whose words are what is between spaces
            self._join = " ".join if detokenised else lambda words: " ".join(tokenizer.split(" ".join(words)))

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of a hypothesis."""
        return self._join(self._transforms.words(tokens, *self._target))

    def texts(self, sources: Sources, outputs: Iterable[Sequence[int]]) -> list[str]:
        """Return the text of each sentence, given the best hypothesis of every example."""
        return sources.of_all(map(self.text, outputs), "")


class ScoredText(NamedTuple):
    """A translation of a line, with its score."""

    text: str
    score: float


class TextReader:
    """Makes examples of sentences for a model, given the vocabulary, segmenter and labels of the source.

    Annotators start with the first sentences, and stop with the reader. `from_treebank`: trees that came with the
    model's corpus come with the sentences, too (`InputSentence.gold`), so that no annotator is started for them.
    """

    def __init__(
        self,
        run: RunSettings,
        vocabulary: Vocabulary,
        segmenter: Segmenter,
        transforms: Transforms,
        *,
        labels: Mapping[str, Sequence[str]],
        model_folders: Sequence[Path],
        from_treebank: bool = False,
    ) -> None:
        self._vocabulary, self._segmenter, self._transforms, self._labels = vocabulary, segmenter, transforms, labels
        self._tokenizer = WordTokenizer(run.text_words("source"), run.source)
        self._annotators: dict[str, tuple[AnnotatorSettings, list[str]]] = {
            name: (ANNOTATORS.build(run.annotators[name], where=f"run.json: annotators.{name}"), features)
            for name, features in group_by_annotator(run.inference_features["source"]).items()
        }
        self._task = AnnotationTask(side="source", language=run.source, model_folders=tuple(model_folders))
        self._open: dict[str, Annotator] = {}
        self.given_by = [
            name
            for name, (settings, _) in self._annotators.items()
            if from_treebank and isinstance(settings, ExistingSettings)
        ]
        """The names of the annotators whose annotations come with the sentences."""
        for name in self.given_by:
            _check_in_conllu(self._annotators[name][1])

    def chunks(self, texts: Iterable[InputSentence], size: int = LINES_PER_CHUNK) -> Iterator[Chunk]:
        """Read sentences `size` at a time; see `grouped`."""
        return map(self.read, grouped(texts, size))

    def read(self, texts: Sequence[InputSentence]) -> Chunk:
        """Make examples of sentences, with the run's transforms applied.

        Standard error names the sentences that are left out since they are too long.
        """
        split, compose = self._tokenizer.split, self._tokenizer.compose
        words = [split(text.text) if text.words is None else list(map(compose, text.words)) for text in texts]
        annotations = {name: self._annotate(name, texts, words) for name in self._annotators}
        whole = (compose(text.text) for text in texts)
        segmented = list(map(self._segmenter.segment, words, whole))
        words_of_subwords = Ragged.from_lists([sentence.word_of_subword for sentence in segmented], np.int32)
        side = SideExamples(
            ids=Ragged.from_lists([self._vocabulary.ids(sentence.pieces) for sentence in segmented], np.int32),
            word_of_subword=words_of_subwords,
            features=self._features(words_of_subwords, annotations),
        )
        ids = np.array([text.number - 1 for text in texts], dtype=np.int64)
        sources = select_sources(Examples(id=ids, source=side), self._transforms)
        for row in sources.long:
            print(f"{texts[row].where}: left out, since it has more than {MAX_SUBWORDS:,} subwords.", file=sys.stderr)
        return Chunk(texts, words, annotations, sources)

    def _annotate(self, name: str, texts: Sequence[InputSentence], words: Sequence[Sequence[str]]) -> list[Annotation]:
        settings, _ = self._annotators[name]
        if name in self.given_by:
            annotator = Given([text.gold for text in texts])
        else:
            annotator = self._open.get(name) or self._start(name, settings)
        numbered = (NumberedSentence(number, sentence) for number, sentence in enumerate(words))
        return [annotation for _, annotation in guarded(annotator, numbered, max_words=settings.max_words)]

    def _start(self, name: str, settings: AnnotatorSettings) -> Annotator:
        annotator = open_annotator(settings, self._task).__enter__()
        weakref.finalize(self, annotator.__exit__, None, None, None)
        self._open[name] = annotator
        return annotator

    def _features(self, words_of_subwords: Ragged, annotations: dict[str, list[Annotation]]) -> dict[str, Ragged]:
        """Compute the features that translation needs from the annotations of sentences."""
        columns: dict[str, Ragged] = {}
        for name, (_, features) in self._annotators.items():
            words = AnnotatedWords(
                annotation=annotation_batch(annotations[name]),
                word_of_subword=words_of_subwords,
                labels=self._labels,
                side="source",
                where="the text",
            )
            for column, dtype in columns_of(features).items():
                columns[column] = Ragged.from_lengths(column_of(words, column).astype(dtype), words.words_B)
        return columns


def _check_in_conllu(features: Iterable[str]) -> None:
    """Raise `UserError` if features are made from annotations that CoNLL-U has no columns for."""
    for feature in features:
        if (annotation := feature_named(feature).annotation) not in ("dependencies", "tags"):
            raise UserError(
                f"The model reads {annotation} of the source side, which came with its corpus (the annotator "
                "'existing') and which a CoNLL-U file does not have: use a model of a system without it."
            )
