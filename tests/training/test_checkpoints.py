"""Checkpoints are complete or ignored, and only the needed ones are kept."""

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
    """A model after one step of Adam, and its optimiser."""
    return model_and_optimiser(steps=1)


def model_and_optimiser(*, steps: int):
    run = tiny.settings()
    model = tiny.model_of(run)
    optimiser = Adam(dict(model.named_parameters()), run.training)
    for _ in range(steps):
        sum((p * p).sum() for p in model.parameters()).backward()
        optimiser.step(rate=0.01)
    return model, optimiser


def save(folder, trained, *updates: int, messages=None, **state) -> Checkpoints:
    """Save a checkpoint for each update; the rest of each training state is `state`."""
    checkpoints = Checkpoints(folder, log=[].append if messages is None else messages.append)
    for update in updates:
        checkpoints.save(TrainingState(update=update, **state), *trained)
    return checkpoints


def test_loading_restores_the_state_the_weights_and_the_optimiser(tmp_path, trained):
    values = {"epoch": 3, "step": 7, "best_score": -math.pi, "scores": {"perplexity": math.inf}, "window": [3, 5]}
    save(tmp_path, trained, 3)
    checkpoints = save(tmp_path, trained, 5, **values)
    model, optimiser = model_and_optimiser(steps=0)
    assert checkpoints.load(checkpoints.newest(), model, optimiser) == TrainingState(update=5, **values)
    for (name, a), (_, b) in zip(named_weights(trained[0]), named_weights(model), strict=True):
        assert torch.equal(a, b), name
    # The next step of the optimiser is the same.
    for its_model, its_optimiser in (trained, (model, optimiser)):
        sum((p * p).sum() for p in its_model.parameters()).backward()
        its_optimiser.step(rate=0.01)
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


def truncate_json(folder):
    path = folder / "00000009.json"
    path.write_text(path.read_text()[:40])


def replace_json(folder):
    (folder / "00000009.json").write_text("[]")


def change_the_state(folder):
    path = folder / "00000009.json"
    path.write_text(path.read_text().replace('"epoch": 0', '"epoch": 1'))


@pytest.mark.parametrize(
    "damage",
    [truncate, flip_a_bit, empty_tensors, remove_tensors, truncate_json, replace_json, change_the_state],
)
def test_a_damaged_checkpoint_is_reported_once_and_not_used(tmp_path, trained, damage):
    messages = []
    checkpoints = save(tmp_path, trained, 4, 9, messages=messages)
    damage(tmp_path)
    assert checkpoints.newest() == 4
    assert len(messages) == 1
    assert "00000009" in messages[0]
    assert "Going back to the checkpoint before it." in messages[0]
    assert checkpoints.newest() == 4
    assert len(messages) == 1


def test_a_checkpoint_is_not_used_without_those_that_it_refers_to(tmp_path, trained):
    messages = []
    save(tmp_path, trained, 4)
    checkpoints = save(tmp_path, trained, 9, window=[4, 9], messages=messages)
    checkpoints.save(TrainingState(update=12, window=[9, 12]), *trained)
    flip_a_bit(tmp_path)
    assert checkpoints.newest() == 4
    assert len(messages) == 2
    assert "00000009.safetensors is damaged" in messages[0]
    assert "00000012.json needs " in messages[1]
    assert checkpoints.updates() == [4]


def test_checkpoints_of_earlier_versions_have_no_sum_of_the_state(tmp_path, trained):
    checkpoints = save(tmp_path, trained, 4)
    path = tmp_path / "00000004.json"
    content = json.loads(path.read_text())
    del content["state_sha256"]
    path.write_text(json.dumps(content))
    assert checkpoints.newest() == 4


def test_tensors_without_json_are_no_checkpoint(tmp_path, trained):
    checkpoints = save(tmp_path, trained, 4, 9)
    (tmp_path / "00000009.json").unlink()
    (tmp_path / ".00000012.safetensors.77.partial").write_bytes(b"half")
    assert checkpoints.newest() == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00000004.json", "00000004.safetensors"]


def test_a_missing_folder_has_no_checkpoint(tmp_path):
    assert Checkpoints(tmp_path / "nowhere").newest() is None


def test_checkpoints_that_the_two_newest_refer_to_are_kept(tmp_path, trained):
    checkpoints = save(tmp_path, trained, 1, 2, 3)
    assert checkpoints.updates() == [2, 3]
    checkpoints.save(TrainingState(update=4, best_update=2, window=[3, 4]), *trained)
    checkpoints.save(TrainingState(update=5, best_update=5, window=[4, 5]), *trained)
    assert checkpoints.updates() == [2, 3, 4, 5]  # if 5 is damaged, 4 is used and needs 2 and 3
    checkpoints.save(TrainingState(update=6, best_update=5, window=[5, 6]), *trained)
    assert checkpoints.updates() == [4, 5, 6]


def test_a_checkpoint_of_another_model_is_an_error(tmp_path, trained):
    checkpoints = save(tmp_path, trained, 1)
    other = torch.nn.Linear(3, 3)
    with pytest.raises(UserError, match="belongs to another model"):
        checkpoints.load(1, other, Adam(dict(other.named_parameters()), tiny.settings().training))


@pytest.mark.parametrize("changed", ["encoder.0.feed_forward.inner.bias", "decoder_norm.weight"])
def test_the_error_names_a_tensor_of_another_shape(tmp_path, trained, changed):
    checkpoints = save(tmp_path, trained, 1)
    model, optimiser = model_and_optimiser(steps=0)
    name, parameter = next((n, p) for n, p in named_weights(model) if n == changed)
    parameter.data = torch.zeros(len(parameter) + 1)
    with pytest.raises(UserError, match=rf"belongs to another model \({re.escape(name)} differs\)"):
        checkpoints.load(1, model, optimiser)


def test_a_full_disk_does_not_harm_the_older_checkpoint(tmp_path, trained, monkeypatch):
    checkpoints = save(tmp_path, trained, 4)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("nmtcore.training.checkpoints.save_file", full)
    with pytest.raises(UserError, match="is full"):
        checkpoints.save(TrainingState(update=9), *trained)
    assert checkpoints.newest() == 4
    assert json.loads((tmp_path / "00000004.json").read_text())["state"]["update"] == 4
