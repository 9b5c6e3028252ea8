"""Checkpoints are complete or ignored, only the needed ones are kept, and other settings or data have others."""

import math
import re
from dataclasses import replace

import pytest
import torch
from training import tiny

from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.training.checkpoints import (
    Checkpoints,
    checkpoint_folder,
    describe_changes,
    describe_training,
    fingerprint,
    named_weights,
)
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


def path_of(folder, update):
    return Checkpoints(folder).paths()[update]


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


def change_the_state(path):
    path.write_bytes(path.read_bytes().replace(b'"epoch\\": 0', b'"epoch\\": 1'))


@pytest.mark.parametrize("damage", [truncate, flip_a_bit, empty, change_the_state])
def test_a_damaged_checkpoint_is_reported_once_and_not_used(tmp_path, trained, damage):
    messages = []
    checkpoints = save(tmp_path, trained, 4, 9, messages=messages)
    before = path_of(tmp_path, 9).read_bytes()
    damage(path_of(tmp_path, 9))
    assert path_of(tmp_path, 9).read_bytes() != before
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
    flip_a_bit(path_of(tmp_path, 9))
    assert checkpoints.newest() == 4
    assert len(messages) == 2
    assert re.search(r"00000009-\w+\.safetensors is damaged", messages[0])
    assert re.search(r"00000012-\w+\.safetensors needs that of update 9\.", messages[1])
    assert list(checkpoints.paths()) == [4]


def test_what_a_killed_process_left_is_no_checkpoint(tmp_path, trained):
    checkpoints = save(tmp_path, trained, 4)
    (tmp_path / ".checkpoint~host~77.partial").mkdir()
    assert checkpoints.newest() == 4
    assert list(tmp_path.iterdir()) == [path_of(tmp_path, 4)]


def test_a_checkpoint_of_the_same_update_is_replaced(tmp_path, trained):
    save(tmp_path, trained, 4)
    checkpoints = save(tmp_path, trained, 4, stopped="all 4 updates are done")
    assert checkpoints.state(4).stopped == "all 4 updates are done"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_missing_folder_has_no_checkpoint(tmp_path):
    assert Checkpoints(tmp_path / "nowhere").newest() is None


def test_checkpoints_that_the_two_newest_refer_to_are_kept(tmp_path, trained):
    checkpoints = save(tmp_path, trained, 1, 2, 3)
    assert list(checkpoints.paths()) == [2, 3]
    checkpoints.save(TrainingState(update=4, best_update=2, window=[3, 4]), *trained)
    checkpoints.save(TrainingState(update=5, best_update=5, window=[4, 5]), *trained)
    assert list(checkpoints.paths()) == [2, 3, 4, 5]  # if 5 is damaged, 4 is used and needs 2 and 3
    checkpoints.save(TrainingState(update=6, best_update=5, window=[5, 6]), *trained)
    assert list(checkpoints.paths()) == [4, 5, 6]


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
    assert list(tmp_path.iterdir()) == [path_of(tmp_path, 4)]


DATA = {"train.source.parquet": "aa", "source.vocab": "bb"}
RUN = tiny.settings()


def fingerprint_of(run, data=DATA):
    return fingerprint(describe_training(run, data=data))


@pytest.mark.parametrize(
    "other",
    [
        tiny.settings(seed=2),
        tiny.settings(parses=True),
        tiny.settings(batch={"size": 161}),
        tiny.settings(schedule={"peak": 0.02}),
        tiny.settings(validation={"every": 9}),
        replace(RUN, sentences=replace(RUN.sentences, train=100)),
    ],
)
def test_settings_that_affect_training_change_the_fingerprint(other):
    assert fingerprint_of(RUN) != fingerprint_of(other)


@pytest.mark.parametrize(
    "other",
    [
        tiny.settings(log_every=50),
        tiny.settings(compile=True),
        tiny.settings(batch={"device_size": 10}),
        replace(RUN, decoding=DecodingSettings(beam=9)),
        replace(RUN, tests=("other", "dev")),
        replace(RUN, sentences=replace(RUN.sentences, test=100)),
    ],
)
def test_other_settings_do_not_change_the_fingerprint(other):
    assert fingerprint_of(RUN) == fingerprint_of(other)


def test_data_change_the_fingerprint():
    assert fingerprint_of(RUN) != fingerprint_of(RUN, {**DATA, "source.vocab": "cc"})
    assert fingerprint_of(RUN) == fingerprint_of(RUN, dict(reversed(DATA.items())))


def test_changed_settings_get_a_new_folder_and_a_message(tmp_path):
    messages, root = [], tmp_path / "checkpoints"
    vocabulary = tmp_path / "source.vocab"
    vocabulary.write_text("a")
    first = checkpoint_folder(root, RUN, data=[vocabulary], log=messages.append)
    assert checkpoint_folder(root, RUN, data=[vocabulary], log=messages.append) == first
    assert messages == []

    vocabulary.write_text("b")
    edited = tiny.settings(schedule={"peak": 0.02}, clip_norm=2)
    second = checkpoint_folder(root, edited, data=[vocabulary], log=messages.append)
    assert second != first
    (message,) = messages
    for part in (
        "training.schedule.peak: 0.01 -> 0.02",
        "training.clip_norm: nothing -> 2",
        "source.vocab is another file",
        f"starting afresh in {second}",
        f"stay in {first}",
    ):
        assert part in message
    # The first settings and data get the first folder again.
    vocabulary.write_text("a")
    assert checkpoint_folder(root, RUN, data=[vocabulary], log=messages.append) == first
    assert len(messages) == 1


def test_changes_list_new_and_removed_settings_and_files():
    old = {"version": 1, "data": {"a": "1"}, "settings": {"x.y": 1, "gone": True}}
    new = {"version": 2, "data": {"a": "1", "b": "2"}, "settings": {"x.y": 1, "x.z": [1]}}
    assert describe_changes(old, new) == [
        "version: 1 -> 2",
        "b is another file",
        "gone: true -> nothing",
        "x.z: nothing -> [1]",
    ]
