"""Adam and gradient clipping give the same results as torch's."""

import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nmtcore.config.training import TrainingSettings
from nmtcore.training.optimiser import Adam, clip_gradient


def layer(dtype=torch.float32):
    torch.manual_seed(0)
    return torch.nn.Linear(5, 7).to(dtype)


def backward(model, seed):
    generator = torch.Generator().manual_seed(seed)
    model(torch.randn(3, 5, generator=generator).to(model.weight)).square().sum().backward()


@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_steps_equal_those_of_torchs_fused_adam(decay, dtype):
    settings = TrainingSettings(max_updates=1, betas=(0.8, 0.95), epsilon=1e-6, weight_decay=decay)
    ours, theirs = layer(dtype), layer(dtype)
    adam = Adam(dict(ours.named_parameters()), settings)
    optimiser_class = torch.optim.AdamW if decay else torch.optim.Adam
    reference = optimiser_class(theirs.parameters(), betas=(0.8, 0.95), eps=1e-6, weight_decay=decay, fused=True)
    for update in range(1, 6):
        backward(ours, update)
        backward(theirs, update)
        reference.param_groups[0]["lr"] = 0.01 * update
        adam.step(rate=0.01 * update)
        reference.step()
        reference.zero_grad()
        assert torch.equal(ours.weight, theirs.weight)
        assert torch.equal(ours.bias, theirs.bias)
        assert ours.weight.grad is None


def test_a_restored_optimiser_continues_alike():
    settings = TrainingSettings(max_updates=1)
    model = layer()
    adam = Adam(dict(model.named_parameters()), settings)
    backward(model, 1)
    adam.step(rate=0.1)
    copied = copy.deepcopy(model)
    restored = Adam(dict(copied.named_parameters()), settings)
    restored.restore({name: tensor.clone() for name, tensor in adam.tensors().items()})
    for its_model, optimiser in ((model, adam), (copied, restored)):
        backward(its_model, 2)
        optimiser.step(rate=0.1)
    assert torch.equal(model.weight, copied.weight)
    assert set(adam.tensors()) == {"steps", *(f"{n}/{k}" for n in ("weight", "bias") for k in ("mean", "square"))}


def test_only_gradients_over_the_maximum_norm_are_scaled_down():
    model = layer()
    backward(model, 1)
    gradients = [p.grad.clone() for p in model.parameters()]
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    for max_norm, scale in ((None, 1.0), (2 * float(norm), 1.0), (0.5 * float(norm), 0.5)):
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            parameter.grad = gradient.clone()
        torch.testing.assert_close(clip_gradient(list(model.parameters()), max_norm), norm, rtol=1e-5, atol=0)
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            torch.testing.assert_close(parameter.grad, gradient * scale, rtol=1e-5, atol=0)


def test_training_does_not_load_torchs_compiler():
    # Loading it takes a second or more.
    paths = [str(Path(__file__).parent.parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "OMP_NUM_THREADS": "1"}
    program = """
import sys, tempfile, torch
from pathlib import Path
from training import tiny
from nmtcore.training.train import train
run = tiny.settings(max_updates=1)
data = tiny.examples(20), tiny.examples(5)
with tempfile.TemporaryDirectory() as folder:
    folders = {"log_folder": Path(folder), "checkpoint_folder": Path(folder) / "checkpoints"}
    train(run, tiny.model_of(run), *data, **folders)
sys.exit("torch._dynamo" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], env=environment).returncode == 0
