from dataclasses import replace

import pytest
from training import tiny

from nmtcore.config.training import DecodingSettings
from nmtcore.files import write_json
from nmtcore.training.fingerprint import changes, checkpoint_folder, describe, fingerprint, hash_files

DATA = {"train.source.parquet": "aa", "source.vocab": "bb"}


def name_of(run, data=DATA):
    return fingerprint(describe(run, data=data))


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
def test_what_matters_for_training_gives_another_name(other):
    assert name_of(RUN) != name_of(other)


@pytest.mark.parametrize(
    "other",
    [
        tiny.settings(),
        tiny.settings(log_every=50),
        tiny.settings(batch={"device_size": 10}),
        replace(RUN, decoding=DecodingSettings(beam=9)),
        replace(RUN, tests=("other", "dev")),
        replace(RUN, sentences=replace(RUN.sentences, test=100)),
    ],
)
def test_what_does_not_matter_keeps_the_name(other):
    assert name_of(RUN) == name_of(other)


def test_data_give_another_name():
    assert name_of(RUN) != name_of(RUN, {**DATA, "source.vocab": "cc"})
    assert name_of(RUN) == name_of(RUN, dict(reversed(DATA.items())))


def test_an_edit_starts_afresh_says_what_changed_and_leaves_the_rest(tmp_path):
    said = []
    first = checkpoint_folder(tmp_path, RUN, data=DATA, log=said.append)
    (first / "00000001.json").write_text("precious")
    assert checkpoint_folder(tmp_path, RUN, data=DATA, log=said.append) == first
    assert said == []

    edited = tiny.settings(schedule={"peak": 0.02}, clip_norm=2)
    second = checkpoint_folder(tmp_path, edited, data={**DATA, "source.vocab": "cc"}, log=said.append)
    assert second != first
    assert len(said) == 1
    for part in (
        "training.schedule.peak: 0.01 -> 0.02",
        "training.clip_norm: nothing -> 2",
        "source.vocab is another file",
        f"starting afresh in {second}",
        f"stay in {first}",
    ):
        assert part in said[0]
    assert (first / "00000001.json").read_text() == "precious"
    # Back to the first settings: on with the first checkpoints.
    assert checkpoint_folder(tmp_path, RUN, data=DATA, log=said.append) == first
    assert len(said) == 1


def test_changes_name_what_is_new_and_what_is_gone():
    old = {"version": 1, "data": {"a": "1"}, "settings": {"x.y": 1, "gone": True}}
    new = {"version": 2, "data": {"a": "1", "b": "2"}, "settings": {"x.y": 1, "x.z": [1]}}
    assert changes(old, new) == [
        "version: 1 -> 2",
        "b is another file",
        "gone: true -> nothing",
        "x.z: nothing -> [1]",
    ]


def test_files_are_hashed_by_content(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(b"abc")
    sums = hash_files(paths)
    assert sums["a"] == sums["b"] == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_checkpoints_whose_settings_were_recorded_in_another_way_are_left_with_a_word(tmp_path):
    description = describe(RUN, data=DATA)
    every = {path: value for defaults in description["settings"].defaults.values() for path, value in defaults.items()}
    write_json(tmp_path / "older/run.json", description | {"settings": every | description["settings"]})
    said = []
    checkpoint_folder(tmp_path, RUN, data=DATA, log=said.append)
    assert said[0].startswith("Settings or data changed (the same settings, recorded in another way): starting afresh")
