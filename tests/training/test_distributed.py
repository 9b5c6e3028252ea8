"""Distributed training: which process group exchanges what, and how processes notice that another has ended."""

import datetime

import pytest
import torch
from torch import distributed
from training.processes import end_of

from nmtcore.errors import UserError
from nmtcore.training.world import Interrupted, OtherProcessEnded, join_world


@pytest.fixture
def calls(monkeypatch):
    """The calls of torch.distributed by this process, the second of two on a machine with two GPUs."""
    recorded = []

    def record(name, result=None):
        def call(*arguments, **options):
            recorded.append((name, *(a for a in arguments if not isinstance(a, torch.Tensor)), options))
            return result

        return call

    for name in ("init_process_group", "all_reduce", "broadcast", "destroy_process_group"):
        monkeypatch.setattr(distributed, name, record(name))
    monkeypatch.setattr(distributed, "new_group", record("new_group", "tensor group"))
    monkeypatch.setattr(distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", record("set_device"))
    for name, value in {"WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "RANK": 1, "LOCAL_RANK": 1}.items():
        monkeypatch.setenv(name, str(value))
    return recorded


@pytest.mark.parametrize(("device", "backend"), [("cuda", "nccl"), ("cpu", "gloo")])
def test_numbers_go_over_gloo_with_a_long_timeout_and_tensors_over_the_devices_group(calls, device, backend):
    with join_world(device) as world:
        assert world.device == (torch.device("cuda", 1) if device == "cuda" else torch.device("cpu"))
        calls[:] = [line for line in calls if line[0] != "set_device"]
        assert calls == [
            ("init_process_group", "gloo", {"timeout": datetime.timedelta(hours=6)}),
            ("new_group", {"backend": backend, "timeout": datetime.timedelta(minutes=10)}),
        ]
        calls.clear()
        world.wait()
        world.any(True)
        world.sum([1.0, 2.0])
        assert calls == [("all_reduce", {})] * 3
        calls.clear()
        world.sum_gradients([torch.nn.Parameter(torch.ones(3))])
        world.broadcast_weights([torch.ones(3)])
        assert calls == [("all_reduce", {"group": "tensor group"}), ("broadcast", {"src": 0, "group": "tensor group"})]
        calls.clear()
    assert calls == [("destroy_process_group", {})]


@pytest.mark.parametrize(("error", "destroyed"), [(Interrupted("stopped"), True), (UserError("full"), False)])
def test_a_process_that_fails_on_its_own_destroys_no_process_group(calls, error, destroyed):
    with pytest.raises(type(error), match=str(error)), join_world("cpu"):
        raise error
    assert [line[0] for line in calls if line[0].startswith("destroy")] == ["destroy_process_group"] * destroyed


def test_fewer_gpus_than_processes_are_an_error(calls, monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    with (
        pytest.raises(UserError, match="gpus: 4 requests one GPU for each of 4 processes, but 2 GPUs are"),
        join_world("cuda"),
    ):
        pass
    assert calls == []


def test_an_exchange_with_an_ended_process_raises_an_error(calls, monkeypatch):
    def broken(*arguments, **options):
        raise RuntimeError("[/pair.cc:5] Connection closed by peer [127.0.0.1]:5. This is caused by...\nand a trace")

    monkeypatch.setattr(distributed, "all_reduce", broken)
    with pytest.raises(OtherProcessEnded) as caught, join_world("cpu") as world:
        world.wait()
    assert str(caught.value) == (
        "Another process of this training ended (Connection closed by peer [127.0.0.1]:5): its own message says why. "
        "Start the training again; it resumes from its last checkpoint."
    )


@pytest.mark.parametrize("failing", [0, 1])
def test_when_one_process_fails_the_other_ends_too(tmp_path, start_pair, failing):
    processes = start_pair(tmp_path, failing_rank=failing, settings={"max_updates": 30})
    ends = [end_of(process, tmp_path) for process in processes]
    assert [code for _, code in ends] == [1, 1]
    sentence = "The GPU's memory is full (CUDA out of memory. Tried to allocate 2.00 GiB). Lower training.batch."
    assert sentence in ends[failing][0]
    assert "OtherProcessEnded: Another process of this training ended (" in ends[1 - failing][0]
    assert not (tmp_path / "checkpoints" / "lock").exists()
