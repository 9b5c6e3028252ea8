"""The figure and the table of training times of a paper."""

import json

import pytest
from reporting.planned import RUNS, about_runs, planned, shown, unlinked

from nmtcore.files import write_lines
from nmtcore.layout import Layout
from nmtcore.reporting.table_kinds.time import draw_time, time_content

MEMBERS = ("head_1", "head_2")


@pytest.fixture
def logs(tmp_path):
    """Runs of ten updates of 1, 3 (the baseline), 4, 6 and 8 seconds; the second seed of head_2 is missing."""
    seconds = {("base", 1): 1, ("base", 2): 3, ("head_1", 1): 4, ("head_1", 2): 6, ("head_2", 1): 8}
    logs = {}
    for (system, seed), own in seconds.items():
        path = tmp_path / f"{system}.{seed}.jsonl"
        write_lines(path, [json.dumps({"update": 10, "updates": 10, "seconds": 10 * own})])
        logs.setdefault(f"d/{system}", {})[str(seed)] = str(path)
    return logs


def content_of(logs, **more):
    cells = [
        {"row": "base", "published": 1.0, "runs": "d/base"},
        {"row": "heads", "published": 1.5, "system": "heads"},
        {"row": "quoted", "published": 2.0, "system": "quoted"},
        {"row": "late", "reason": "not trained yet"},
        *({"row": member, "runs": f"d/{member}"} for member in MEMBERS),
    ]
    cells = [{"column": "relative_time", **cell} for cell in cells]
    flags = {"heads": {"members": MEMBERS}, **{member: {"hidden": True} for member in MEMBERS}}
    return time_content(planned("time", cells, rows=flags, more={"logs": logs}, **more), Layout())


def test_times_are_relative_to_the_baselines_mean(logs):
    table = content_of(logs, facts={"base_seconds": 3600}).blocks[0]
    mean = "(the mean over 2 systems)"
    assert shown(table) == [
        ["base", "d", "1.00", "1.00 ± 0.71", "2.000 ± 1.414", "10", "", "0", "1 h", "20 s"],
        ["heads, mean of head_1, head_2", "d", "1.50", "3.00", mean, mean, mean, mean, "", mean],
        ["quoted", "d", "2.00", "(quoted is no system of ours)", "", "", "", "", "", ""],
        ["late", "d", "", "(not trained yet)", "", "", "", "", "", ""],
    ]
    assert unlinked([table]) == []
    heads = list(table.rows)[1]
    assert (heads[0].value, heads[3].origin) == ("heads", "d/head_1"), "the first of the runs that the row names"


def test_missing_seeds_and_the_provenance_are_named(logs):
    assert content_of(logs, seeds={"base": [1, 2]}, of_runs=RUNS).blocks[-1] == about_runs("base")


def test_without_a_run_of_the_baseline_nothing_is_relative(logs):
    del logs["d/base"]
    rows = shown(content_of(logs).blocks[0])
    assert rows[1][3] == "(head_1: there is no run of base to compare with)"
    assert rows[0][3].startswith("(")


def test_the_figure_has_a_bar_for_each_number(logs, tmp_path):
    content = content_of(logs)
    draw_time(content.data, tmp_path / "time.svg", title="Figure 1: time")
    svg = (tmp_path / "time.svg").read_text()
    for text in ("published", "here", "heads", "1.50", "3.00", "training time relative to base"):
        assert f">{text}<" in svg
    assert ">late<" not in svg
    assert ">head_1<" not in svg
    empty = content.data | {"cells": []}
    draw_time(empty, tmp_path / "time.svg", title="Figure 1: time")
    assert "no run is finished" in (tmp_path / "time.svg").read_text()
