"""The protocol of parsers and taggers, and the guard that checks what they return.

To add a tool (Stanza, CoreNLP, UDPipe, EasyCCG...), write its settings and register them in
`nmtcore.config.annotators`, and write a module `nmtcore.annotation.{tool}` with
`open_annotator(settings, task) -> Annotator`. `annotate` takes sentences and returns one analysis per sentence, in
order; a tool that works on files writes and reads them inside `annotate`. The corpus fixes the words: a tool must not
split or join them. Some tools silently skip lines, split words or end a sentence early, so an annotator compares the
words in the tool's output with its input. `refuses` rejects sentences whose words the tool would change; the guard
gives them a null annotation.
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


class Annotator(ABC):
    """A parser or tagger; a context manager that loads its model on entry and frees it on exit."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def refuses(self, words: Sequence[str]) -> str | None:
        """Return why the tool cannot analyse these words (at least one, none empty), or None if it can."""
        return None

    @abstractmethod
    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield one annotation per sentence, in order; reading ahead is allowed.

        A sentence that the tool cannot analyse gets `failed("type of failure: details")`. Reports count failures by the
        text before the colon.
        """


def open_annotator(settings: AnnotatorSettings, task: AnnotationTask) -> Annotator:
    """Make the annotator of `settings`; `with` loads its model."""
    return ANNOTATORS.member(ANNOTATORS.name_of(settings), "open_annotator")(settings, task)


def guarded(
    annotator: Annotator, sentences: Iterable[NumberedSentence], *, max_words: int
) -> Iterator[tuple[NumberedSentence, Annotation]]:
    """Yield every sentence with its checked annotation; an unsound annotation becomes null with a reason.

    The tool does not see sentences that are empty, longer than `max_words` or refused by it. Raises UserError if the
    tool yields too few or too many analyses, because then none of them can be trusted.
    """
    pending: deque[tuple[NumberedSentence, str | None]] = deque()

    def accepted_sentences() -> Iterator[NumberedSentence]:
        for sentence in sentences:
            reason = _refusal(annotator, sentence.words, max_words)
            pending.append((sentence, reason))
            if reason is None:
                yield sentence

    accepted = accepted_sentences()
    for annotation in annotator.annotate(accepted):
        while pending and pending[0][1] is not None:
            sentence, reason = pending.popleft()
            yield sentence, failed(reason)
        if not pending:
            raise UserError("The annotator returned more analyses than sentences: check the tool and its version.")
        sentence, _ = pending.popleft()
        yield sentence, _null_if_unsound(annotation, len(sentence.words))
    # Sentences that the tool has not read must all be refused ones.
    for _ in accepted:
        pass
    for sentence, reason in pending:
        if reason is None:
            raise UserError(
                f"The annotator returned too few analyses: none for pair {sentence.id}. Check the tool and its version."
            )
        yield sentence, failed(reason)


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


def _null_if_unsound(annotation: Annotation, words: int) -> Annotation:
    fault = annotation_fault(annotation, words)
    return annotation if fault is None else failed(f"{INVALID}: {fault}")
