"""The recipes say what the papers (and the toolkits that they used) do."""

from pathlib import Path

import pytest

from nmtcore.config.depends import training_settings
from nmtcore.config.project import Project
from nmtcore.config.runs import run_from_json, run_to_json
from nmtcore.config.training import ScheduleSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError


@pytest.fixture(scope="module")
def project(root: Path) -> Project:
    return Project.load(root / "config")


def datasets_of(project: Project, recipe: str) -> list[str]:
    names = [name for name in project.dataset_files if project.dataset(name).recipe == recipe]
    assert names
    return names


def test_pham2018s_rate_is_tensor2tensors(project: Project):
    """Its learning rate of 0.2, times 5000 and (for Adam) 0.002, over the roots of the width and of the warm-up."""
    for name in datasets_of(project, "pham2018"):
        schedule = project.run(name, "transformer_base", "paper", 1).training.schedule
        assert (schedule.kind, schedule.warmup) == ("inverse_sqrt", 8000)
        assert schedule.peak == pytest.approx(0.2 * 5000 * 0.002 * 512**-0.5 * schedule.warmup**-0.5, rel=1e-5)


def test_aycock2021_has_joeynmts_dropout_its_floor_and_no_limit_but_70(project: Project):
    for name in datasets_of(project, "aycock2021"):
        run = project.run(name, "transformer_base", "paper", 1)
        model, schedule = run.model, run.training.schedule
        assert (model.dropout, model.attention_dropout, model.activation_dropout) == (0.1, 0.1, 0.1)
        assert model.embedding_dropout == 0.0
        assert (schedule.kind, schedule.floor, schedule.stop_at_floor) == ("plateau", 1e-8, True)
        assert run.training.batch.max_length == 70
        assert (run.decoding.max_length, run.decoding.max_length_ratio) == (70, None)
        (cut,) = project.dataset(name).filters
        assert (cut.least, cut.most) == (1, 70)


def test_tran2018_has_no_limit_of_length(project: Project):
    """Neither on what it trains on, nor one on translations that grows with the source."""
    for name in datasets_of(project, "tran2018"):
        run = project.run(name, "transformer_base", "paper", 1)
        assert run.training.batch.max_length is None
        assert run.decoding.max_length_ratio is None
        assert run.decoding.max_length == 1000
        assert [type(one).__name__ for one in project.dataset(name).filters] == ["EmptySettings"]
        assert run_from_json(run_to_json(run), where="test") == run


@pytest.mark.parametrize("floor", [0.0, 2e-4, 1.0])
def test_a_floor_that_would_never_or_at_once_end_training(floor):
    settings = {"kind": "plateau", "peak": 2e-4, "floor": floor, "stop_at_floor": True}
    with pytest.raises(UserError, match="here: stop_at_floor needs a floor above 0 and below the peak"):
        build(ScheduleSettings, settings, where="here")
    assert build(ScheduleSettings, settings | {"kind": "inverse_sqrt"}, where="here").peak == 2e-4


def test_a_run_that_names_nothing_new_is_written_as_before(project: Project):
    """So that no run is made again for keys that came later."""
    values = training_settings(project.run("multi30k_cs2en", "transformer_base", "small", 1))
    assert "model.embedding_dropout" not in values
    assert "training.schedule.stop_at_floor" not in values
    values = training_settings(project.run("wmt17_tr2en", "transformer_base", "paper", 1))
    assert values["model.embedding_dropout"] == 0.0
    assert values["training.schedule.stop_at_floor"] is True
