"""Annotation of sentences without files, through the guard."""

from collections.abc import Iterable, Iterator, Sequence

from nmtcore.annotation.base import AnnotationTask, NumberedSentence, guarded, open_annotator
from nmtcore.config.annotators import AnnotatorSettings
from nmtcore.syntax.annotation import Annotation


def annotate_words(
    settings: AnnotatorSettings, sentences: Iterable[Sequence[str]], task: AnnotationTask
) -> Iterator[Annotation]:
    """Annotate sentences from outside a corpus; yield one annotation per sentence, in order."""
    with open_annotator(settings, task) as annotator:
        numbered = (NumberedSentence(number, words) for number, words in enumerate(sentences))
        for _, annotation in guarded(annotator, numbered, max_words=settings.max_words):
            yield annotation
