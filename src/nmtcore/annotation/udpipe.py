"""Dependency trees, tags and lemmas from UDPipe 1 (Straka and Straková 2017), on tokenised text."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from nmtcore.annotation.base import AnnotationTask, Annotator, NumberedSentence
from nmtcore.annotation.models import find_model
from nmtcore.config.annotators import UdPipeSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed


class UdPipe(Annotator):
    """A UDPipe model: its tagger and its parser, one sentence at a time, since UDPipe has no batches."""

    def __init__(self, settings: UdPipeSettings, model_folders: Sequence[Path]) -> None:
        self._settings = settings
        self._model_folders = model_folders
        self._model: Any = None

    def __enter__(self) -> Self:
        self._model = load_udpipe_model(self._settings.model, self._model_folders)
        return self

    def __exit__(self, *error: object) -> None:
        self._model = None

    def annotate(self, sentences: Iterable[NumberedSentence]) -> Iterator[Annotation]:
        """Yield one annotation per sentence; a sentence on which UDPipe fails is null."""
        from ufal.udpipe import ProcessingError
        from ufal.udpipe import Sentence as UdPipeSentence

        model, error = self._model, ProcessingError()
        for sentence in sentences:
            tokens = UdPipeSentence()
            for word in sentence.words:
                tokens.addWord(word)
            parsed = model.tag(tokens, model.DEFAULT, error) and model.parse(tokens, model.DEFAULT, error)
            if parsed and not error.occurred():
                yield _read_tokens(tokens, sentence.words)
            else:
                yield failed(f"UDPipe failed: {error.message or 'no reason given'}")
                error = ProcessingError()


def open_annotator(settings: UdPipeSettings, task: AnnotationTask) -> UdPipe:
    """Make the annotator; `with` loads its model."""
    return UdPipe(settings, task.model_folders)


def load_udpipe_model(model: str, model_folders: Sequence[Path]) -> Any:
    """Load a model file. Raises UserError if it is missing or no UDPipe model."""
    try:
        from ufal.udpipe import Model
    except ImportError as error:
        raise UserError("UDPipe needs the package ufal.udpipe: pip install ufal.udpipe.") from error
    path = find_model(model, model_folders, description="UDPipe model")
    loaded = Model.load(str(path))
    if loaded is None:
        raise UserError(f"{path} is no model of UDPipe 1, or is incomplete: download it again.")
    return loaded


def _read_tokens(tokens: Any, words: Sequence[str]) -> Annotation:
    parsed = list(tokens.words)[1:]  # without the artificial root
    if [token.form for token in parsed] != list(words):
        return failed("UDPipe changed the words")
    return Annotation(
        lemma=[token.lemma or "_" for token in parsed],
        upos=[token.upostag or "_" for token in parsed],
        xpos=[token.xpostag or "_" for token in parsed],
        feats=[token.feats or "_" for token in parsed],
        head=[token.head for token in parsed],
        deprel=[token.deprel for token in parsed],
    )
