"""The Stanza annotator, with a tiny pipeline trained for the tests."""

import pytest
import torch
from annotation.annotating import annotate_words

from nmtcore.config.datasets import StanzaSettings
from nmtcore.errors import UserError

MODEL = "stanza_en"


@pytest.fixture(scope="module", autouse=True)
def _stanza():
    """Import the package here: in the module, it would cost each of pytest's workers seconds."""
    pytest.importorskip("stanza")


def annotate(sentences, folder, **settings):
    return annotate_words(StanzaSettings(model=MODEL, **settings), sentences, folder)


@pytest.fixture
def copy_without(tmp_path, tiny_stanza):
    """Return a function that copies the model without some of its files."""

    def copy(*omitted):
        (tmp_path / MODEL).mkdir()
        for file in (tiny_stanza / MODEL).glob("*.pt"):
            if file.name not in omitted:
                (tmp_path / MODEL / file.name).symlink_to(file)
        return tmp_path

    copy.model = tiny_stanza / MODEL
    return copy


def test_an_unknown_language_without_a_lemmatiser_is_annotated(copy_without):
    words, folder = ["A", "man", "sleeps", "."], copy_without("lemma.pt")
    (annotation,) = annotate_words(StanzaSettings(model=MODEL), [words], folder, language="xx")
    assert annotation.lemma is None
    assert len(annotation.head) == len(annotation.upos) == 4


FAULTS = [
    ("depparse.pt", None, r"no Stanza model 'stanza_en' \(a folder that holds depparse.pt\): .* config/models"),
    ("pos.pt", None, "stanza_en has no pos.pt: add it"),
    ("pos.pt", b"no model", "stanza_en cannot be loaded: "),
    *(
        (file, {option: "elsewhere.pt"}, f"{file} was trained with {missing}.pt, which .*stanza_en lacks: add it")
        for file, option, missing in (
            ("constituency.pt", "charlm_forward_file", "forward_charlm"),
            ("pos.pt", "pretrain", "pretrain"),
            ("lemma.pt", "charlm", "forward_charlm"),
        )
    ),
]
"""A file of the model; None without it, its bytes, or other training options; the error."""


@pytest.mark.parametrize(("file", "change", "sentence"), FAULTS)
def test_a_broken_model_is_an_error_and_nothing_is_downloaded(copy_without, no_network, file, change, sentence):
    folder = copy_without(file, *(["pretrain.pt"] if isinstance(change, dict) else []))
    if isinstance(change, bytes):
        (folder / MODEL / file).write_bytes(change)
    elif change:
        (folder / MODEL / "constituency.pt").unlink(missing_ok=True)
        for name in {file, "constituency.pt"}:
            trained = torch.load(copy_without.model / name, weights_only=True)
            options = change if name == file else {}
            trained.get("params", trained)["config"].update({"wordvec_pretrain_file": "", **options})
            torch.save(trained, folder / MODEL / name)
    with pytest.raises(UserError, match=sentence):
        annotate([["a"]], folder, constituency=True)


@pytest.fixture
def no_network(monkeypatch):
    """Make every network access fail with an error that no code catches."""

    def fail(*_):
        raise KeyboardInterrupt("the network was used")

    monkeypatch.setattr("socket.getaddrinfo", fail)
    monkeypatch.setattr("socket.socket.connect", fail)
