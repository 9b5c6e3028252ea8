"""Which layer decides a setting: recipe, `below_scale` of the system, scale or system."""

import pytest
import yaml

from nmtcore.config.files import Layer, Merged, merge
from nmtcore.config.project import Project
from nmtcore.config.runs import differences
from nmtcore.config.systems import SECTIONS, recipe_layers
from nmtcore.config.training import BASES
from nmtcore.config.typed import GivenValue, plain
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
    "recipes/twin": {
        "extends": "small",
        "description": "twin",
        "per_base": {"transformer": {"model": {"dropout": 0.7}}},
        "training": {"max_epochs": 8, "clip_norm": 3.0},
    },
    "datasets/twin": {"extends": "demo_en2de", "recipe": "twin"},
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
"""A scale, a recipe, a data set and systems; `whole` and `special` say themselves what `left` says below the scale."""


def differing(run, wanted: dict) -> list[str]:
    """Name the settings of a run that are not as wanted, of those that `wanted` has."""
    return [
        f"{section}: {difference}"
        for section, values in wanted.items()
        for difference in differences(values, common(plain(getattr(run, section)), values))
    ]


def common(values: dict, wanted: dict) -> dict:
    return {
        key: common(values[key], inner) if isinstance(inner, dict) else values[key] for key, inner in wanted.items()
    }


@pytest.mark.parametrize(("dataset", "system"), [("demo_en2de", "whole"), ("twin", "child"), ("twin", "special")])
def test_what_a_system_sets_itself_counts_at_every_scale(own_project, dataset, system):
    project = own_project(FILES)
    for scale in ("mine", "paper"):
        assert differing(project.run(dataset, system, scale, 1), SYSTEM) == []


@pytest.mark.parametrize(("dataset", "system"), [("demo_en2de", "left"), ("twin", "left_special")])
def test_a_scale_overrides_what_a_system_sets_below_it(own_project, dataset, system):
    project = own_project(FILES)
    of_scale = {section: SCALE[section] for section in ("training", "decoding")} | SCALE["per_base"]["transformer"]
    assert differing(project.run(dataset, system, "mine", 1), merge(BELOW, of_scale)) == []
    assert differing(project.run(dataset, system, "paper", 1), BELOW) == []
    peak = project.run(dataset, "left_child", "mine", 1).training.schedule.peak
    assert peak == 2e-3, "the system's own value is above the scale"


def test_something_says_when_training_ends(own_project, tmp_path, root):
    recipe = yaml.safe_load((root / "config/recipes/small.yaml").read_text())
    recipe["training"] |= {"max_updates": None, "max_epochs": None}
    project = own_project({**FILES, "recipes/small": recipe})
    with pytest.raises(UserError) as error:
        project.run("demo_en2de", "plain", "paper", 1)
    own = tmp_path / "recipes/small.yaml"
    lines = own.read_text().splitlines()
    given = "; ".join(f"{key}: {own}:{lines.index(f'  {key}: null') + 1}" for key in ("max_updates", "max_epochs"))
    sentence = f"give max_updates or max_epochs, or training would never end ({given})."
    assert str(error.value) == f"{tmp_path}/systems/mine.yaml: plain on demo_en2de at scale paper: training: {sentence}"
    assert project.run("demo_en2de", "whole", "paper", 1).training.max_updates == 10000, "the system says it"


def test_a_scale_overrides_a_recipe_and_those_that_it_extends(own_project):
    """The recipe `small` has a dropout of 0.2 and a clip norm of 1, or 5 for recurrent models; `twin` 0.7 and 3."""
    project = own_project(FILES)
    for dataset in ("demo_en2de", "twin"):
        run = project.run(dataset, "plain", "mine", 1)
        assert (run.model.dropout, run.training.clip_norm, run.training.max_epochs) == (0.1, 2.0, None)
        assert (run.decoding.max_length, run.decoding.beam) == (100, 2)
    run, other = (project.run(name, "plain", "paper", 1) for name in ("twin", "demo_en2de"))
    assert (run.model.dropout, run.training.max_epochs, run.training.clip_norm) == (0.7, 8, 3.0)
    assert run.model.width == other.model.width
    assert project.run("twin", "recurrent", "paper", 1).training.clip_norm == 3.0
    assert project.run("demo_en2de", "recurrent", "paper", 1).training.clip_norm == 5.0
    assert (project.first_recipe("twin"), project.first_recipe("demo_en2de")) == ("small", "small")


@pytest.mark.parametrize(
    ("recipe", "sentence"),
    [
        ({"extends": "smal"}, "{recipe}:2: extends: unknown recipe 'smal'. Did you mean small?"),
        ({"extends": "mine"}, "{recipe}: mine extends mine: this is circular, remove one `extends`."),
        ({"extends": "small", "training": {"clip_norm": 0}}, "{recipe}:4: training: clip_norm must be above 0, not 0."),
        (
            {"extends": "broken", "training": {"clip_norm": 2.0}},
            "{folder}/recipes/broken.yaml:3: training: clip_norm must be above 0, not -1.",
        ),
    ],
)
def test_mistakes_in_a_recipe_that_extends_another(own_project, tmp_path, recipe, sentence):
    files = {
        "recipes/broken": {"description": "d", "training": {"clip_norm": -1}},
        "recipes/mine": {"description": "d", **recipe},
        "datasets/mine": {"extends": "demo_en2de", "recipe": "mine"},
    }
    with pytest.raises(UserError) as error:
        own_project(files).run("mine", "transformer_base", "paper", 1)
    assert str(error.value).startswith(sentence.format(recipe=tmp_path / "recipes/mine.yaml", folder=tmp_path))


