"""A dry run of tables, or of several runs, ends with what they take; test_first_run.py has the simplest."""

import re

import pytest

pytestmark = pytest.mark.needs("Snakemake")

HEADER = r"^table +runs +finished +above +new +updates +core-hours +annotation core-hours +disk$"
TABLE = {"kind": "scores", "rows": ["nmt", "sa_nmt_shared"], "columns": ["demo_en2de/test/bleu"]}
TARGET = "results/tables/own_t.md"


def test_how_much_a_dry_run_says_about_a_table(empty):
    empty.write("tables/own", {"tables": {"t": TABLE}})
    targets, settings = [TARGET, "results/smoke/demo_en2de/sa_nmt_shared.bleu"], ["scale=smoke"]
    table = empty.plan(TARGET, "-q", "rules", settings=settings).output
    assert re.search(HEADER, table, re.M)
    assert re.search(r"^own_t +2 +0 +0 +2 +520 ", table, re.M)
    assert "by speeds.yaml: measured" in table
    assert "rule train_model:" not in table
    assert not re.search(r"^no paper's table ", table, re.M)
    assert "core-hours" not in empty.plan(TARGET, "-q", settings=settings).output
    scored = empty.plan(*targets, settings=settings).output
    assert "demo_en2de/annotation/existing/test.source.parquet" in scored, "trees that only score a run of the table"
    assert re.search(r"^no paper's table +0 +0 +0 +0 +0 +0 +0\.00 +\S+ MB$", scored, re.M)


def test_other_plans_have_costs_if_there_are_several_runs(empty):
    several = empty.plan("train", settings=["scale=smoke", "seeds=[1, 2]", "systems=[pascal]", "device=cuda"]).output
    assert re.search(r"^no paper's table +2 +0 +0 +2 +520 ", several, re.M)
    assert "GPU-hours" in several
    assert "assumed: no GPU has been measured" in several


def test_a_broken_file_of_speeds_gives_a_sentence(empty):
    empty.write("speeds", {"cpu": "fast"})
    output = empty.plan("train", settings=["scale=smoke", "seeds=[1, 2]", "systems=[pascal]"]).output
    (line,) = (line for line in output.splitlines() if line.startswith("Costs are not estimated: "))
    assert line.startswith("Costs are not estimated: config/speeds.yaml: cpu: there is no device 'fast' in devices")
    assert "This was a dry-run" in output
    assert "Traceback" not in output
