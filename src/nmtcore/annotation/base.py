"""The protocol of parsers and taggers, and the guard that checks what they return.

To add a tool, write its settings and register them in `nmtcore.config.datasets`, and write a module
`nmtcore.annotation.{tool}` with a class that is named like the settings. The corpus fixes the words: a tool must not
split or join them. Some tools silently skip lines, split words or end a sentence early, so an annotator compares the
words in the tool's output with its input, and `refuses` sentences whose words the tool would change.
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

from nmtcore.annotation.models import find_model
from nmtcore.config.datasets import ANNOTATORS, AnnotatorSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, annotation_fault, failed

INVALID = "invalid analysis"
"""The reason of an analysis that fails the checks."""


class NumberedSentence(NamedTuple):
    """The words of one side of a sentence pair, with the pair's id in the corpus."""

    id: int
    words: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class AnnotationTask:
    """What an annotator needs to know in addition to its settings."""

    side: str
    """source or target."""
    language: str
    """Language code of the side."""
    raw: Path | None = None
    """`corpus/raw/{split}.parquet`, with the trees of the corpus; None for text from outside a corpus."""
    model_folders: tuple[Path, ...] = ()
    """Folders that are searched for models."""


class ParsingError(Exception):
    """Says why sentences could not be parsed: "type of failure: details". Reports count the part before the colon."""


class Annotator(ABC):
    """A parser or tagger; a context manager that loads its model on entry and frees it on exit."""

    name = ""
    """The tool's name in messages; by default that of the class."""
    splits: re.Pattern[str] | None = None
    """Characters at which the tool cuts words, whatever its options say; a sentence with one is refused."""
    _model: Any = None

    def __init__(self, settings: Any = None, task: AnnotationTask | None = None) -> None:
        self.settings, self.task = settings, task
        self.name = self.name or type(self).__name__

    def __enter__(self) -> Self:
        self.load()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def batch_size(self) -> int:
        """The number of sentences that `parse` gets at once: the setting `batch_size`, or 1."""
        return getattr(self.settings, "batch_size", 1)

    def load(self) -> None:
        """Load the model. Raises UserError if it is missing or broken."""
        return None

    def close(self) -> None:
        """Free the model."""
        self._model = None

    def refuses(self, words: Sequence[str]) -> str | None:
        """Return why the tool cannot analyse these words (at least one, none empty), or None if it can."""
        for word in words if self.splits else ():
            if match := self.splits.search(word):
                return f"a character at which {self.name} cuts words: U+{ord(match[0]):04X}"
        return None

    @abstractmethod
    def parse(self, sentences: Sequence[NumberedSentence]) -> Iterable[Annotation]:
        """Return one annotation per sentence, in order; `failed(reason)` for one that the tool cannot analyse.

        If it raises a ParsingError or another exception, or returns too few or too many annotations, the halves of the
        batch are parsed by themselves, down to the sentence at fault. A UserError or MemoryError ends the job.
        """

    def find_model(self) -> Path:
        """Find the model of the settings. Raises UserError if it is in none of the folders."""
        settings, description = self.settings, f"{self.name} model"
        return find_model(settings.model, self.task.model_folders, description=description, holds=settings.model_holds)

    def check_count(self, analyses: Sequence[Any], sentences: Sequence[Any]) -> None:
        """Raise ParsingError unless there are as many analyses as sentences."""
        if len(analyses) != len(sentences):
            raise ParsingError(f"{self.name} failed: {len(analyses)} analyses for {len(sentences)} sentences")

    def check_words(self, parsed: Sequence[str], words: Sequence[str]) -> None:
        """Raise ParsingError unless the words in the tool's output are those of its input."""
        if list(parsed) != list(words):
            shown = f"'{' '.join(parsed)[:100]}' for '{' '.join(words)[:100]}'"
            raise ParsingError(f"{self.name} gave other words: {shown}")


def open_annotator(settings: AnnotatorSettings, task: AnnotationTask) -> Annotator:
    """Make the annotator of `settings`; `with` loads its model."""
    return ANNOTATORS.configured(ANNOTATORS.name_of(settings))(settings, task)


@contextmanager
def environment(**defaults: str) -> Iterator[None]:
    """Set variables of the environment inside the block, while a tool is loaded, unless they are set already."""
    added = {name: value for name, value in defaults.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def token_columns(tokens: Sequence[Any], attributes: Mapping[str, str]) -> dict[str, list[str]]:
    """Read columns of an annotation from attributes of a parser's tokens; empty ones are "_", as in CoNLL-U."""
    return {
        column: [str(getattr(token, attribute) or "_") for token in tokens] for column, attribute in attributes.items()
    }


def guarded(
    annotator: Annotator, sentences: Iterable[NumberedSentence], *, max_words: int
) -> Iterator[tuple[NumberedSentence, Annotation]]:
    """Yield every sentence with its checked annotation; a failure or an unsound annotation becomes null with a reason.

    The tool does not see sentences that are empty, longer than `max_words` or refused by it.
    """
    sentences = iter(sentences)
    while batch := list(islice(sentences, annotator.batch_size)):
        refusals = [_refusal(annotator, sentence.words, max_words) for sentence in batch]
        accepted = [sentence for sentence, reason in zip(batch, refusals, strict=True) if reason is None]
        annotations = iter(_parse(annotator, accepted) if accepted else [])
        for sentence, reason in zip(batch, refusals, strict=True):
            annotation = next(annotations) if reason is None else failed(reason)
            fault = annotation_fault(annotation, len(sentence.words))
            yield sentence, annotation if fault is None else failed(f"{INVALID}: {fault}")


def _parse(annotator: Annotator, sentences: Sequence[NumberedSentence]) -> list[Annotation]:
    """Parse a batch; after a failure, parse each half by itself. A sentence that fails alone gets null."""
    try:
        annotations = list(annotator.parse(sentences))
        annotator.check_count(annotations, sentences)
        return annotations
    except (MemoryError, UserError):
        raise
    except ParsingError as error:
        reason = str(error)
    except Exception as error:
        reason = f"{annotator.name} failed: {type(error).__name__}: {first_line(error)}"
    if len(sentences) == 1:
        return [failed(reason)]
    half = len(sentences) // 2
    return [*_parse(annotator, sentences[:half]), *_parse(annotator, sentences[half:])]


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's message."""
    return (str(error).splitlines() or ["(no message)"])[0]


def _refusal(annotator: Annotator, words: Sequence[str], max_words: int) -> str | None:
    if len(words) == 0:
        return "the sentence has no words"
    if len(words) > max_words:
        return f"more than {max_words} words"
    if not all(words):
        return "a word is empty"
    return annotator.refuses(words)
