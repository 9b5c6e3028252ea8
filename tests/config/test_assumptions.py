"""The notes `assumed` and `ASSUMED`: all that the papers leave open is on docs/assumptions.md, and changes no run."""

import re
from pathlib import Path

import pytest
import yaml
from assumptions import PAGE, assumptions, assumptions_page

from nmtcore.config.runs import run_to_json, training_settings
from nmtcore.config.stages import FilteringSettings, ReadingSettings

COUNTED = {
    "pham2018": {
        "published": {"layer of Tables 6.4 and 6.5"},
        "recipes": {"per_base.transformer.training.precision"},
        "config": {
            "weight", "no smoothing of the head's loss", "`</s>` is no candidate", "the decoder is relative, too",
            "scale of labels", "no positions of labels", "label of `</s>`",
        },
    },
    "bugliarello2020": {"config": {"start of U", "slope"}},
    "tran2018": {
        "published": {"undirected accuracy", "treebanks of Table 3"},
        "recipes": {
            "per_base.recurrent.model.width", "decoding.beam", "training.clip_norm",
            "per_base.recurrent.decoding.length_penalty",
        },
        "config": {
            "start of the decoder", "first input feeding", "`</s>` is read", "`</s>` is attended to",
            "biases of LSTMs and of the output layer", "places of dropout", "bias of the gate",
        },
    },
    "aycock2021": {
        "recipes": {"per_base.transformer.model.norm", "all other hyperparameters"},
        "datasets": {"splits.dev", "words"},
        "config": {"least"},
    },
}  # fmt: skip
"""The 29 that were counted when the papers were read once more, by paper and by the folder of the file."""


def test_every_assumption_that_was_counted_is_listed(project):
    listed = assumptions(project)
    counted = [
        (paper, folder, topic)
        for paper, folders in COUNTED.items()
        for folder, topics in folders.items()
        for topic in topics
    ]
    assert len(counted) == 29
    assert not set(counted) - {(own.paper, own.file.parent.name, own.topic) for own in listed}
    for own in listed:
        assert len(own.why.split()) > 2, own


def test_the_page_has_the_notes(project):
    """Where it differs, `python docs/site/assumptions.py` makes it anew."""
    assert PAGE.read_text(encoding="utf-8") == assumptions_page(project)


def test_comments_assume_nothing(root):
    """A note does, which the page shows."""
    lines = [line for path in (root / "config").rglob("*.yaml") for line in path.read_text("utf-8").splitlines()]
    assert not [line for line in lines if re.search(r"# .*(assum(?!ptions.md)|(paper|thesis) (names|gives) no)", line)]


def test_a_note_about_a_key_that_is_not_there_is_refused(own_project):
    project = own_project({"systems/mine": {"mine": {"extends": "pascal", "assumed": {"model.dropout": "Ours"}}}})
    with pytest.raises(ValueError, match=r"mine\.yaml: assumed: there is no key model\.dropout"):
        assumptions(project)


def test_notes_are_inherited_and_change_no_run(own_project, root: Path):
    recipe = yaml.safe_load((root / "config/recipes/small.yaml").read_text("utf-8"))
    note = {"assumed": {"all of it": "Ours, for a test"}}
    project = own_project(
        {
            "recipes/noted": recipe | note,
            "recipes/plain": recipe,
            "datasets/noted": {"extends": "demo_en2de", "recipe": "noted", **note},
            "datasets/plain": {"extends": "demo_en2de", "recipe": "plain"},
            "systems/noted": {"noted": {"extends": "pascal", **note}, "child": {"extends": "noted"}},
            "systems/plain": {"plain": {"extends": "pascal"}},
        }
    )
    assert project.system("child").assumed == {**project.system("pascal").assumed, **note["assumed"]}
    runs = [project.run(data, system, "small", 1) for data, system in (("noted", "child"), ("plain", "plain"))]
    noted, plain = ({**run_to_json(run), "dataset": "", "system": ""} for run in runs)
    assert noted == plain
    noted, plain = ({**training_settings(run), "dataset": "", "system": ""} for run in runs)
    assert noted == plain
    for settings in (ReadingSettings, FilteringSettings):
        assert settings.of(project.dataset("noted"), "train") == settings.of(project.dataset("plain"), "train")
