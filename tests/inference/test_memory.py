"""Errors for a full GPU memory in all commands (simulated, without a GPU)."""

import io
import sys

import pytest
import torch
from factories import run_settings
from inference.tiny import write_bundle

from nmtcore.cli import main
from nmtcore.config.components.settings import DepParseSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.inference.batches import ON_GPU
from nmtcore.model.transformer import Transformer

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


@pytest.mark.parametrize(
    "arguments", [["translate"], ["parse"], ["translate", "--attention", "maps.parquet"]], ids=" ".join
)
def test_commands_print_the_advice(full, folder, tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the cat\nthe dog\nthe\n")))
    command, *options = arguments
    with pytest.raises(SystemExit) as exit:
        main([command, str(folder), *options])
    assert exit.value.code == 2
    assert capsys.readouterr() == ("", f"nmtcore {command}: {FULL}{ON_GPU}\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("in_bundle", [False, True])
def test_translation_and_parsing_fit_after_following_the_advice(full, tmp_path, monkeypatch, capsysbinary, in_bundle):
    """The option of the command limits the sentences of a batch, and so does the setting of the run, for both."""
    decoding = DecodingSettings(batch_sentences=2) if in_bundle else DecodingSettings()
    folder = write_bundle(tmp_path / "model", run_settings(DepParseSettings(layer=1), decoding=decoding))
    for command in (["translate", str(folder)], ["parse", str(folder)])[: 1 + in_bundle]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the cat\nthe dog\nthe\n")))
        main([*command, *([] if in_bundle else ["--batch", "2"])])
        assert capsysbinary.readouterr().out.count(b"\n") == (3 if "translate" in command else 14)
