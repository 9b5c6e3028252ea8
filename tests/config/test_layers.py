"""Which layer decides a setting: recipe, data set, scale or system."""

from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from nmtcore.config.bases import BASES
from nmtcore.config.project import DECIDED_BY_SCALE, merge_layers
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.errors import UserError

SCALE = {
    "per_base": {
        "transformer": {"model": {"width": 128, "feed_forward": 512, "decoder_layers": 2, "dropout": 0.1}},
        "recurrent": {
            "model": {"width": 64, "layers": 1},
            "training": {"schedule": {"peak": 1.0e-3}, "clip_norm": 5.0},
            "decoding": {"beam": 3},
        },
    },
    "training": {
        "schedule": {"kind": "constant", "peak": 3.0e-3, "warmup": 400},
        "batch": {"size": 2048},
        "validation": {"every": 500, "stop_after": None},
        "max_updates": 2500,
        "max_epochs": None,
        "checkpoint_every": 250,
        "keep": "average",
        "average": 3,
        "clip_norm": 2.0,
    },
    "decoding": {"max_length": 100, "beam": 2},
    "fine_tuning": {"max_updates": 500, "schedule": {"peak": 3.0e-4}, "label_smoothing": 0.05},
}
SYSTEM = {
    "model": {"width": 256, "feed_forward": 1024, "decoder_layers": 3, "dropout": 0.3},
    "training": {
        "schedule": {"kind": "plateau", "peak": 1.0e-4, "warmup": 400, "patience": 2},
        "batch": {"size": 4096, "pool": 7},
        "validation": {"every": 1000, "stop_after": 4, "beam": 2},
        "max_updates": 10000,
        "max_epochs": 9,
        "checkpoint_every": 1000,
        "keep": "last",
        "average": 7,
        "clip_norm": 1.0,
        "label_smoothing": 0.2,
    },
    "decoding": {"max_length": 50, "beam": 6},
}


FILES = {
    "scales/mine": {"description": "mine", **SCALE},
    "datasets/twin": {"extends": "demo_en2de", "per_base": {"transformer": {"model": {"dropout": 0.7}}}},
    "systems/mine": {
        "whole": {"extends": "transformer_base", **SYSTEM},
        "child": {"extends": "whole", "description": "sets nothing itself"},
        "special": {"extends": "transformer_base", "per_dataset": {"demo_en2de": SYSTEM}},
        "plain": {"extends": "transformer_base"},
        "recurrent": {"base": "recurrent", "description": "another base", "model": {"layers": 3}},
        "onwards": {"extends": "plain", "start_from": "plain", "training": SYSTEM["training"]},
        "further": {"extends": "plain", "start_from": "plain"},
    },
}
"""A scale, a data set and systems, of which `special` has the same as `whole` with `per_dataset`."""


@pytest.mark.parametrize(("dataset", "system"), [("demo_en2de", "whole"), ("twin", "child"), ("twin", "special")])
def test_a_scale_overrides_size_and_duration_but_nothing_else(own_project, dataset, system):
    run = own_project(FILES).run(dataset, system, "mine", 1)
    model, training = run.model, run.training
    assert (model.width, model.feed_forward, model.decoder_layers, model.dropout) == (128, 512, 2, 0.3)
    assert (training.schedule.kind, training.schedule.peak, training.schedule.patience) == ("constant", 3e-3, 2)
    assert (training.batch.size, training.batch.pool) == (2048, 7)
    assert (training.validation.every, training.validation.stop_after, training.validation.beam) == (500, None, 2)
    assert (training.max_updates, training.max_epochs, training.checkpoint_every) == (2500, 9, 250)
    assert (training.keep, training.average) == ("average", 3)
    assert (training.clip_norm, training.label_smoothing) == (1.0, 0.2)
    assert (run.decoding.max_length, run.decoding.beam) == (50, 6)


def test_something_says_when_training_ends(own_project, tmp_path, root):
    recipe = yaml.safe_load((root / "config/recipes/small.yaml").read_text())
    recipe["training"] |= {"max_updates": None, "max_epochs": None}
    project = own_project({**FILES, "recipes/small": recipe})
    with pytest.raises(UserError) as error:
        project.run("demo_en2de", "plain", "paper", 1)
    sentence = "training: give max_updates or max_epochs, or training would never end."
    assert str(error.value) == f"{tmp_path}/systems/mine.yaml: plain on demo_en2de at scale paper: {sentence}"
    assert project.run("demo_en2de", "whole", "paper", 1).training.max_updates == 10000, "the system says it"


def test_a_scale_overrides_recipe_and_data_set(own_project):
    """The recipe has a dropout of 0.2 and a clip norm of 1, the data set a dropout of 0.7."""
    project = own_project(FILES)
    for dataset in ("demo_en2de", "twin"):
        run = project.run(dataset, "plain", "mine", 1)
        assert (run.model.dropout, run.training.clip_norm, run.training.max_epochs) == (0.1, 2.0, None)
        assert (run.decoding.max_length, run.decoding.beam) == (100, 2)
    assert project.run("twin", "plain", "paper", 1).model.dropout == 0.7


def test_per_base_overrides_the_same_file(own_project):
    """For systems of that base only; the recipe's changes for the base come before the scale's."""
    project = own_project(FILES)
    run, other = (project.run("demo_en2de", name, "mine", 1) for name in ("recurrent", "plain"))
    assert (run.model.width, run.model.layers, run.model.dropout) == (64, 1, 0.2)
    assert (run.training.schedule.peak, run.training.schedule.warmup) == (1e-3, 400)
    assert (run.training.clip_norm, run.decoding.beam, run.decoding.max_length) == (5.0, 3, 100)
    assert (other.training.schedule.peak, other.training.clip_norm, other.decoding.beam) == (3e-3, 2.0, 2)


def test_fine_tuning_overrides_the_same_settings(own_project):
    project = own_project(FILES)
    training = project.run("demo_en2de", "onwards", "mine", 1).training
    assert (training.max_updates, training.schedule.peak, training.schedule.warmup) == (500, 3e-4, 400)
    assert (training.label_smoothing, training.clip_norm) == (0.2, 1.0)
    assert project.run("demo_en2de", "plain", "mine", 1).training.label_smoothing == 0.1
    assert project.run("demo_en2de", "further", "mine", 1).training.label_smoothing == 0.05


def test_merging_changes_no_layer():
    layers = [{"training": {"schedule": {"peak": value}}} for value in (1, 2, 3, 4)]
    assert merge_layers("training", *layers[:2], scale=layers[2], system=layers[3]) == {"schedule": {"peak": 3}}
    assert layers == [{"training": {"schedule": {"peak": value}}} for value in (1, 2, 3, 4)]


def test_settings_decided_by_the_scale_exist_and_are_documented(root: Path):
    classes = {"model": BASES.values(), "training": [TrainingSettings], "decoding": [DecodingSettings]}
    assert set(DECIDED_BY_SCALE) == set(classes)
    rule = (root / "config" / "README.md").read_text().partition("**Layers.**")[2].partition("\n## ")[0]
    for section, keys in DECIDED_BY_SCALE.items():
        assert set(keys) <= {field.name for settings in classes[section] for field in fields(settings)}
        for key in keys:
            assert f"`{key}`" in rule
