"""Trees that are part of the corpus (CzEng export, CoNLL-U), or that come with a text."""

from collections.abc import Iterator, Sequence

from nmtcore.annotation.base import Annotator, NumberedSentence
from nmtcore.errors import UserError
from nmtcore.parquet import read_rows_from
from nmtcore.syntax.annotation import Annotation, failed

NO_TREE = "no tree came with the sentence"


class Existing(Annotator):
    """Reads the column `{side}_annotation` of the raw pairs; raw pairs and sentences are sorted by id."""

    _rows: Iterator[dict] | None = None

    def load(self) -> None:
        """Raise UserError for text from outside a corpus: it has no trees."""
        if self.task.raw is None:
            raise UserError(
                f"The model reads syntax of the {self.task.side} side and was trained on trees from its corpus (the "
                "annotator 'existing'), which new text lacks. Name a parser that gives similar trees, and the folder "
                "with its model: --parser '{tool: spacy, model: NAME}' --models FOLDER, in Python parser={...} and "
                "models=[...]. (nmtcore show also reads trees and tags from a CoNLL-U file: --treebank.)"
            )

    def parse(self, sentences: Sequence[NumberedSentence]) -> Iterator[Annotation]:
        """Yield the annotation of each sentence's pair. Raises UserError if the raw file lacks a pair."""
        raw, column = self.task.raw, f"{self.task.side}_annotation"
        for sentence in sentences:
            if self._rows is None:
                # A shard starts reading at its first pair; the row is not the id if earlier lines were dropped.
                self._rows = read_rows_from(raw, sentence.id, columns=["id", column])
            row = next((row for row in self._rows if row["id"] >= sentence.id), None)
            if row is None or row["id"] != sentence.id:
                raise UserError(f"{raw} has no pair {sentence.id}, or not in order: make the corpus again.")
            yield failed(NO_TREE) if row[column] is None else Annotation(**row[column])


class Given(Annotator):
    """Reads the trees that come with sentences; the id of a sentence is the index of its annotation."""

    def __init__(self, annotations: Sequence[Annotation]) -> None:
        super().__init__()
        self._annotations = annotations

    def parse(self, sentences: Sequence[NumberedSentence]) -> list[Annotation]:
        """Return the annotation of each sentence."""
        return [self._annotations[sentence.id] for sentence in sentences]
