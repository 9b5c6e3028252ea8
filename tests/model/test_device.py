"""Tests of devices on a machine without GPUs, with a patched torch."""

import platform
import subprocess
import sys

import pytest
import torch

from nmtcore.errors import UserError
from nmtcore.model.device import check_gpu_count, choose_device, explain_out_of_memory, named_device

FULL = (
    "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.64 GiB is "
    "free. Process 2245 has 77.00 GiB memory in use. Of the allocated memory 70.00 GiB is allocated by PyTorch."
)


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
    assert (choose_device("auto"), choose_device("cpu")) == ("cuda", "cpu")
    gpus(0)
    assert (choose_device("auto"), choose_device("cuda")) == ("cpu", "cuda")


@pytest.mark.parametrize("name", ["cpu", "cuda", "cuda:1", torch.device("cuda", 1)])
def test_a_device_is_found_by_its_name(gpus, name):
    gpus(2)
    assert named_device(name) == torch.device(name)


PAGE_FAULTS = """\
import ctypes, resource, sys, torch
from nmtcore.memory import keep_freed_memory

ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # pages of the usual size, also where the system prefers huge ones

if sys.argv[1] == "kept":
    keep_freed_memory()
for _ in range(20):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(1 << 24)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries are not prepared")
@pytest.mark.parametrize("state", ["kept", "given back"])
def test_memory_of_freed_tensors_is_used_again_on_a_cpu(state):
    command = [sys.executable, "-c", PAGE_FAULTS, state]
    faults = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert (faults < 100) == (state == "kept")  # the tensor has 16,384 pages


@pytest.mark.parametrize(
    ("name", "visible", "limit", "message"),
    [
        ("cuda", 0, None, "'cuda' cannot be used (no GPUs are visible here); try cpu."),
        ("cuda:1", 1, "3", "'cuda:1' cannot be used (1 GPU is visible here with CUDA_VISIBLE_DEVICES=3); try cpu."),
        ("cuda:2", 2, None, "'cuda:2' cannot be used (2 GPUs are visible here); try cpu."),
        ("abacus", 2, None, "'abacus' cannot be used ("),
    ],
)
def test_a_missing_device_is_a_user_error(gpus, monkeypatch, name, visible, limit, message):
    gpus(visible)
    if limit is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", limit)
    with pytest.raises(UserError) as caught:
        named_device(name)
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


def test_a_full_gpu_is_a_user_error_with_advice():
    with pytest.raises(UserError) as caught, explain_out_of_memory("Buy another."):
        raise torch.OutOfMemoryError(FULL)
    assert str(caught.value) == (
        "The GPU's memory is full (CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of "
        "79.15 GiB of which 1.64 GiB is free). Buy another."
    )
    with (
        pytest.raises(UserError, match=r"full \(nothing left\)\. Buy another\.$"),
        explain_out_of_memory("Buy another."),
    ):
        raise torch.OutOfMemoryError("nothing left")
    with (
        pytest.raises(UserError, match=r"^The memory is full \(.*DefaultCPUAllocator: .*\)\. Buy more\.$"),
        explain_out_of_memory("Buy another.", on_cpu="Buy more."),
    ):
        torch.empty(2**62, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="a fault of ours"), explain_out_of_memory("Buy another."):
        raise RuntimeError("a fault of ours")
