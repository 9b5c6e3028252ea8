"""Several processes: which group waits for what, and what the others do when one fails."""

import datetime

import pytest
import torch
from torch import distributed
from training.processes import end_of

from nmtcore.errors import UserError
from nmtcore.training.distributed import OtherProcessEnded, join_world
from nmtcore.training.signals import Interrupted


@pytest.fixture
def said(monkeypatch):
    """What this process, the second of two on a machine with two GPUs, says to torch."""
    lines = []

    def note(name, result=None):
        def noted(*arguments, **options):
            lines.append((name, *(a for a in arguments if not isinstance(a, torch.Tensor)), options))
            return result

        return noted

    for name in ("init_process_group", "all_reduce", "broadcast", "destroy_process_group"):
        monkeypatch.setattr(distributed, name, note(name))
    monkeypatch.setattr(distributed, "new_group", note("new_group", "the devices"))
    monkeypatch.setattr(distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", note("set_device"))
    for name, value in {"WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "RANK": 1, "LOCAL_RANK": 1}.items():
        monkeypatch.setenv(name, str(value))
    before = torch.backends.cuda.cudnn_sdp_enabled()
    yield lines
    torch.backends.cuda.enable_cudnn_sdp(before)


@pytest.mark.parametrize(("device", "backend"), [("cuda", "nccl"), ("cpu", "gloo")])
def test_long_waits_are_gloos_and_tensors_go_the_devices_way_within_minutes(said, device, backend):
    with join_world(device) as team:
        assert team.device == (torch.device("cuda", 1) if device == "cuda" else torch.device("cpu"))
        said[:] = [line for line in said if line[0] != "set_device"]
        assert said == [
            ("init_process_group", "gloo", {"timeout": datetime.timedelta(hours=6)}),
            ("new_group", {"backend": backend, "timeout": datetime.timedelta(minutes=10)}),
        ]
        said.clear()
        team.wait()
        team.any(True)
        team.total([1.0, 2.0])
        assert said == [("all_reduce", {})] * 3
        said.clear()
        team.share_gradients([torch.nn.Parameter(torch.ones(3))])
        team.share_weights([torch.ones(3)])
        assert said == [("all_reduce", {"group": "the devices"}), ("broadcast", {"src": 0, "group": "the devices"})]
        said.clear()
    assert said == [("destroy_process_group", {})]


@pytest.mark.parametrize(("error", "together"), [(Interrupted("stopped"), True), (UserError("full"), False)])
def test_a_process_that_fails_by_itself_leaves_the_groups_alone(said, error, together):
    with pytest.raises(type(error), match=str(error)), join_world("cpu"):
        raise error
    assert [line[0] for line in said if line[0].startswith("destroy")] == ["destroy_process_group"] * together


def test_a_process_without_a_gpu_says_so(said, monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    with (
        pytest.raises(UserError, match="gpus: 4 requests one GPU for each of 4 processes, but 2 GPUs are"),
        join_world("cuda"),
    ):
        pass
    assert said == []


def test_who_is_left_behind_says_so(said, monkeypatch):
    def broken(*arguments, **options):
        raise RuntimeError("[/pair.cc:5] Connection closed by peer [127.0.0.1]:5. This is caused by...\nand a trace")

    monkeypatch.setattr(distributed, "all_reduce", broken)
    with pytest.raises(OtherProcessEnded) as caught, join_world("cpu") as team:
        team.wait()
    assert str(caught.value) == (
        "Another process of this training ended (Connection closed by peer [127.0.0.1]:5): its own message says why. "
        "Start the training again and it goes on from its last checkpoint."
    )


@pytest.mark.parametrize("failing", [0, 1])
def test_when_one_process_fails_the_other_ends_too(tmp_path, together, failing):
    processes = together(tmp_path, fails=failing, settings={"max_updates": 30})
    ends = [end_of(process, tmp_path) for process in processes]
    assert [code for _, code in ends] == [1, 1]
    sentence = "The GPU's memory is full (CUDA out of memory. Tried to allocate 2.00 GiB). Lower training.batch."
    assert sentence in ends[failing][0]
    assert "OtherProcessEnded: Another process of this training ended (" in ends[1 - failing][0]
    assert not (tmp_path / "checkpoints" / "lock").exists()
