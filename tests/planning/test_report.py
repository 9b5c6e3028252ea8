"""What the report is planned from."""

from pathlib import Path

import pytest

from nmtcore.config.project import Project
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.planning.report import main_tests, report_figures, report_tables, system_descriptions
from nmtcore.planning.targets import check_target


@pytest.fixture
def project(root):
    return Project([root / "config"], {})


def test_all_tables_and_figures_are_inputs(project):
    tables, figures = report_tables(project), report_figures(project)
    assert "results/tables/pham2018_table_6_3.json" in tables
    assert "results/tables/aycock2021_table_4_1.json" in tables
    assert "results/figures/pham2018_figure_6_1.svg" in figures
    assert len(tables) == len(set(tables))
    assert len(tables) > len(figures) > 5


def test_every_system_with_a_description_has_it(project):
    descriptions = system_descriptions(project)
    assert descriptions["depparse_l1"] == project.system("depparse_l1").description
    assert all(descriptions.values())


def test_the_main_test_of_each_data_set_with_runs(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    project = Project([root / "config"], {"scale": "smoke"})
    assert main_tests(project) == {}
    for dataset in ("demo_en2de", "no_longer_there"):
        path = Path(project.layout.path("scores", scale="smoke", dataset=dataset, system="nmt", seed=1))
        write_json(path, {})
    other = Path(project.layout.path("scores", scale="demo", dataset="demo_de2en", system="nmt", seed=1))
    write_json(other, {})
    ((name, test),) = main_tests(project).items()
    assert name == "demo_en2de"
    assert test == {
        "split": "test",
        "evaluation": {"text": "detokenised", "tokenize": "13a", "lowercase": False},
        "sentences": 100,
        "trees": "results/demo_en2de/annotation/existing/test.source.parquet",
    }


def test_the_report_is_a_target(project):
    check_target(project, "results/report.html")
    assert Layout().parse("results/report.html").file_type == "report"
