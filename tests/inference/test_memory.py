"""Errors for a full GPU memory in all commands (simulated, without a GPU)."""

import io
import sys

import pytest
import torch
from factories import run_settings
from inference.tiny import random_examples, random_model, write_bundle

from nmtcore.cli import main
from nmtcore.config.components.settings import DepParseSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.inference.bundle import load_bundle, to_device
from nmtcore.inference.parse import parse_examples, translate_and_parse
from nmtcore.inference.translate import translate_examples
from nmtcore.model.transformer import Transformer

FULL = "The GPU's memory is full (CUDA out of memory. Tried to allocate 2.00 GiB). "
FEWER = "Lower decoding.batch_sentences (nmtcore translate: --batch), or use the CPU (--device cpu)."
ON_CPU = "Use the CPU: --device cpu."


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


def translate_with_parses(*arguments):
    translations, parses = translate_and_parse(*arguments)
    assert len(parses) == len(translations)
    return translations


@pytest.mark.parametrize("work", [translate_examples, translate_with_parses])
def test_translation_fits_after_following_the_advice(full, work):
    model, examples = random_model(DepParseSettings(layer=0)), random_examples(6)
    with pytest.raises(UserError) as caught:
        work(model, examples, DecodingSettings(beam=2))
    assert str(caught.value) == FULL + FEWER
    assert len(work(model, examples, DecodingSettings(beam=2, batch_sentences=2))) == 6


def test_parsing_fits_after_following_the_advice(full):
    model, examples = random_model(DepParseSettings(layer=0)), random_examples(6)
    with pytest.raises(UserError) as caught:
        parse_examples(model, examples)
    assert str(caught.value) == FULL + FEWER
    assert len(parse_examples(model, examples, batch_sentences=2)) == 6


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["translate"], FEWER),
        (["parse"], FEWER),
        (["parse", "--attention", "0.0"], ON_CPU),
        (["attention", "-o", "maps.parquet"], ON_CPU),
    ],
    ids=" ".join,
)
def test_commands_print_the_advice(full, folder, tmp_path, monkeypatch, capsys, arguments, advice):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the cat\nthe dog\nthe\n")))
    command, *options = arguments
    with pytest.raises(SystemExit) as exit:
        main([command, str(folder), *options])
    assert exit.value.code == 2
    assert capsys.readouterr() == ("", f"nmtcore {command}: {FULL}{advice}\n")
    assert not list(tmp_path.iterdir())


def test_the_option_batch_limits_sentences_per_batch(full, folder, monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the cat\nthe dog\nthe\n")))
    main(["translate", str(folder), "--batch", "2"])
    assert capsysbinary.readouterr().out.count(b"\n") == 3


def test_parsing_uses_the_batch_size_of_the_bundle(full, tmp_path, monkeypatch, capsysbinary):
    run = run_settings(DepParseSettings(layer=1), decoding=DecodingSettings(batch_sentences=2))
    folder = write_bundle(tmp_path / "model", run)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the cat\nthe dog\nthe\n")))
    main(["parse", str(folder)])
    assert capsysbinary.readouterr().out.count(b"\n\n") == 3


def test_models_are_moved_to_the_prepared_device(folder, monkeypatch):
    prepared = []
    monkeypatch.setattr("nmtcore.inference.bundle.named_device", lambda name: prepared.append(name) or "meta")
    assert next(to_device(random_model(), "cuda:1").parameters()).device.type == "meta"
    load_bundle(folder, "cuda")
    assert prepared == ["cuda:1", "cuda"]
