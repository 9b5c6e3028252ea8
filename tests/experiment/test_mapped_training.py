"""Training on mapped features equals training on loaded ones, bit for bit, also if it is interrupted."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from training.launched import write_job

from nmtcore.experiment.training import TrainingJob, train_run
from nmtcore.training.trainer import Trainer


@pytest.fixture
def job(tmp_path: Path) -> TrainingJob:
    """A job for one process, with 200 pairs, of which `max_length` leaves some out."""
    job = write_job(tmp_path)
    training = job.run["training"]
    training |= {"max_updates": 40, "checkpoint_every": 10, "validation": {**training["validation"], "every": 15}}
    training["batch"] = {**training["batch"], "unit": "tokens", "size": 100, "max_length": 6}
    return replace(job, gpus=1, threads=1)


def weights_of(job: TrainingJob, name: str, **changes) -> dict[str, torch.Tensor]:
    """Train a copy of a job with its own checkpoints, and return the weights of its model."""
    folder = Path(job.features).parent / name
    paths = {"checkpoints": folder / "checkpoints", "model": folder / "model", "history": folder / "training.jsonl"}
    train_run(replace(job, **{key: str(path) for key, path in paths.items()}, **changes))
    return load_file(folder / "model/weights.safetensors")


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_training_on_mapped_features_equals_training_on_loaded_ones(job, capsys):
    loaded = weights_of(job, "loaded")
    assert "Writing examples" not in capsys.readouterr().out
    first = weights_of(job, "first", map_features_from=200)
    assert capsys.readouterr().out.count("Writing examples") == 1, "the dev set is too small"
    second = weights_of(job, "second", map_features_from=200)
    assert "Writing examples" not in capsys.readouterr().out
    assert same(loaded, first)
    assert same(loaded, second)


@pytest.mark.parametrize("changes", [{"map_features_from": 1}, {}])
def test_an_interrupted_run_resumes_with_mapped_or_loaded_features(job, monkeypatch, capsys, changes):
    whole, step = weights_of(job, "whole"), Trainer.step

    def fail(self: Trainer) -> None:
        if self.state.update == 27:
            raise KeyboardInterrupt
        step(self)

    monkeypatch.setattr(Trainer, "step", fail)
    with pytest.raises(KeyboardInterrupt):
        weights_of(job, "cut", map_features_from=1)
    monkeypatch.undo()
    capsys.readouterr()
    resumed = weights_of(job, "cut", **changes)
    assert "Resuming from the checkpoint of update 20." in capsys.readouterr().out
    assert same(whole, resumed)
