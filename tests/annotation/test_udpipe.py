"""The UDPipe annotator."""

from types import SimpleNamespace

import pytest
from annotation.annotating import annotate_words

from nmtcore.annotation.base import AnnotationTask
from nmtcore.config.annotators import UdPipeSettings
from nmtcore.errors import UserError

MODEL = "de_ud.udpipe"


@pytest.fixture(scope="module")
def models(shared):
    return shared / "models"


def annotate(sentences, models, **settings):
    task = AnnotationTask(side="source", language="de", model_folders=(models,))
    return list(annotate_words(UdPipeSettings(model=MODEL, **settings), sentences, task))


class FailingModel:
    """A model that cannot parse sentences of two words, and changes those of four."""

    DEFAULT = ""

    def tag(self, tokens, options, error):
        return True

    def parse(self, tokens, options, error):
        words = list(tokens.words)
        if len(words) == 5:
            tokens.words[1].form = "other"
        for word in words[1:]:
            tokens.setHead(word.id, word.id - 1, "root" if word.id == 1 else "dep")
        return len(words) != 3


def test_a_failure_costs_one_sentence(models, monkeypatch):
    monkeypatch.setattr("ufal.udpipe.Model", SimpleNamespace(load=lambda path: FailingModel()))
    annotations = annotate([["a"] * length for length in (1, 2, 3, 4)], models)
    assert [annotation.head for annotation in annotations] == [[0], None, [0, 1, 2], None]
    assert annotations[1].reason == "UDPipe failed: no reason given"
    assert annotations[3].reason == "UDPipe gave other words: 'other a a a' for 'a a a a'"


def test_a_missing_or_broken_model_is_an_error(tmp_path):
    with pytest.raises(UserError, match=r"no UDPipe model 'de_ud.udpipe' .*`models` in config/config.yaml"):
        annotate([["a"]], tmp_path)
    (tmp_path / MODEL).write_bytes(b"no model")
    with pytest.raises(UserError, match="no model of UDPipe 1"):
        annotate([["a"]], tmp_path)
