"""Which layer decides a setting: recipe, data set, `below_scale` of the system, scale or system."""

import pytest
import yaml

from nmtcore.config.bases import BASES
from nmtcore.config.layers import MERGED, Layer, history, merged, recipe_layer
from nmtcore.config.project import Project
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
BELOW = {section: SYSTEM[section] for section in ("model", "training")}


FILES = {
    "scales/mine": {"description": "mine", **SCALE},
    "datasets/twin": {"extends": "demo_en2de", "per_base": {"transformer": {"model": {"dropout": 0.7}}}},
    "systems/mine": {
        "whole": {"extends": "transformer_base", **SYSTEM},
        "child": {"extends": "whole", "description": "sets nothing itself"},
        "special": {"extends": "transformer_base", "per_dataset": {"demo_en2de": SYSTEM}},
        "left": {"extends": "transformer_base", "below_scale": BELOW},
        "left_child": {"extends": "left", "description": "sets one itself", "training": {"schedule": {"peak": 2.0e-3}}},
        "left_special": {"extends": "transformer_base", "per_dataset": {"demo_en2de": {"below_scale": BELOW}}},
        "plain": {"extends": "transformer_base"},
        "recurrent": {"base": "recurrent", "description": "another base", "model": {"layers": 3}},
        "onwards": {"extends": "plain", "start_from": "plain", "below_scale": BELOW},
        "own_onwards": {"extends": "onwards", "training": {"max_updates": 77, "label_smoothing": 0.2}},
        "further": {"extends": "plain", "start_from": "plain"},
    },
}
"""A scale, a data set and systems, of which `whole` and `special` say the same themselves as `left` below the scale."""


def sized(run):
    """The settings of a run that both `SCALE` and `SYSTEM` have, and two that only one of them has."""
    model, training = run.model, run.training
    return {
        "model": (model.width, model.feed_forward, model.decoder_layers, model.dropout),
        "schedule": (training.schedule.kind, training.schedule.peak, training.schedule.patience),
        "batch": (training.batch.size, training.batch.pool),
        "validation": (training.validation.every, training.validation.stop_after, training.validation.beam),
        "ends": (training.max_updates, training.max_epochs, training.checkpoint_every),
        "weights": (training.keep, training.average),
        "others": (training.clip_norm, training.label_smoothing),
    }


@pytest.mark.parametrize(("dataset", "system"), [("demo_en2de", "whole"), ("twin", "child"), ("twin", "special")])
def test_what_a_system_sets_itself_counts_at_every_scale(own_project, dataset, system):
    project = own_project(FILES)
    for scale in ("mine", "paper"):
        run = project.run(dataset, system, scale, 1)
        assert sized(run) == {
            "model": (256, 1024, 3, 0.3),
            "schedule": ("plateau", 1e-4, 2),
            "batch": (4096, 7),
            "validation": (1000, 4, 2),
            "ends": (10000, 9, 1000),
            "weights": ("last", 7),
            "others": (1.0, 0.2),
        }
        assert (run.decoding.max_length, run.decoding.beam) == (50, 6)


@pytest.mark.parametrize(("dataset", "system"), [("demo_en2de", "left"), ("twin", "left_special")])
def test_a_scale_overrides_what_a_system_sets_below_it(own_project, dataset, system):
    project = own_project(FILES)
    assert sized(project.run(dataset, system, "mine", 1)) == {
        "model": (128, 512, 2, 0.1),
        "schedule": ("constant", 3e-3, 2),
        "batch": (2048, 7),
        "validation": (500, None, 2),
        "ends": (2500, None, 250),
        "weights": ("average", 3),
        "others": (2.0, 0.2),
    }
    assert sized(project.run(dataset, system, "paper", 1)) == sized(project.run(dataset, "whole", "paper", 1))
    peak = project.run(dataset, "left_child", "mine", 1).training.schedule.peak
    assert peak == 2e-3, "the system's own value is above the scale"


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
    assert (run.model.width, run.model.layers, run.model.dropout) == (64, 3, 0.2)
    assert (run.training.schedule.peak, run.training.schedule.warmup) == (1e-3, 400)
    assert (run.training.clip_norm, run.decoding.beam, run.decoding.max_length) == (5.0, 3, 100)
    assert (other.training.schedule.peak, other.training.clip_norm, other.decoding.beam) == (3e-3, 2.0, 2)


