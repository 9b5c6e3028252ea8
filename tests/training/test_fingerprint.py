"""Fingerprints of settings and data, and the folders of checkpoints named after them."""

from dataclasses import replace

import pytest
from training import tiny

from nmtcore.config.training import DecodingSettings
from nmtcore.files import write_json
from nmtcore.training.fingerprint import checkpoint_folder, describe_changes, describe_training, fingerprint, hash_files

DATA = {"train.source.parquet": "aa", "source.vocab": "bb"}


def fingerprint_of(run, data=DATA):
    return fingerprint(describe_training(run, data=data))


RUN = tiny.settings()


@pytest.mark.parametrize(
    "other",
    [
        tiny.settings(seed=2),
        tiny.settings(dropout=0.2),
        tiny.settings(parses=True),
        tiny.settings(weight_decay=0.1),
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
        tiny.settings(),
        tiny.settings(log_every=50),
        tiny.settings(weight_copies=False),
        tiny.settings(compile=True),
        tiny.settings(batch={"device_size": 10}),
        tiny.settings(batch={"prefetch": 2}),
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
    messages = []
    first = checkpoint_folder(tmp_path, RUN, data=DATA, log=messages.append)
    (first / "00000001.json").write_text("precious")
    assert checkpoint_folder(tmp_path, RUN, data=DATA, log=messages.append) == first
    assert messages == []

    edited = tiny.settings(schedule={"peak": 0.02}, clip_norm=2)
    second = checkpoint_folder(tmp_path, edited, data={**DATA, "source.vocab": "cc"}, log=messages.append)
    assert second != first
    assert len(messages) == 1
    for part in (
        "training.schedule.peak: 0.01 -> 0.02",
        "training.clip_norm: nothing -> 2",
        "source.vocab is another file",
        f"starting afresh in {second}",
        f"stay in {first}",
    ):
        assert part in messages[0]
    assert (first / "00000001.json").read_text() == "precious"
    # The first settings get the first folder again.
    assert checkpoint_folder(tmp_path, RUN, data=DATA, log=messages.append) == first
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


def test_files_are_hashed_by_content(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(b"abc")
    hashes = hash_files(paths)
    assert hashes["a"] == hashes["b"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_settings_recorded_in_another_way_get_a_new_folder_and_a_message(tmp_path):
    description = describe_training(RUN, data=DATA)
    every = {path: value for defaults in description["settings"].defaults.values() for path, value in defaults.items()}
    write_json(tmp_path / "older/run.json", description | {"settings": every | description["settings"]})
    messages = []
    checkpoint_folder(tmp_path, RUN, data=DATA, log=messages.append)
    assert messages[0].startswith(
        "Settings or data changed (the same settings, recorded in another way): starting afresh"
    )
