"""Answers to the reproducibility checklist, from the tables of all runs."""

import json
from pathlib import Path

import pytest
from reporting.recorded_runs import ATTEMPT, SOURCES, names_of, write_log, write_run

from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.checklist import checklist
from nmtcore.reporting.manifest import write_manifest
from nmtcore.reporting.run_index import index_runs


def answers(folder):
    """Return the answers by question."""
    layout = Layout(results=str(folder))
    index_runs(layout, {})
    text = checklist(layout, {"unused": SOURCES})
    blocks = [block.partition("**\n\n") for block in text.split("\n**")[1:]]
    return {
        question: [line[2:] for line in lines.splitlines() if line.startswith("- ")] for question, _, lines in blocks
    }


@pytest.fixture
def results(tmp_path, layout):
    for seed, bleu in ((1, 20.0), (2, 22.0)):
        write_run(layout, "base", seed, bleu=bleu)
    write_run(layout, "old", attempts=[])
    folder = tmp_path / "results/small/d/cut/seed1"
    write_log(folder / "checkpoints/0", [ATTEMPT])
    for file_type, report in {"raw_report": {"pairs": 20, "kept": 19}, "pairs_report": {"kept": 18}}.items():
        write_json(Path(layout.path(file_type, dataset="d", split="train")), report)
    write_json(Path(layout.path("selection_report", dataset="d")), {"kept": 17})
    for run in (("base", 1), ("base", 2), ("old", 1)):
        write_manifest(layout, names_of(*run), SOURCES)
    return tmp_path / "results"


def test_energy_is_marked_as_shared(tmp_path, layout):
    write_run(layout, attempts=[ATTEMPT | {"device": {"name": "A card", "gpus": 1, "jobs_on_gpu": 8}}])
    (cost,) = answers(tmp_path / "results")["How long did training take, and how much energy?"]
    assert cost.endswith(", 1 kWh of the GPUs, which up to 8 jobs shared")


def test_questions_are_answered_from_the_manifests(results):
    by_question = answers(results)
    assert len(by_question) == 16
    assert by_question["How many runs were trained and evaluated?"] == [
        "base on d (scale small): 2 runs (seeds 1, 2)",
        "cut on d (scale small): 1 run (seeds 1), 1 interrupted",
        "old on d (scale small): 1 run (seeds 1)",
    ]
    scores = by_question["What are mean and spread of the results (over seeds)?"]
    base = "base on d (scale small): test BLEU 21.0 ± 1.4, chrF 41.0 ± 1.4; dev BLEU 22.0 ± 1.4, chrF 41.0 ± 1.4"
    old = "old on d (scale small): test BLEU 20.0, chrF 40.0; dev BLEU 21.0, chrF 40.0; spread unknown with one seed"
    assert scores == [base, "cut on d (scale small): not recorded", old]
    assert by_question["On which hardware?"] == ["A processor, 2 threads", "the device of 1 run was not recorded"]
    cost = by_question["How long did training take, and how much energy?"]
    assert cost[0].endswith("0.1 minutes per run on average, 20 target tokens per second, 1 kWh of the GPUs")
    assert cost[2].endswith("energy not recorded")
    code = by_question["Which code, and which versions of other packages?"]
    assert "trained with torch 2.0" in code
    recorded = "commit c0ffee, SHA-256 of the sources 50ce5, of requirements.lock 10cc"
    assert f"trained with nmtcore 0.1.0, {recorded}" in code
    assert by_question["How many parameters does each model have?"][0] == "base on d (scale small): 17"
    assert by_question["Which languages?"] == ["d: en to de"]
    sizes = by_question["How large are its splits, and how much did reading, filters and selection leave?"]
    assert sizes == ["d: train: 20 lines, 19 read, 18 left after the filters, 17 left after selection"]
    links = by_question["Where can the data be obtained, and under which licence?"]
    assert links[0] == "d: news, licence: CC BY 4.0; https://example.org/a.gz (SHA-256 not recorded)"
    assert len(links) == 3
    assert by_question["Which measures, and how were they computed?"] == ["BLEU: `nrefs:1`", "chrF: `nc:6`"]


def test_heads_say_what_they_are_compared_with(results):
    path = results / "small/d/base/seed1/scores.json"
    scores = json.loads(path.read_text())
    path.write_text(json.dumps({**scores, "uas": {"test": {"argmax": {"uas": 96.6, "sentences": 2}}}}))
    *_, last = answers(results)["What are mean and spread of the results (over seeds)?"]
    assert last.startswith("UAS: ")
    assert "(for a diagonalparse system: with the previous word)" in last


def test_a_run_of_which_nothing_else_is_known_is_answered(tmp_path):
    write_log(tmp_path / "small/d/a/seed1/checkpoints/0", None)
    by_question = answers(tmp_path)
    assert by_question["Which languages?"] == ["not recorded"]
    assert by_question["How many parameters does each model have?"] == ["a on d (scale small): not recorded"]
    assert answers(tmp_path / "empty")["On which hardware?"] == ["not recorded"]
