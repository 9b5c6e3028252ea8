"""A loaded model that translates raw text."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nmtcore.config.runs import RunSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.corpus.text_lines import clean_lines
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.features.transforms.chain import Transforms
from nmtcore.inference.raw import LINES_PER_CHUNK, TextReader, grouped_texts
from nmtcore.inference.search import Hypothesis
from nmtcore.inference.translate import translate_examples
from nmtcore.model.base import TranslationModel
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary

T = TypeVar("T")


class ScoredText(NamedTuple):
    """A translation of a line, with its score."""

    text: str
    score: float


class TranslatedLines(NamedTuple):
    """Consecutive lines of a text, as examples with their translations.

    A line without words has no example; a very long line has one for each of its parts.
    """

    first: int
    """The number of the first line, from 0."""
    count: int
    """The number of lines."""
    examples: Examples
    line_of_example: list[int]
    """The line of each example, from 0 in these lines."""
    translations: list[list[Hypothesis]]
    """The best hypotheses of each example, best first."""

    def by_line(self, values: Sequence[T]) -> list[list[T]]:
        """Group values, one per example, by line."""
        grouped_values: list[list[T]] = [[] for _ in range(self.count)]
        for line, value in zip(self.line_of_example, values, strict=True):
            grouped_values[line].append(value)
        return grouped_values


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A loaded model in evaluation mode, with its settings, vocabularies, segmenters and labels."""

    run: RunSettings
    model: TranslationModel
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    source_segmenter: Segmenter
    target_segmenter: Segmenter
    labels: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @cached_property
    def transforms(self) -> Transforms:
        """The transforms of the run, applied to the model's examples and undone in its output."""
        return Transforms.of(self.run, self.vocabularies, self.labels)

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The vocabularies by side."""
        return {"source": self.source_vocabulary, "target": self.target_vocabulary}

    def search_settings(self, settings: DecodingSettings | None = None) -> DecodingSettings:
        """Return the settings with which to search for outputs; `settings` for text default to the run's."""
        return self.transforms.search_settings(settings or self.run.decoding)

    def decoding_settings(self, **changes: Any) -> DecodingSettings:
        """Return the run's decoding settings with `changes` applied; a value of None changes nothing."""
        try:
            return replace(self.run.decoding, **{name: value for name, value in changes.items() if value is not None})
        except ValueError as error:
            raise UserError(f"decoding: {error}.") from error

    def words(self, tokens: Sequence[int]) -> list[str]:
        """Join the subwords of a hypothesis into words."""
        return self.transforms.words(tokens, self.target_vocabulary, self.target_segmenter)

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of a hypothesis, detokenised according to the data set's settings of words."""
        return self._join(self.words(tokens))

    def _join(self, words: Sequence[str]) -> str:
        return WordTokenizer(self.run.text_words("target"), self.run.target).join(words)

    def reader(self, model_folders: Sequence[Path] = (), *, from_treebank: bool = False) -> TextReader:
        """Make a reader of raw text for this model; `model_folders` hold the annotators' models."""
        return TextReader(
            self.run,
            self.source_vocabulary,
            self.source_segmenter,
            self.transforms,
            labels=self.labels,
            model_folders=model_folders,
            from_treebank=from_treebank,
        )

    def translate(self, lines: Iterable[str | bytes], settings: DecodingSettings | None = None) -> Iterator[str]:
        """Translate raw text line by line, in order; see `translate_lines`."""
        return (translations[0].text for translations in self.translate_n_best(lines, settings, scores=False))

    def translate_n_best(
        self, lines: Iterable[str | bytes], settings: DecodingSettings | None = None, **options: Any
    ) -> Iterator[list[ScoredText]]:
        """Yield the best translations of each line, best first; `translate_lines` takes the same `options`."""
        for translated in self.translate_lines(lines, settings, **options):
            yield from self.texts(translated)

    def translate_lines(
        self,
        lines: Iterable[str | bytes],
        settings: DecodingSettings | None = None,
        *,
        n_best: int = 1,
        scores: bool = True,
        chunk: int = LINES_PER_CHUNK,
        where: str = "standard input",
        model_folders: Sequence[Path] = (),
    ) -> Iterator[TranslatedLines]:
        """Translate raw text, `chunk` lines at a time; see `search_batch` for `n_best` and `scores`.

        A line of more than `raw.MAX_SUBWORDS` subwords is translated in parts, and standard error says so. Raises
        `LineError` for a line that is not UTF-8 or contains a NUL, after the translations of all chunks before it, and
        `UserError` for a text in UTF-16 or UTF-32.
        """
        settings = self.search_settings(settings)
        with self.reader(model_folders) as reader:
            for first, texts in grouped_texts(clean_lines(lines, where=where), chunk, characters=len):
                examples, line_of_part = reader.examples(texts)
                for line, parts in Counter(line_of_part).items():
                    if parts > 1:
                        number = first + line + 1
                        print(f"{where}, line {number}: very long, translated in {parts} parts.", file=sys.stderr)
                translations = translate_examples(self.model, examples, settings, n_best=n_best, scores=scores)
                yield TranslatedLines(first, len(texts), examples, line_of_part, translations)

    def texts(self, translated: TranslatedLines) -> Iterator[list[ScoredText]]:
        """Yield the texts of the hypotheses of each line, best first; a line without words yields one empty text.

        The i-th best hypotheses of a line's parts are joined, for each i; the score is their sum.
        """
        for parts in translated.by_line(translated.translations):
            ranks = zip(*parts, strict=False) if parts else [()]
            yield [
                ScoredText(
                    text=self._join([word for hypothesis in ranked for word in self.words(hypothesis.tokens)]),
                    score=sum((hypothesis.score for hypothesis in ranked), 0.0),
                )
                for ranked in ranks
            ]
