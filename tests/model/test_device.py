"""Tests of devices on a machine without GPUs: a patched torch, and PyTorch's "meta" device."""

import platform
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace

import pytest
import torch

from nmtcore.config.components import COMPONENTS
from nmtcore.config.training import TrainingSettings
from nmtcore.errors import UserError
from nmtcore.gpus import JOBS_PER_GPU
from nmtcore.inference.search import best_extensions, exclude_tokens, log_probabilities
from nmtcore.model.batch import make_batch
from nmtcore.model.device import check_gpu_count, choose_device, explain_out_of_memory, named_device
from nmtcore.training import update


@pytest.fixture
def gpus(monkeypatch):
    """gpus(count): pretend that so many GPUs are visible."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def visible(count):
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)

    return visible


def test_auto_is_a_gpu_if_one_is_visible(gpus):
    gpus(1)
    assert (choose_device("auto"), choose_device("cpu"), str(named_device("cuda:0"))) == ("cuda", "cpu", "cuda:0")
    gpus(0)
    assert choose_device("auto") == "cpu"


PAGE_FAULTS = """\
import ctypes, resource, torch
from nmtcore.memory import keep_freed_memory

ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # pages of the usual size, also where the system prefers huge ones
for prepare in (lambda: None, keep_freed_memory):
    prepare()
    for _ in range(20):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        torch.ones(1 << 24)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries are not prepared")
def test_memory_of_freed_tensors_is_used_again_on_a_cpu():
    process = subprocess.run([sys.executable, "-c", PAGE_FAULTS], capture_output=True, text=True, check=True)
    given_back, kept = map(int, process.stdout.split())
    assert kept < 100 < given_back  # the tensor has 16,384 pages


@pytest.mark.parametrize(
    ("name", "visible", "limit", "message"),
    [
        ("cuda", 0, None, "'cuda' cannot be used (no GPUs are visible here); try cpu."),
        ("cuda:1", 1, "3", "'cuda:1' cannot be used (1 GPU is visible here with CUDA_VISIBLE_DEVICES=3); try cpu."),
        ("abacus", 2, None, "'abacus' cannot be used ("),
    ],
)
def test_a_missing_device_is_a_user_error(gpus, monkeypatch, name, visible, limit, message):
    gpus(visible)
    if limit is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", limit)
    with pytest.raises(UserError) as caught:
        choose_device(name)
    assert str(caught.value).startswith(f"The device {message}")


def test_more_processes_than_gpus_are_a_user_error(gpus, monkeypatch):
    gpus(2)
    check_gpu_count(2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    with pytest.raises(UserError) as caught:
        check_gpu_count(4)
    assert str(caught.value) == (
        "gpus: 4 requests one GPU for each of 4 processes, but 2 GPUs are visible here with CUDA_VISIBLE_DEVICES=0,1. "
        "Lower gpus in config.yaml, or give the job more GPUs."
    )


@pytest.mark.parametrize(
    ("raised", "jobs", "sentence"),
    [
        (
            "Tried to allocate 20 GiB. GPU 0 has 79 GiB of which 1 GiB is free. Process 22 has 77 GiB in use.", 1,
            "The GPU's memory is full (Tried to allocate 20 GiB. GPU 0 has 79 GiB of which 1 GiB is free). Buy more.",
        ),
        (
            "nothing left", 8, "The GPU's memory is full (nothing left). Buy more. Or lower machine.jobs_per_gpu: 8 "
            "jobs may share a GPU now.",
        ),
    ],
)  # fmt: skip
def test_a_full_gpu_is_a_user_error_with_advice(monkeypatch, raised, jobs, sentence):
    monkeypatch.setenv(JOBS_PER_GPU, str(jobs))
    with pytest.raises(UserError) as caught, explain_out_of_memory("Buy more."):
        raise torch.OutOfMemoryError(raised)
    assert str(caught.value) == sentence


def test_a_full_memory_is_a_user_error_but_a_fault_is_not():
    full = pytest.raises(UserError, match=r"^The memory is full \(.*DefaultCPUAllocator: .*\)\. Buy more\.$")
    with full, explain_out_of_memory("Buy another.", on_cpu="Buy more."):
        torch.empty(2**62, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="a fault of ours"), explain_out_of_memory("Buy another."):
        raise RuntimeError("a fault of ours")


# The recurrent base needs lengths on the host; marginals of trees are checked there.
NAMES = [name for name, settings in COMPONENTS.items() if "transformer" in settings.bases and name != "tree_head"]
META = torch.device("meta")


@pytest.mark.parametrize("name", [None, *sorted(NAMES)])
def test_nothing_is_mixed_with_the_cpu_or_read(name, make, example, draw, monkeypatch):
    """The device "meta" has shapes but no values: to mix it with the CPU, or to read a value, is an error."""
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())  # torch has none for this device
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device_type: False)
    components = [example(name)] if name else []
    if name == "pascal":
        components = [replace(components[0], ignoring=0.5)]
    model, settings = make(*components).train().to(META), TrainingSettings(max_updates=2)
    batches = [make_batch(draw(6, seed=3), rows, model.components, META) for rows in ([0, 1, 2], [3, 4, 5])]
    counts = update.count_terms(batches, update.term_names(model.components))
    sums = update.accumulate_gradients(model, batches, counts, settings, META)
    assert {total.device for total in sums.values()} == {META}
    assert torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).device == META
    with torch.inference_mode():
        state = model.eval().start(model.encode(batches[0]))
        next_ZV = log_probabilities(model.step(torch.zeros(3, dtype=torch.int64, device=META), state))
        next_BMV = exclude_tokens(next_ZV, end=False)[:, None]
        _, beam_BC, _ = best_extensions(torch.zeros(3, 1, device=META), next_BMV, count=4)
        state.select(beam_BC)
        state.select(beam_BC[:2], torch.zeros(2, dtype=torch.int64, device=META))
        assert model.step(torch.zeros(8, dtype=torch.int64, device=META), state).device == META
