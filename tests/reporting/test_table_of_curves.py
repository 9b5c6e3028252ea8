"""The figure and the table of validation curves of a paper."""

import json

import pytest
from reporting.planned import RUNS, about_runs, planned, shown, unlinked

from nmtcore.files import write_lines
from nmtcore.layout import Layout
from nmtcore.reporting.table_kinds.curves import NO_LOG, best_point, curves_content, draw_curves


@pytest.fixture
def layout(tmp_path):
    return Layout(results=str(tmp_path / "results"), scales=("quick",))


def write_log(layout, system, seed, *scores):
    path = layout.path("history", scale="quick", dataset="d", system=system, seed=seed)
    lines = [{"update": 10 * (i + 1), "validation": own, "best": True, "seconds": 2} for i, own in enumerate(scores)]
    write_lines(path, [json.dumps(line) for line in lines])
    return path


def test_best_and_last_scores(layout, tmp_path):
    logs = {
        "d/base": {
            "1": write_log(layout, "base", 1, *({"perplexity": 9.0, "bleu": bleu} for bleu in (1.0, 5.0, 5.0, 3.0))),
            "2": write_log(layout, "base", 2, *({"perplexity": 9.0, "bleu": bleu} for bleu in (1.0, 2.0, 7.0, 6.0))),
        },
        "d/nmt": {"1": write_log(layout, "nmt", 1, {"perplexity": 8.0}, {"perplexity": 6.0}, {"perplexity": 7.0})},
    }
    names = {"base": [1, 2], "nmt": [1], "made_elsewhere": [1]}
    cells = [{"row": system, "column": "", "runs": f"d/{system}"} for system in names]
    cells.append({"row": "late", "column": "", "reason": "not trained yet"})
    table = planned("curves", cells, seeds=names, more={"logs": logs, "beams": {"d": [1]}})
    content = curves_content(table, layout)
    bleu, perplexity, _ = content.blocks
    without = "its validations compute no BLEU"
    assert shown(bleu) == [
        ["base", "d", "2", "6.00 ± 1.41", "25 ± 7", "4.50 ± 2.12", "40 ± 0"],
        ["nmt", "d", "", *[f"({without})"] * 4],
        ["made_elsewhere", "d", "", *[f"({NO_LOG})"] * 4],
        ["late", "d", "", *["(not trained yet)"] * 4],
    ]
    assert unlinked(content.blocks) == []
    assert shown(perplexity)[1] == ["nmt", "d", "1", "6.00", "20", "7.00", "30"]
    draw_curves(content.data, tmp_path / "curves.svg", title="Figure 1: curves. Scale quick.")
    svg = (tmp_path / "curves.svg").read_text()
    for text in ("dev BLEU in validation, greedy search", "dev perplexity", "base", "nmt"):
        assert f">{text}<" in svg


def test_missing_seeds_and_the_provenance_are_named(layout):
    cells = [{"row": "base", "column": "", "runs": "d/base"}]
    table = planned("curves", cells, seeds={"base": [1]}, of_runs=RUNS, more={"logs": {}, "beams": {}})
    assert curves_content(table, layout).blocks[-1] == about_runs("base")


def test_a_figure_without_runs_says_so(layout, tmp_path):
    cells = [{"row": "late", "column": "", "reason": "not trained yet"}]
    content = curves_content(planned("curves", cells, more={"logs": {}, "beams": {}}), layout)
    assert shown(content.blocks[0]) == [["late", "d", "", *["(not trained yet)"] * 4]]
    draw_curves(content.data, tmp_path / "curves.svg", title="Figure 1")
    assert "No run of these systems is finished." in (tmp_path / "curves.svg").read_text()


def test_the_best_of_equal_scores_is_the_first():
    assert best_point([(1, 2.0), (2, 3.0), (3, 3.0)], "bleu") == (2, 3.0)
    assert best_point([(1, 2.0), (2, 1.5), (3, 1.5)], "perplexity") == (2, 1.5)
