"""The protocol behind which every parser and tagger stands, and the guard around each of them.

To add a tool (Stanza, CoreNLP, UDPipe, EasyCCG...): its settings and a line in `nmtcore.config.annotators`, and a
module `nmtcore.annotation.{tool}` that offers `open_annotator(settings, task) -> Annotator`. A tool that reads and
writes files does so inside `annotate`: sentences in, one a line, and one analysis back for each, in order. Words are
fixed by the corpus: a tool never cuts or joins them, and one that gives its words back must compare them with those it
was given, since some tools skip lines, split words or end a sentence early without telling. What it would not leave
whole it `refuses`, and the guard writes a null annotation in its place.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from nmtcore.config.annotators import ANNOTATORS, AnnotatorSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, annotation_fault, failed

INVALID = "invalid analysis"
"""The kind of failure of an analysis that the checks refuse."""


class NumberedSentence(NamedTuple):
    """One side of a pair: its id in the corpus, and its words."""

    id: int
    words: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class AnnotationTask:
    """What an annotator may need to know beside its settings."""

    side: str
    """source or target."""
    language: str
    """Its language code."""
    raw: Path | None = None
    """`corpus/raw/{split}.parquet`, with the trees that came along; None for text from outside a corpus."""
    model_folders: tuple[Path, ...] = ()
    """Where a model that is given by name is looked for."""


class Annotator(ABC):
    """A parser or tagger, loaded by `with` and let go at its end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def refuses(self, words: Sequence[str]) -> str | None:
        """Say why the tool cannot be given these words (at least one, none empty); None if it can."""
        return None

    @abstractmethod
    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield one annotation a sentence, in order; it may read ahead.

        A sentence that the tool could not analyse is `failed("kind of failure: details")`; reports count by what stands
        before the colon.
        """


def open_annotator(settings: AnnotatorSettings, task: AnnotationTask) -> Annotator:
    """Find the annotator of `settings` by its registered name; it is loaded when entered by `with`."""
    return ANNOTATORS.module(ANNOTATORS.name_of(settings)).open_annotator(settings, task)


def guarded(
    annotator: Annotator, sentences: Iterable[NumberedSentence], *, max_words: int
) -> Iterator[tuple[NumberedSentence, Annotation]]:
    """Yield every sentence with one sound annotation, whatever the tool does; an unsound one is null with a reason.

    Sentences that are empty, longer than `max_words` or refused by the tool never reach it. A tool that yields too few
    or too many analyses is a `UserError`, since nothing it gave can be trusted then.
    """
    pending: deque[tuple[NumberedSentence, str | None]] = deque()

    def wanted() -> Iterator[NumberedSentence]:
        for sentence in sentences:
            reason = _refusal(annotator, sentence.words, max_words)
            pending.append((sentence, reason))
            if reason is None:
                yield sentence

    feed = wanted()
    for annotation in annotator.annotate(feed):
        while pending and pending[0][1] is not None:
            sentence, reason = pending.popleft()
            yield sentence, failed(reason)
        if not pending:
            raise UserError("The annotator gave more analyses than it was given sentences.")
        sentence, _ = pending.popleft()
        yield sentence, _sound(annotation, len(sentence.words))
    # What the tool left unread: only refused sentences may be among it.
    for _ in feed:
        pass
    for sentence, reason in pending:
        if reason is None:
            raise UserError(f"The annotator gave too few analyses: it ended before the sentence of pair {sentence.id}.")
        yield sentence, failed(reason)


def _refusal(annotator: Annotator, words: Sequence[str], max_words: int) -> str | None:
    if len(words) == 0:
        return "the sentence has no words"
    if len(words) > max_words:
        return f"more than {max_words} words"
    if not all(words):
        return "a word is empty"
    return annotator.refuses(words)


def _sound(annotation: Annotation, words: int) -> Annotation:
    fault = annotation_fault(annotation, words)
    return annotation if fault is None else failed(f"{INVALID}: {fault}")
