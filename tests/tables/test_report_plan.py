"""What the report is planned from."""

from pathlib import Path

import pytest

from nmtcore.files import write_json, write_text
from nmtcore.tables.report_plan import (
    main_tests,
    report_figures,
    report_runs,
    report_scores,
    report_tables,
    system_descriptions,
)


@pytest.fixture
def project(make_project):
    return make_project({"datasets": []})


def test_all_tables_and_figures_are_inputs(project):
    tables, figures = report_tables(project), report_figures(project)
    assert "results/tables/pham2018_table_6_3.parquet" in tables
    assert "results/tables/aycock2021_table_4_1.parquet" in tables
    assert "results/figures/pham2018_figure_6_1.svg" in figures
    assert len(tables) == len(set(tables))
    assert len(tables) > len(figures) > 5


def test_every_system_with_a_description_has_it(project):
    descriptions = system_descriptions(project)
    assert descriptions["depparse_l1"] == project.system("depparse_l1").description
    assert all(descriptions.values())
    assert not [name for name, text in descriptions.items() if text.startswith("The same")], "each is read on its own"


def test_the_main_test_of_each_data_set_with_runs(make_project):
    project = make_project({"unfinished_runs": "leave_out"})
    assert main_tests(project) == {}
    for scale, dataset in (("smoke", "demo_en2de"), ("smoke", "no_longer_there"), ("demo", "demo_de2en")):
        write_json(Path(project.layout.path("scores", scale=scale, dataset=dataset, system="nmt", seed=1)), {})
    assert main_tests(project) == {"demo_en2de": "test"}


def test_the_runs_of_tables_are_scored_and_those_of_the_folder_are_shown_too(project):
    scores = report_scores(project)
    assert "results/smoke/demo_en2de/pascal/seed1/scores.json" in scores
    assert len(scores) == len(set(scores))
    assert report_runs(project) == {}
    own = project.layout.path("history", scale="smoke", dataset="demo_en2de", system="source_ccg", seed=7)
    write_text(own, "")
    before = report_runs(project)
    assert before.keys() == {own}
    write_json(Path(scores[0]), {})
    assert report_runs(project) == before, "the run of a table was scored, which changes nothing"
    write_json(Path("results/smoke/demo_en2de/source_ccg/seed7/scores.json"), {})
    assert report_runs(project) != before
