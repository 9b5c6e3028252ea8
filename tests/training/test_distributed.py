"""Several processes: how they notice that another has ended."""

import pytest
from torch import distributed
from training.processes import end_of

from nmtcore.errors import UserError
from nmtcore.training.world import Interrupted, OtherProcessEnded, join_world


@pytest.fixture
def destroyed(monkeypatch):
    """The second of two processes; a list of its calls to destroy the process group, which there is not."""
    calls = []
    monkeypatch.setattr(distributed, "init_process_group", lambda *arguments, **options: None)
    monkeypatch.setattr(distributed, "get_rank", lambda: 1)
    monkeypatch.setattr(distributed, "destroy_process_group", lambda: calls.append(True))
    for name, value in {"WORLD_SIZE": "2", "RANK": "1", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    return calls


@pytest.mark.parametrize(("error", "count"), [(Interrupted("stopped"), 1), (UserError("full"), 0)])
def test_a_process_that_fails_on_its_own_destroys_no_process_group(destroyed, error, count):
    with pytest.raises(type(error), match=str(error)), join_world("cpu"):
        raise error
    assert len(destroyed) == count


def test_an_exchange_with_an_ended_process_raises_an_error(destroyed, monkeypatch):
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
