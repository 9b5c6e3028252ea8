"""Annotation of sentences without files, through the guard."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nmtcore.annotation.base import AnnotationTask, NumberedSentence, guarded, open_annotator
from nmtcore.config.datasets import AnnotatorSettings
from nmtcore.syntax.annotation import Annotation


def annotate_words(
    settings: AnnotatorSettings, sentences: Iterable[Sequence[str]], *models: Path, language: str = "en"
) -> list[Annotation]:
    """Annotate sentences from outside a corpus with models in some folders; return an annotation per sentence."""
    task = AnnotationTask(side="target", language=language, model_folders=models)
    with open_annotator(settings, task) as annotator:
        numbered = (NumberedSentence(number, words) for number, words in enumerate(sentences))
        return [annotation for _, annotation in guarded(annotator, numbered, max_words=settings.max_words)]
