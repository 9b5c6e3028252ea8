"""Features: their names differ from those of annotations, and unknown ones are refused."""

from pathlib import Path

import pytest

from nmtcore.config.annotators import ANNOTATIONS
from nmtcore.config.features import FEATURES
from nmtcore.config.project import Project
from nmtcore.config.runs import run_from_json, run_to_json
from nmtcore.errors import UserError


def test_no_feature_has_the_name_of_an_annotation():
    assert not set(FEATURES) & set(ANNOTATIONS)
    assert {feature.annotation for feature in FEATURES.values()} <= set(ANNOTATIONS)
    assert all(set(feature.labels) <= set(feature.columns) for feature in FEATURES.values())


def test_no_two_features_share_a_column():
    columns = [column for feature in FEATURES.values() for column in feature.columns]
    assert len(set(columns)) == len(columns)


def test_a_run_with_an_unknown_feature_is_refused(root: Path):
    """An earlier version may have written it; its model would ignore the syntax."""
    values = run_to_json(Project.load(root / "config").run("demo_en2de", "pascal", "smoke", 1))
    assert run_from_json(values, where="run.json").features == {"source": {"trees": "existing"}}
    values["features"] = {"source": {"dependencies": "existing"}}
    with pytest.raises(
        UserError, match=r"run\.json: features\.source: unknown feature 'dependencies'\. Valid are: ccg_"
    ):
        run_from_json(values, where="run.json")
