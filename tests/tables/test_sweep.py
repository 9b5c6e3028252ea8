"""Sweeps: which trial dev chooses, what is translated for it, and the expected best of so many trials."""

import itertools
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.runs import run_to_json
from nmtcore.errors import UserError
from nmtcore.new.sweep import new_sweep_files
from nmtcore.tables.plan import planned_choice, planned_table, report_scores, table_inputs
from nmtcore.tables.sweep import expected_best

TABLE = "rates_grid"
SETTINGS = ["training.schedule.peak=1e-3,0.002", "components.pascal.heads=1,4"]
TRIALS = [f"rates_peak_{peak}_heads_{heads}" for peak in ("1e_3", "0_002") for heads in (1, 4)]


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=4), st.integers(1, 4))
def test_the_expected_best_is_the_mean_over_all_draws(scores, trials):
    best = [max(draw) for draw in itertools.product(scores, repeat=trials)]
    assert expected_best(scores, trials) == pytest.approx(fmean(best), abs=1e-9)


@pytest.fixture
def swept(make_project, tmp_path):
    """Make a project with the files of a sweep over a system, and return the texts of the files, too."""

    def make(*settings, system="pascal_heads_1", name="rates", write=True, **more):
        project = make_project({"datasets": ["demo_en2de"]}, **more)
        files = new_sweep_files(system, settings, project, name=name)
        for path, text in files.items() if write else ():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return make_project({"datasets": ["demo_en2de"]}), files

    return make


def test_trials_are_the_systems_that_one_would_write(swept):
    project, files = swept(*SETTINGS)
    assert list(map(str, files)) == ["config/systems/rates.yaml", "config/tables/rates.yaml"]
    assert [row.name for row in planned_table(project, TABLE).rows] == TRIALS
    runs = [project.run("demo_en2de", trial, "smoke", 1) for trial in TRIALS]
    assert [(run.training.schedule.peak, run.components["pascal"].heads) for run in runs] == [
        (0.001, 1), (0.001, 4), (0.002, 1), (0.002, 4)
    ]  # fmt: skip
    project, _ = swept("components.pascal.heads=1,4", name="heads")
    for heads in (1, 4):
        own, shipped = (
            project.run("demo_en2de", name, "smoke", 1) for name in (f"heads_heads_{heads}", f"pascal_heads_{heads}")
        )
        assert run_to_json(own) == run_to_json(shipped) | {"system": own.system}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["training.schedule.peek=1"], "rates_peek_1: training: schedule: unknown key 'peek'. Did you mean peak?"),
        (["trainig.schedule.peak=1"], "unknown key 'trainig'. Did you mean training?"),
        (["components.pascl.heads=1"], "components: unknown component 'pascl'. Did you mean pascal?"),
        (["training.schedule.peak=-1"], "rates_peak_minus_1: training: schedule: peak must be above 0, not -1"),
        (["components.pascal.heads=1,99"], "99 heads are more than the 8 of a layer"),
        (["decoding.beam"], "decoding.beam: write KEY=VALUE,VALUE, such as training.schedule.peak=1e-3,2e-3"),
        (["decoding.beam=1", "decoding.beam=2"], "Write each key once"),
        (["decoding.beam=4,'4 '"], "There is a system rates_beam_4 already"),
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_with_a_suggestion(swept, settings, sentence):
    with pytest.raises(UserError) as raised:
        swept(*settings, write=False)
    assert sentence in str(raised.value)


def test_a_sweep_is_planned_without_tests_of_its_trials(swept):
    project, _ = swept(*SETTINGS)
    runs = [f"results/smoke/demo_en2de/{trial}/seed{seed}" for trial in TRIALS for seed in (1, 2)]
    choice = f"results/smoke/demo_en2de/choices/{TABLE}"
    assert set(table_inputs(project, table=TABLE)) == {choice, *(f"{run}/dev_counts" for run in runs)}
    planned = planned_choice(project, table=TABLE, dataset="demo_en2de", root="results/smoke")
    assert {path for path in planned["files"] if "seed" in path} == {
        f"{run}/{file}" for run in runs for file in ("dev_counts", "model")
    }
    assert planned["tests"] == ["test"]
    assert not [path for path in report_scores(project) if "rates" in path]
    with pytest.raises(UserError, match="makes no such choice at the scale smoke"):
        planned_choice(project, table=TABLE, dataset="demo_en2de", root="results")


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": ["demo_en2de/dev/bleu"]},
        {"columns": ["demo_en2de/test/uas"]},
        {"columns": ["demo_en2de/test/comet"]},
        {"columns": ["demo_en2de/test/bleu", "demo_en2de/test/chrf"]},
        {"columns": ["demo_en2de/test/bleu", "demo_de2en/test/bleu"]},
        {"claims": [{"says": "pascal gains", "systems": ["pascal"], "baselines": ["transformer_base"]}]},
    ],
)
def test_dev_chooses_by_one_metric_on_one_data_set(make_project, changes):
    grid = {"kind": "sweep", "rows": ["transformer_base", "pascal"], "columns": ["demo_en2de/test/bleu"], **changes}
    project = make_project(files={"tables/mine": {"tables": {"grid": grid}}})
    with pytest.raises(UserError, match="a sweep has columns DATASET/TEST/METRIC of one data set"):
        planned_table(project, "mine_grid")
