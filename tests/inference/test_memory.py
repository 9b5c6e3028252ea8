"""Errors for a full GPU memory in all commands (simulated, without a GPU)."""

import pytest
import torch
from called import call_nmtcore
from factories import run_settings
from inference.tiny import write_bundle

from nmtcore.config.components.settings import DepParseSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.inference.batches import ON_GPU
from nmtcore.model.transformer import Transformer

TEXT = "the cat\nthe dog\nthe\n"
FULL = "The GPU's memory is full (CUDA out of memory. Tried to allocate 2.00 GiB). "


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("memory") / "model", run_settings(DepParseSettings(layer=1)))


@pytest.fixture
def full(monkeypatch):
    """Simulate a memory with room for two sentences per batch."""
    encode = Transformer.encode

    def encoded(self, batch, **options):
        if len(batch.source_BS) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return encode(self, batch, **options)

    monkeypatch.setattr(Transformer, "encode", encoded)


@pytest.mark.parametrize("command", ["translate", "parse", "translate --attention maps.parquet"])
def test_commands_print_the_advice(full, folder, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    name, *options = command.split()
    assert call_nmtcore(name, folder, *options, text=TEXT) == (2, "", f"nmtcore {name}: {FULL}{ON_GPU}\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("in_bundle", [False, True])
def test_translation_and_parsing_fit_after_following_the_advice(full, tmp_path, in_bundle):
    """The option of the command limits the sentences of a batch, and so does the setting of the run, for both."""
    decoding = DecodingSettings(batch_sentences=2) if in_bundle else DecodingSettings()
    folder = write_bundle(tmp_path / "model", run_settings(DepParseSettings(layer=1), decoding=decoding))
    for command, lines in {"translate": 3, **({"parse": 14} if in_bundle else {})}.items():
        called = call_nmtcore(command, folder, *([] if in_bundle else ["--batch", 2]), text=TEXT)
        assert (called.code, called.output.count("\n")) == (0, lines), called.errors
