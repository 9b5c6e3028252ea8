"""Dependency trees, tags and lemmas from UDPipe 1 (Straka and Straková 2017), on tokenised text."""

from collections.abc import Iterator, Sequence
from typing import Any

from nmtcore.annotation.base import Annotator, NumberedSentence, ParsingError
from nmtcore.annotation.models import find_model
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed


class UdPipe(Annotator):
    """A UDPipe model: its tagger and its parser, one sentence at a time, since UDPipe has no batches."""

    name = "UDPipe"

    def load(self) -> None:
        """Load the model file. Raises UserError if it is missing or no UDPipe model."""
        try:
            from ufal.udpipe import Model
        except ImportError as error:
            raise UserError("UDPipe needs the package ufal.udpipe: pip install ufal.udpipe.") from error
        path = find_model(self.settings.model, self.task.model_folders, description="UDPipe model")
        self._model = Model.load(str(path))
        if self._model is None:
            raise UserError(f"{path} is no model of UDPipe 1, or is incomplete: download it again.")

    def parse(self, sentences: Sequence[NumberedSentence]) -> Iterator[Annotation]:
        """Yield the annotations. Raises ParsingError if UDPipe fails."""
        from ufal.udpipe import ProcessingError
        from ufal.udpipe import Sentence as UdPipeSentence

        model, error = self._model, ProcessingError()
        for sentence in sentences:
            tokens = UdPipeSentence()
            for word in sentence.words:
                tokens.addWord(word)
            done = model.tag(tokens, model.DEFAULT, error) and model.parse(tokens, model.DEFAULT, error)
            if not done or error.occurred():
                raise ParsingError(f"UDPipe failed: {error.message or 'no reason given'}")
            yield _read_tokens(tokens, sentence.words)


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
