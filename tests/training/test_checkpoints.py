import json
import math
import re

import pytest
import torch
from training import tiny

from nmtcore.errors import UserError
from nmtcore.training.checkpoints import Checkpoints, named_weights
from nmtcore.training.optimiser import Adam
from nmtcore.training.state import TrainingState


@pytest.fixture
def trained():
    """A model after one step of Adam, its optimiser, and its run."""
    return model_and_optimiser(steps=1)


def model_and_optimiser(*, steps: int):
    run = tiny.settings()
    model = tiny.model_of(run)
    optimiser = Adam(dict(model.named_parameters()), run.training)
    for _ in range(steps):
        sum((p * p).sum() for p in model.parameters()).backward()
        optimiser.step(rate=0.01)
    return model, optimiser


def saved(folder, trained, *updates: int, said=None, **state) -> Checkpoints:
    store = Checkpoints(folder, log=[].append if said is None else said.append)
    for update in updates:
        store.save(TrainingState(update=update, **state), *trained)
    return store


def test_what_is_saved_is_loaded(tmp_path, trained):
    values = {"epoch": 3, "step": 7, "best_score": -math.pi, "scores": {"perplexity": math.inf}, "window": [3, 5]}
    store = saved(tmp_path, trained, 5, **values)
    model, optimiser = model_and_optimiser(steps=0)
    assert store.load(store.newest(), model, optimiser) == TrainingState(update=5, **values)
    for (name, a), (_, b) in zip(named_weights(trained[0]), named_weights(model), strict=True):
        assert torch.equal(a, b), name
    # The next step goes alike.
    for one, other in (trained, (model, optimiser)):
        sum((p * p).sum() for p in one.parameters()).backward()
        other.step(rate=0.01)
    assert all(
        torch.equal(a, b) for (_, a), (_, b) in zip(named_weights(trained[0]), named_weights(model), strict=True)
    )


def test_tied_weights_are_stored_once(trained):
    model = trained[0]
    assert model.source_embedding.weight is model.target_embedding.weight
    names = [name for name, _ in named_weights(model)]
    assert [name for name in names if "embedding" in name] == ["target_embedding.weight"]


def truncate(folder):
    path = folder / "00000009.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def flip_a_bit(folder):
    path = folder / "00000009.safetensors"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty_tensors(folder):
    (folder / "00000009.safetensors").write_bytes(b"")


def remove_tensors(folder):
    (folder / "00000009.safetensors").unlink()


def half_json(folder):
    path = folder / "00000009.json"
    path.write_text(path.read_text()[:40])


def strange_json(folder):
    (folder / "00000009.json").write_text("[]")


@pytest.mark.parametrize("damage", [truncate, flip_a_bit, empty_tensors, remove_tensors, half_json, strange_json])
def test_a_damaged_checkpoint_is_never_taken(tmp_path, trained, damage):
    said = []
    store = saved(tmp_path, trained, 4, 9, said=said)
    damage(tmp_path)
    assert store.newest() == 4
    assert len(said) == 1
    assert "00000009" in said[0]
    assert "Going back to the checkpoint before it." in said[0]
    assert store.newest() == 4
    assert len(said) == 1


def test_tensors_without_json_are_no_checkpoint(tmp_path, trained):
    store = saved(tmp_path, trained, 4, 9)
    (tmp_path / "00000009.json").unlink()
    (tmp_path / ".00000012.safetensors.77.partial").write_bytes(b"half")
    assert store.newest() == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00000004.json", "00000004.safetensors"]


def test_there_may_be_no_checkpoint(tmp_path):
    assert Checkpoints(tmp_path / "nowhere").newest() is None


def test_both_newest_keep_what_they_refer_to(tmp_path, trained):
    store = saved(tmp_path, trained, 1, 2, 3)
    assert store.updates() == [2, 3]
    store.save(TrainingState(update=4, best_update=2, window=[3, 4]), *trained)
    store.save(TrainingState(update=5, best_update=5, window=[4, 5]), *trained)
    assert store.updates() == [2, 3, 4, 5]  # 5 may turn out to be damaged: 4 needs 2 and 3
    store.save(TrainingState(update=6, best_update=5, window=[5, 6]), *trained)
    assert store.updates() == [4, 5, 6]


def test_another_models_checkpoint_is_a_sentence(tmp_path, trained):
    store = saved(tmp_path, trained, 1)
    other = torch.nn.Linear(3, 3)
    with pytest.raises(UserError, match="belongs to another model"):
        store.load(1, other, Adam(dict(other.named_parameters()), tiny.settings().training))


@pytest.mark.parametrize("changed", ["encoder.0.feed_forward.inner.bias", "decoder_norm.weight"])
def test_the_tensor_of_another_shape_is_named(tmp_path, trained, changed):
    store = saved(tmp_path, trained, 1)
    model, optimiser = model_and_optimiser(steps=0)
    name, parameter = next((n, p) for n, p in named_weights(model) if n == changed)
    parameter.data = torch.zeros(len(parameter) + 1)
    with pytest.raises(UserError, match=rf"belongs to another model \({re.escape(name)} differs\)"):
        store.load(1, model, optimiser)


def test_a_full_disk_leaves_the_older_checkpoint(tmp_path, trained, monkeypatch):
    store = saved(tmp_path, trained, 4)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nmtcore.training.checkpoints.save_file", full)
    with pytest.raises(UserError, match="is full"):
        store.save(TrainingState(update=9), *trained)
    assert store.newest() == 4
    assert json.loads((tmp_path / "00000004.json").read_text())["state"]["update"] == 4