def test_fine_tuning_overrides_the_scale_but_not_the_system(own_project):
    project = own_project(FILES)
    training = project.run("demo_en2de", "onwards", "mine", 1).training
    assert (training.max_updates, training.schedule.peak, training.schedule.warmup) == (500, 3e-4, 400)
    assert (training.label_smoothing, training.clip_norm) == (0.05, 2.0)
    training = project.run("demo_en2de", "own_onwards", "mine", 1).training
    assert (training.max_updates, training.schedule.peak, training.label_smoothing) == (77, 3e-4, 0.2)
    assert project.run("demo_en2de", "plain", "mine", 1).training.label_smoothing == 0.1
    assert project.run("demo_en2de", "further", "mine", 1).training.label_smoothing == 0.05


def test_merging_changes_no_layer():
    layers = [Layer(str(value), {"training": {"schedule": {"peak": value}}}) for value in (1, 2, 3, 4)]
    assert merged("training", layers) == {"schedule": {"peak": 4}}
    assert [layer.values["training"]["schedule"]["peak"] for layer in layers] == [1, 2, 3, 4]


def test_null_drops_what_other_data_sets_say_but_not_the_recipe(own_project):
    files = {
        "datasets/old": {"extends": "demo_en2de", "training": {"clip_norm": 3.0, "average": 9}},
        "datasets/new": {"extends": "old", "training": None},
        "datasets/newest": {"extends": "new", "training": {"average": 8}},
    }
    project = own_project({**FILES, **files})
    for name, expected in {"old": (3.0, 9), "new": (1.0, 5), "newest": (1.0, 8)}.items():
        training = project.run(name, "plain", "paper", 1).training
        assert (training.clip_norm, training.average) == expected, name


def test_a_setting_of_another_base_below_the_scale_is_refused(own_project, tmp_path):
    project = own_project({"systems/mine": {"mine": {"extends": "nmt", "below_scale": {"model": {"heads": 4}}}}})
    with pytest.raises(UserError, match=r"below_scale: model: 'heads' is a setting of the base transformer, but"):
        project.run("demo_en2de", "mine", "paper", 1)


def test_history_lists_what_each_layer_says_of_a_setting():
    layers = [
        Layer("a", {"words": "moses", "components": {"pascal": {"heads": 1}}}),
        Layer("b", {"words": {"source": {"kind": "given"}}, "components": {"pascal": None}}),
        Layer("c", {"training": {"validation": {"stop_after": None}}, "components": {"pascal": {"heads": 2}}}),
    ]
    assert history(layers, ("words", "source", "kind")) == [("moses", "a"), ("given", "b")]
    assert history(layers, ("components", "pascal", "heads")) == [(2, "c")], "b dropped what a says"
    assert history(layers, ("training", "validation", "stop_after")) == [(None, "c")], "null is a value of a setting"
    assert history(layers, ("model", "width")) == []


def test_no_shipped_system_overrides_what_makes_a_scale_small(root):
    """Else a shipped run at a scale would be larger than the scale promises."""
    project = Project([root / "config"], {})
    scales = [recipe_layer("", project.scale_files.read(name), base) for name in project.scale_names for base in BASES]
    small = {(part, key) for layer in scales for part, values in layer.values.items() for key in values}
    assert {("training", "schedule"), ("training", "max_updates"), ("model", "width")} <= small
    for name in project.system_entries:
        for level in project.system_levels(name)[0]:
            entries = [level.keys, *level.keys.get("per_dataset", {}).values()]
            overridden = {(part, key) for own in entries for part in MERGED for key in own.get(part, {})} & small
            assert not overridden, level.where
