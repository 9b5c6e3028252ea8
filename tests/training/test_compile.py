"""Compiled layers train the same model."""

import pytest
import torch
from training import tiny
from training.test_train import train_tiny

from nmtcore.errors import UserError
from nmtcore.training.checkpoints import named_weights


def train_both(folder, backend, monkeypatch, **settings):
    """Train in fp64 without and with compiled layers; return both models and the messages of the second training."""
    messages = []
    plain, compiled = tiny.settings(max_updates=4, **settings), tiny.settings(max_updates=4, compile=True, **settings)
    expected = train_tiny(folder / "plain", plain, model=tiny.model_of(plain).double())[1]
    monkeypatch.setattr(torch.nn.Module, "compile", torch.nn.Module.compile)  # undone after the test
    tiny.compile_with(backend)
    torch._dynamo.reset()
    model = tiny.model_of(compiled).double()
    return expected, train_tiny(folder / "compiled", compiled, model=model, log=messages.append)[1], messages


@pytest.mark.parametrize("parses", [False, True])
def test_compiled_layers_train_the_same_model(tmp_path, monkeypatch, parses):
    expected, compiled, messages = train_both(tmp_path, "eager", monkeypatch, parses=parses)
    assert messages[0] == "Compiling 2 layers, which takes up to a few minutes."
    for (name, weight), (_, other) in zip(named_weights(expected), named_weights(compiled), strict=True):
        torch.testing.assert_close(other, weight, rtol=1e-8, atol=1e-9, msg=name)


def test_an_error_of_the_compiler_is_explained(tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"^torch\.compile failed \(.*no compiler.*\): set machine\.compile to false"):
        train_both(tmp_path, tiny.lack_compiler, monkeypatch)


def test_a_recurrent_model_has_no_layers_to_compile(tmp_path, monkeypatch):
    _, _, messages = train_both(tmp_path, "eager", monkeypatch, recurrent=True)
    assert messages[0] == "machine.compile: only layers of transformers are compiled, and this model is recurrent."
