"""Checkpoints are complete or ignored, only the needed ones are kept, and other settings or data have others."""

import json
import math
import os
import re
from dataclasses import replace

import pytest
from training import tiny
from training.test_train import same_weights

from nmtcore.files import write_text
from nmtcore.training.checkpoints import VERSION, Checkpoints, checkpoint_folder
from nmtcore.training.state import TrainingState
from nmtcore.training.update import Adam


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
    save(tmp_path, trained, 3, 5)
    checkpoints = save(tmp_path, trained, 5, **values)  # in place of that of the same update
    assert list(checkpoints.paths()) == [3, 5]
    model, optimiser = model_and_optimiser(steps=0)
    assert checkpoints.load(checkpoints.newest(), model, optimiser) == TrainingState(update=5, **values)
    assert same_weights(trained[0], model)
    # The next step of the optimiser is the same.
    for its_model, its_optimiser in (trained, (model, optimiser)):
        sum((p * p).sum() for p in its_model.parameters()).backward()
        its_optimiser.step(rate=0.01)
    assert same_weights(trained[0], model)


def path_of(folder, update):
    return Checkpoints(folder).paths()[update]


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_damaged_checkpoint_is_reported_once_and_not_used(tmp_path, trained):
    messages = []
    checkpoints = save(tmp_path, trained, 4, 9, messages=messages)
    path = path_of(tmp_path, 9)
    changed = path.read_bytes().replace(b'"epoch\\": 0', b'"epoch\\": 1')
    assert changed != path.read_bytes()
    path.write_bytes(changed)
    assert [checkpoints.newest(), checkpoints.newest()] == [4, 4]
    (message,) = messages
    assert re.search(r"00000009-\w+\.safetensors is damaged .* Going back to the checkpoint before update 9\.", message)


def test_a_checkpoint_is_not_used_without_those_that_it_refers_to(tmp_path, trained):
    messages = []
    save(tmp_path, trained, 4)
    checkpoints = save(tmp_path, trained, 9, window=[4, 9], messages=messages)
    checkpoints.save(TrainingState(update=12, window=[9, 12]), *trained)
    flip_a_bit(path_of(tmp_path, 9))
    assert checkpoints.newest() == 4
    for update, message in zip((12, 9), messages, strict=True):
        assert re.search(rf"00000009-\w+\.safetensors is damaged .* before update {update}\.", message)
    assert list(checkpoints.paths()) == [4]


def test_checkpoints_that_the_two_newest_refer_to_are_kept(tmp_path, trained):
    checkpoints = save(tmp_path, trained, 1, 2, 3)
    assert list(checkpoints.paths()) == [2, 3]
    checkpoints.save(TrainingState(update=4, best_update=2, window=[3, 4]), *trained)
    checkpoints.save(TrainingState(update=5, best_update=5, window=[4, 5]), *trained)
    assert list(checkpoints.paths()) == [2, 3, 4, 5]  # if 5 is damaged, 4 is used and needs 2 and 3
    checkpoints.save(TrainingState(update=6, best_update=5, window=[5, 6]), *trained)
    assert list(checkpoints.paths()) == [4, 5, 6]


RUN = tiny.settings()
CHANGED = {
    "training.schedule.peak: 0.01 -> 0.02": tiny.settings(schedule={"peak": 0.02}),
    "training.clip_norm: nothing -> 2": tiny.settings(clip_norm=2),
    "components.depparse": tiny.settings(parses=True),
    "sentences.train": replace(RUN, sentences=replace(RUN.sentences, train=100)),
}
"""Settings that affect training, and what the message says."""
SAME = [
    tiny.settings(log_every=50),
    tiny.settings(batch={"device_size": 10}),
    replace(RUN, tests=("other", "dev")),
]


def test_settings_and_data_that_affect_training_get_a_new_folder_and_a_message(tmp_path):
    messages, root, vocabulary = [], tmp_path / "checkpoints", tmp_path / "source.vocab"

    def folder_of(run, content="a"):
        vocabulary.write_text(content)
        return checkpoint_folder(root, run, data=[vocabulary], log=messages.append)

    first = folder_of(RUN)
    assert {folder_of(run) for run in SAME} == {first}
    assert messages == []
    for change, run in CHANGED.items():
        os.utime(first / "run.json")  # the newest folder is compared
        folder = folder_of(run)
        assert folder != first
        assert change in messages[-1]
        assert messages[-1].endswith(f"starting afresh in {folder}; earlier checkpoints stay in {first}.")
    assert folder_of(RUN, "b") != first
    assert "source.vocab is another file" in messages[-1]
    write_text(folder / "run.json", json.dumps({"version": VERSION - 1}))
    os.utime(folder / "run.json", (2**33, 2**33))
    assert "of another version of the training code" in (folder_of(RUN, "c"), messages[-1])[1]
    # The first settings and data get the first folder again.
    assert folder_of(RUN) == first
    assert len(messages) == len(CHANGED) + 2
