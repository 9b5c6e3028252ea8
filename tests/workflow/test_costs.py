"""A dry run of tables, or of several runs, ends with what they take."""

import re

HEADER = r"^table +runs +finished +above +new +updates +core-hours +annotation core-hours +disk$"
DRY_RUN = "This was a dry-run"


def test_a_dry_run_of_a_table_ends_with_its_costs(empty):
    target, settings = "results/tables/pham2018_table_6_2.md", ["scale=smoke"]
    output = empty.plan(target, settings=settings).output
    _, costs = output.split(DRY_RUN)
    assert re.search(HEADER, costs, re.M)
    (counts,) = re.findall(r"^pham2018_table_6_2 +(\d+) +0 +0 +(\d+) +([\d,]+) ", costs, re.M)
    runs, new, updates = (int(number.replace(",", "")) for number in counts)
    assert runs == new == output.count("rule train_model:")
    assert updates == 260 * runs
    assert "by speeds.yaml: measured" in costs
    assert "core-hours" not in empty.plan(target, "-q", settings=settings).output
    short = empty.plan(target, "-q", "rules", settings=settings).output
    assert re.search(HEADER, short, re.M)
    assert "rule train_model:" not in short


def test_other_plans_have_costs_if_there_are_several_runs(empty):
    assert "core-hours" not in empty.plan("results/smoke/demo_en2de/transformer_base.bleu").output
    assert "core-hours" not in empty.plan("data").output
    several = empty.plan("train", settings=["scale=smoke", "seeds=[1, 2]", "systems=[pascal]", "device=cuda"]).output
    assert re.search(r"^no paper's table +2 +0 +0 +2 +520 ", several, re.M)
    assert "GPU-hours" in several
    assert "assumed: no GPU has been measured" in several


def test_a_broken_file_of_speeds_gives_a_sentence(empty):
    empty.write("speeds", {"cpu": "fast"})
    output = empty.plan("results/tables/pham2018_table_6_2.md", settings=["scale=smoke"]).output
    (line,) = (line for line in output.splitlines() if line.startswith("Costs are not estimated: "))
    assert line.startswith("Costs are not estimated: config/speeds.yaml: cpu: there is no device 'fast' in devices")
    assert DRY_RUN in output
    assert "Traceback" not in output


def test_trees_that_only_score_the_runs_of_a_table_are_counted(empty):
    targets = ["results/tables/tran2018_table_2.md", "results/smoke/demo_en2de/sa_nmt_shared.bleu"]
    table = empty.plan(targets[0], "-q", "rules", settings=["scale=smoke"]).output
    assert re.search(HEADER, table, re.M)
    assert not re.search(r"^no paper's table ", table, re.M)
    scored = empty.plan(*targets, settings=["scale=smoke"]).output
    assert "demo_en2de/annotation/existing/test.source.parquet" in scored
    assert re.search(r"^no paper's table +0 +0 +0 +0 +0 +0 +0\.00 +\S+ MB$", scored, re.M)
