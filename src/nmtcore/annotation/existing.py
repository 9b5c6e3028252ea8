"""Trees that are part of the corpus (CzEng export, CoNLL-U, the demo corpus), or that come with a text."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nmtcore.annotation.base import AnnotationTask, Annotator, NumberedSentence
from nmtcore.config.annotators import AnnotatorSettings
from nmtcore.errors import UserError
from nmtcore.parquet import read_rows_from
from nmtcore.syntax.annotation import Annotation, failed

NO_TREE = "no tree came with the sentence"


class Existing(Annotator):
    """Reads the column `{side}_annotation` of the raw pairs; raw pairs and sentences are sorted by id."""

    def __init__(self, raw: Path, side: str) -> None:
        self._raw = raw
        self._column = f"{side}_annotation"

    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield the annotation of each sentence's pair. Raises UserError if the raw file lacks a pair."""
        rows: Iterator[dict] | None = None
        for sentence in sentences:
            if rows is None:
                # A shard starts reading at its first pair; the row is not the id if earlier lines were dropped.
                rows = read_rows_from(self._raw, sentence.id, columns=["id", self._column])
            row = next((row for row in rows if row["id"] >= sentence.id), None)
            if row is None or row["id"] != sentence.id:
                raise UserError(f"{self._raw} has no pair {sentence.id}, or not in order: make the corpus again.")
            values = row[self._column]
            yield failed(NO_TREE) if values is None else Annotation(**values)


class Given(Annotator):
    """Reads the trees that come with sentences; the id of a sentence is the index of its annotation."""

    def __init__(self, annotations: Sequence[Annotation]) -> None:
        self._annotations = annotations

    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield the annotation of each sentence."""
        return (self._annotations[sentence.id] for sentence in sentences)


def open_annotator(settings: AnnotatorSettings, task: AnnotationTask) -> Existing:
    """Make the annotator of the task's raw pairs. Raises UserError for text from outside a corpus: it has no trees."""
    if task.raw is None:
        raise UserError(
            f"The model needs syntax on the {task.side} side and was trained on trees from its corpus (the annotator "
            "'existing'), so it cannot translate or parse new text. Name a parser, such as {tool: spacy, model: ...}, "
            "under `annotators` and `syntax` in the data set's file, and train the model again. (nmtcore show reads "
            "trees and tags from a CoNLL-U file: --treebank.)"
        )
    return Existing(task.raw, task.side)
