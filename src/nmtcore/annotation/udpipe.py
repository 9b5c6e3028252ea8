"""Dependency trees, tags and lemmas from UDPipe 1 (Straka and Straková 2017), on tokenised text."""

from collections.abc import Iterator, Sequence

from nmtcore.annotation.base import Annotator, NumberedSentence, ParsingError, token_columns
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation

COLUMNS = {"lemma": "lemma", "upos": "upostag", "xpos": "xpostag", "feats": "feats", "deprel": "deprel"}
"""Column of the annotation → attribute of UDPipe's words."""


class UdPipe(Annotator):
    """A UDPipe model: its tagger and its parser, one sentence at a time, since UDPipe has no batches."""

    name = "UDPipe"

    def load(self) -> None:
        """Load the model file. Raises UserError if it is missing or no UDPipe model."""
        try:
            from ufal.udpipe import Model
        except ImportError as error:
            raise UserError("UDPipe needs the package ufal.udpipe: pip install ufal.udpipe.") from error
        path = self.find_model()
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
            parsed = list(tokens.words)[1:]  # without the artificial root
            self.check_words([token.form for token in parsed], sentence.words)
            yield Annotation(head=[token.head for token in parsed], **token_columns(parsed, COLUMNS))
