"""A training job that is killed goes on; one whose settings were edited starts afresh."""

import hashlib
import json
import os
import shutil
import signal
import time

import pytest
import torch
import yaml
from safetensors.torch import load_file
from workflow.calling import UPDATES

pytestmark = pytest.mark.slow

MODEL = "results/long/little/transformer_base/seed1/model"


def run_folder(place):
    return (place.folder / MODEL).parent


def weights(place):
    return load_file(place.folder / MODEL / "weights.safetensors")


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def updates(place):
    lines = [json.loads(line) for line in (run_folder(place) / "training.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "validation" not in line]
    return [u for line in lines for u in range(line["update"] - line["updates"] + 1, line["update"] + 1)]


def sums(folder):
    return {path: hashlib.sha256(path.read_bytes()).digest() for path in folder.rglob("*") if path.is_file()}


def wait_for_trainer(process, folder, update):
    """Wait for a checkpoint of so many updates; give the number of the process that trains."""
    while process.poll() is None:
        found = [int(path.stem) for path in folder.glob("checkpoints/*/0*.json")]
        if found and max(found) >= update:
            (lock,) = folder.glob("checkpoints/*/lock")
            return json.loads(lock.read_text())["pid"]
        time.sleep(0.02)
    raise AssertionError(f"it ended too early:\n{process.communicate()[0]}")


def test_a_killed_training_goes_on_and_an_edited_one_starts_afresh(place):
    process = place.start("--cores", "1", MODEL)
    os.kill(wait_for_trainer(process, run_folder(place), 40), signal.SIGKILL)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1, output
    assert not (place.folder / MODEL).exists()
    (folder,) = run_folder(place).glob("checkpoints/*")
    reached = max(int(path.stem) for path in folder.glob("0*.json"))
    assert 40 <= reached < UPDATES

    place.run(MODEL)
    resumed = weights(place)
    assert updates(place) == list(range(1, UPDATES + 1))
    log = place.folder / "results/long/logs/little/transformer_base/seed1.training.log"
    assert f"Resuming from the checkpoint of update {reached}." in log.read_text()

    shutil.rmtree(run_folder(place))
    place.run(MODEL)
    assert same(weights(place), resumed), "a run that was killed differs from one that was left alone"

    before = sums(folder)
    place.edit("scales/long", training={**read_training(place), "label_smoothing": 0.2, "max_updates": 40})
    place.run(MODEL)
    assert "label_smoothing: 0.1 -> 0.2" in log.read_text()
    assert "starting afresh in" in log.read_text()
    assert updates(place) == list(range(1, 41))
    assert sums(folder) == before
    assert len(list(run_folder(place).glob("checkpoints/*"))) == 2
    assert place.partial_files() == []


def read_training(place):
    return yaml.safe_load((place.folder / "config/scales/long.yaml").read_text())["training"]
