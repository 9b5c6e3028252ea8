"""Dependency trees, tags and lemmas by UDPipe 1 (Straka and Straková 2017), on words that are cut already."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from nmtcore.annotation.base import AnnotationTask, Annotator, NumberedSentence
from nmtcore.annotation.models import find_model
from nmtcore.config.annotators import UdPipeSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed


class UdPipe(Annotator):
    """A model file: its tagger and its parser, one sentence at a time (UDPipe knows no batches)."""

    def __init__(self, settings: UdPipeSettings, model_folders: Sequence[Path]) -> None:
        self._settings = settings
        self._model_folders = model_folders
        self._model: Any = None

    def __enter__(self) -> Self:
        self._model = load_model(self._settings.model, self._model_folders)
        return self

    def __exit__(self, *error: object) -> None:
        self._model = None

    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield one annotation a sentence; one on which UDPipe fails is null."""
        from ufal.udpipe import ProcessingError
        from ufal.udpipe import Sentence as UdPipeSentence

        model, error = self._model, ProcessingError()
        for sentence in sentences:
            tokens = UdPipeSentence()
            for word in sentence.words:
                tokens.addWord(word)
            done = model.tag(tokens, model.DEFAULT, error) and model.parse(tokens, model.DEFAULT, error)
            if done and not error.occurred():
                yield _annotation(tokens, sentence.words)
            else:
                yield failed(f"UDPipe failed: {error.message or 'no reason given'}")
                error = ProcessingError()


def open_annotator(settings: UdPipeSettings, task: AnnotationTask) -> UdPipe:
    """Make the annotator; its model is loaded when entered by `with`."""
    return UdPipe(settings, task.model_folders)


def load_model(model: str, model_folders: Sequence[Path]) -> Any:
    """Load a model file; one that is not there, or is no model, is a `UserError`."""
    try:
        from ufal.udpipe import Model
    except ImportError as error:
        raise UserError("UDPipe needs the package ufal.udpipe: pip install ufal.udpipe.") from error
    path = find_model(model, model_folders, what="UDPipe model")
    loaded = Model.load(str(path))
    if loaded is None:
        raise UserError(f"{path} is no model of UDPipe 1, or is cut off: fetch it again.")
    return loaded


def _annotation(tokens: Any, words: Sequence[str]) -> Annotation:
    found = list(tokens.words)[1:]  # the first is the root
    if [token.form for token in found] != list(words):
        return failed("UDPipe changed the words")
    return Annotation(
        lemma=[token.lemma or "_" for token in found],
        upos=[token.upostag or "_" for token in found],
        xpos=[token.xpostag or "_" for token in found],
        feats=[token.feats or "_" for token in found],
        head=[token.head for token in found],
        deprel=[token.deprel for token in found],
    )