@pytest.mark.parametrize("key", ["training", "decoding", "per_base"])
def test_a_data_set_says_where_settings_of_training_belong(own_project, tmp_path, key):
    files = {"datasets/old": {"extends": "demo_en2de", key: {}}, "datasets/mine": {"extends": "old"}}
    with pytest.raises(UserError) as error:
        own_project(files).dataset("mine")
    assert str(error.value) == (
        f"{tmp_path}/datasets/old.yaml:2: data sets have no '{key}': write it into a recipe of your own, "
        "config/recipes/NAME.yaml, which `extends` another one, and `recipe: NAME` here."
    )


def test_a_mistake_in_a_value_names_the_file_and_line_that_have_it(own_project, tmp_path):
    """Not the data set that extends this one, and of two values that do not fit together both files."""
    files = {
        "datasets/old": {"extends": "demo_en2de", "max_bad_lines": -1},
        "datasets/young": {"extends": "old"},
        "datasets/several": {"a": {"extends": "demo_en2de", "splits": {"train": "trian"}}, "b": {"extends": "a"}},
        "datasets/part": "extends: demo_en2de\nsplits:\n  train: train\n  test: [{corpus: test,\n    first: 0}]\n",
        "systems/wide": {"wide": {"extends": "transformer_base", "model": {"heads": 7}}},
    }
    project = own_project({**FILES, **files})
    with pytest.raises(UserError) as error:
        project.dataset("young")
    assert str(error.value) == f"{tmp_path}/datasets/old.yaml:2: max_bad_lines must be at least 0, not -1."
    with pytest.raises(UserError) as error:
        project.dataset("a")
    fault = "splits.train: there is no corpus 'trian' in corpora."
    assert str(error.value) == f"{tmp_path}/datasets/several.yaml: a: {fault}"
    with pytest.raises(UserError) as error:
        project.dataset("part")
    assert str(error.value) == f"{tmp_path}/datasets/part.yaml:5: splits: test[0]: first must be at least 1, not 0."
    with pytest.raises(UserError) as error:
        project.run("demo_en2de", "wide", "mine", 1)
    system, scale = f"{tmp_path}/systems/wide.yaml", tmp_path / "scales/mine.yaml"
    line = scale.read_text().splitlines().index("      width: 128") + 1
    fault = f"width 128 is not a multiple of heads 7 (width: {scale}:{line}; heads: {system}:4: wide)."
    assert str(error.value) == f"{system}: wide on demo_en2de at scale mine: model: {fault}"


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
    assert Merged(layers).values == {"training": {"schedule": {"peak": 4}}}
    assert [layer.values["training"]["schedule"]["peak"] for layer in layers] == [1, 2, 3, 4]


def test_a_setting_of_another_base_below_the_scale_is_refused(own_project, tmp_path):
    project = own_project({"systems/mine": {"mine": {"extends": "nmt", "below_scale": {"model": {"heads": 4}}}}})
    with pytest.raises(UserError, match=r"below_scale: model: 'heads' is a setting of the base transformer, but"):
        project.run("demo_en2de", "mine", "paper", 1)


def test_what_each_layer_gives_a_setting():
    merged = Merged(
        [
            Layer("a", {"words": "moses", "components": {"pascal": {"heads": 1}, "sisa": {}}}),
            Layer("b", {"words": {"source": {"kind": "given"}}, "components": {"pascal": None}}),
            Layer("c", {"training": {"validation": {"stop_after": None}}, "components": {"pascal": {"heads": 2}}}),
        ]
    )
    assert merged.values == {
        "words": {"source": {"kind": "given"}},
        "components": {"sisa": {}, "pascal": {"heads": 2}},
        "training": {"validation": {"stop_after": None}},
    }
    assert list(merged.values["components"]) == ["sisa", "pascal"], "one that was dropped comes again at the end"
    assert merged.given(("words", "source", "kind")) == [GivenValue("moses", "a"), GivenValue("given", "b")]
    assert merged.given(("components", "pascal", "heads")) == [GivenValue(2, "c")], "b dropped what a says"
    assert merged.given(("training", "validation", "stop_after")) == [GivenValue(None, "c")], (
        "null is a value of a setting"
    )
    assert merged.given(("model", "width")) == []
    merged.add(Layer("d", {"words": "spaces"}))
    merged.add(Layer("d", {"words": "characters"}))
    given = [GivenValue("moses", "a"), GivenValue("given", "b"), GivenValue("characters", "d")]
    assert merged.given(("words", "source", "kind")) == given, "a file counts once, with what it says last"
    assert merge({"a": {"b": 1, "c": [1]}, "d": 1}, {"a": {"c": [2]}}, {"d": None}) == {
        "a": {"b": 1, "c": [2]},
        "d": None,
    }


def test_no_shipped_system_overrides_what_makes_a_scale_small(root):
    """Else a shipped run at a scale would be larger than the scale promises."""
    project = Project([root / "config"], {})
    scales = [Layer(name, project.scale_files.read(name)) for name in project.scale_names]
    layers = [layer for base in BASES for layer in recipe_layers(scales, base)]
    small = {(part, key) for layer in layers for part, values in layer.values.items() for key in values}
    assert {("training", "schedule"), ("training", "max_updates"), ("model", "width")} <= small
    for name in project.system_entries:
        for level in project.systems.lineage(name):
            entries = [level.values, *level.values.get("per_dataset", {}).values()]
            overridden = {(part, key) for own in entries for part in SECTIONS for key in own.get(part, {})} & small
            if project.system(name).start_from == "imported":  # no scale cuts a published model, nor its rate
                overridden -= {("training", "schedule")}
            assert not overridden, level.where
