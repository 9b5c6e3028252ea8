"""The table of constructions, and its figure."""

import re

import pytest
from evaluation.test_metrics import own_bleu
from reporting.runs import EVALUATION, Results

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import compare_systems
from nmtcore.evaluation.metrics import METRICS
from nmtcore.files import read_json, write_json
from nmtcore.reporting.constructions_figure import difference_points, write_construction_figure
from nmtcore.reporting.constructions_table import write_construction_table

WORDS = ["the cat sees a dog .", "does he see it ?", "a cat and a dog", "he tries to sleep .", "who is it now ?"]
QUESTION, CONJUNCTION = ["S[q]/NP", "NP"], ["NP", "conj", "NP"]
SUPERTAGS = [["NP"], QUESTION, CONJUNCTION, None, QUESTION]
TREES = ["(S (NP (D a)) (VP (V b)))", None, "(NP (D a))", "(S (VP (V b)))", "(SBARQ (WHNP (W c)))"]
NONE = ("prepositional", "control_raising", "relative_subordinate")


@pytest.fixture
def results(tmp_path):
    return Results(tmp_path, [f"source {i}" for i in range(40)], WORDS * 8)


def translate(step, word="xyz"):
    """Replace every `step`-th word of the references."""
    words = [line.split() for line in WORDS * 8]
    return [" ".join(word if (i + k) % step == 0 else w for k, w in enumerate(line)) for i, line in enumerate(words)]


def write_table(tmp_path, results, runs, *annotations, **options):
    outputs = {"json": tmp_path / "c.json", "table": tmp_path / "c.md"}
    settings = {"baseline": "base", "layout": results.layout, "scale": "quick", **outputs, **options}
    text = write_construction_table(runs, tests=results.test(*annotations), **settings)
    assert outputs["table"].read_text() == text
    return text, read_json(outputs["json"])


def test_mostly_empty_translations_are_named_on_top(tmp_path, results):
    runs = [results.write_run(system, 1, lines) for system, lines in (("base", [""] * 40), ("better", translate(9)))]
    text, _ = write_table(tmp_path, results, runs, results.write_annotation("target", "ccg", SUPERTAGS * 8))
    assert text.splitlines()[0] == "- d/base, seed 1, test: 40 of 40 translations are empty."


def test_the_table_has_a_row_per_subset_and_system(tmp_path, results):
    translations = {"base": translate(3), "better": translate(9)}
    runs = [results.write_run(system, 1, lines) for system, lines in translations.items()]
    supertags = results.write_annotation("target", "ccg", SUPERTAGS * 8)
    trees = results.write_annotation("source", "constituency", TREES * 8)
    text, entries = write_table(tmp_path, results, runs, supertags, trees)
    lines = text.splitlines()
    assert lines[0] == "| " + " | ".join(
        ["data set", "test", "subsets by", "subset", "system", "sentences", "", "share, %", "BLEU", "difference",
         "95 % interval"]) + " |"  # fmt: skip
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:] if line.startswith("|")]
    assert [(row[2], row[3], " ".join(filter(None, row[5:7])), row[7]) for row in rows[::2]] == [
        ("", "all sentences", "40", "100.00"),
        ("target supertags", "question", "16 (few)", "40.00"),
        ("target supertags", "conjunction", "8 (few)", "20.00"),
        *(("target supertags", name, "0 (none)", "0.00") for name in NONE),
        ("source phrases", "NP", "16 (few)", "40.00"),
        ("source phrases", "S", "16 (few)", "40.00"),
        ("source phrases", "VP", "16 (few)", "40.00"),
        ("source phrases", "SBARQ", "8 (few)", "20.00"),
        ("source phrases", "WHNP", "8 (few)", "20.00"),
    ]
    assert [row[4] for row in rows] == ["base", "better"] * 11
    assert all(row[9:] == ["", ""] for row in rows[::2])
    assert all(cell == "" for row in rows if row[3] in NONE for cell in row[8:])
    questions = [row for row, tags in enumerate(SUPERTAGS * 8) if tags is QUESTION]
    references = [results.references[row] for row in questions]
    evaluation = build(EvaluationSettings, EVALUATION, where="test")
    own = {n: own_bleu([lines[row] for row in questions], references, evaluation) for n, lines in translations.items()}
    counted = {
        n: [METRICS["bleu"].count([ls[row] for row in questions], references, evaluation)]
        for n, ls in translations.items()
    }
    low, high = compare_systems(counted, baseline="base")["better"].difference.interval
    assert (
        lines[4] == f"| d | test | target supertags | question | base | 16 | (few) | 40.00 | {own['base']:.1f} |  |  |"
    )
    assert lines[5] == (
        f"| d | test | target supertags | question | better | 16 | (few) | 40.00 | {own['better']:.1f} | "
        f"{own['better'] - own['base']:+.2f} | {low:+.2f} to {high:+.2f} |"
    )
    assert entries[2]["bleu"]["values"] == [own["base"]]
    assert (
        "- One seed (all): an interval from one seed leaves training noise out and excludes 0 wrongly in 45 of 100 "
        "simulated pairs of equal systems (seed noise .5, sentence noise .3). Neither it nor its p shows that systems "
        "differ.\n- BLEU on d: nrefs:1|case:mixed|eff:no|tok:none|"
    ) in text
    assert "- d, test: 8 of 40 sentences have no analysis for subsets by target supertags.\n" in text
    assert "- d, test: 8 of 40 sentences have no analysis for subsets by source phrases.\n" in text


def test_seeds_are_averaged(tmp_path, results):
    runs = [
        results.write_run(system, seed, translate(step + seed))
        for system, step in (("base", 2), ("better", 7))
        for seed in (1, 2, 3)
    ]
    text, entries = write_table(tmp_path, results, runs, results.write_annotation("target", "ccg", SUPERTAGS * 8))
    everything = entries[1]
    assert (everything["system"], everything["seeds"]) == ("better", [1, 2, 3])
    assert everything["bleu"]["stdev"] > 0
    assert everything["difference"]["seed_error"] > 0
    assert everything["difference"]["delta"] == pytest.approx(everything["bleu"]["mean"] - entries[0]["bleu"]["mean"])
    assert " ± " in text.splitlines()[2]
    assert "- Seeds 1, 2, 3.\n" in text
    assert "One seed" not in text
    some, _ = write_table(tmp_path, results, runs[:4], results.write_annotation("target", "ccg", SUPERTAGS * 8))
    assert "- Seeds 1, 2, 3.\n- One seed (better on d): an interval from one seed leaves" in some
    alone, _ = write_table(tmp_path, results, runs[:1], results.write_annotation("target", "ccg", SUPERTAGS * 8))
    assert "One seed" not in alone, "nothing is compared"


def test_a_system_or_baseline_that_was_not_run_has_empty_cells_with_a_reason(tmp_path, results):
    runs = [results.write_run(system, 1, translate(step)) for system, step in (("base", 2), ("better", 7))]
    supertags = results.write_annotation("target", "ccg", SUPERTAGS * 8)
    left_out = [("d", "gold", "no treebank to train on")]
    text, entries = write_table(tmp_path, results, runs, supertags, left_out=left_out)
    assert "| d | test |  | all sentences | gold |  |  |  |  |  |  |\n" in text
    assert "- d: gold was not run, since the data set has no treebank to train on.\n" in text
    assert entries[-1]["seeds"] == []
    text, entries = write_table(tmp_path, results, runs, supertags, left_out=left_out, baseline="gold")
    assert all(entry["difference"] is None for entry in entries)
    assert entries[0]["bleu"]["mean"] > 0


def test_a_data_set_without_annotations_is_named(tmp_path, results):
    runs = [results.write_run("base", 1, translate(2))]
    tests = results.test(results.write_annotation("target", "ccg", SUPERTAGS * 8))
    tests["plain"] = {**tests["d"], "annotations": []}
    text = write_construction_table(
        runs, tests=tests, baseline="base", left_out=[("plain", "gold", "no trees")], layout=results.layout,
        scale="quick", json=tmp_path / "c.json", table=tmp_path / "c.md",
    )  # fmt: skip
    assert "- plain: neither supertags of the target side nor constituents to make subsets.\n" in text
    assert {entry["dataset"] for entry in read_json(tmp_path / "c.json")} == {"d"}


@pytest.fixture
def drawn(tmp_path, results):
    """The entries of a table and its figure."""
    runs = [
        results.write_run(system, 1, translate(step)) for system, step in (("base", 2), ("better", 7), ("<b>&amp;", 9))
    ]
    annotations = [
        results.write_annotation("target", "ccg", SUPERTAGS * 8),
        results.write_annotation("target", "constituency", TREES * 8),
    ]
    _, entries = write_table(tmp_path, results, runs[:2], *annotations)
    write_construction_figure(tmp_path / "c.json", figure=tmp_path / "c.svg")
    return entries, (tmp_path / "c.svg").read_text()


def test_the_figure_has_a_point_and_an_interval_per_subset_and_system(drawn):
    entries, svg = drawn
    points = list(difference_points(entries))
    assert [point["subset"] for point in points] == [
        "all sentences: 40 (100.0 %)",
        "question: 16 (40.0 %)",
        "conjunction: 8 (20.0 %)",
        *(f"{name} in the target: 16 (40.0 %)" for name in ("NP", "S", "VP")),
        *(f"{name} in the target: 8 (20.0 %)" for name in ("SBARQ", "WHNP")),
    ]
    assert [point["few"] for point in points] == [False] + [True] * 7
    assert all(point["low"] <= point["difference"] <= point["high"] for point in points)
    texts = re.findall(r"<(?:text|tspan)[^>]*>([^<]+)", svg)
    assert {point["subset"] for point in points} <= set(texts)
    axis = {"BLEU, d, test, scale quick:", "difference from base", "with 95 % interval without training noise"}
    assert {*axis, "hollow: fewer than 30 sentences"} <= set(texts)
    assert "better" in texts
    assert len(svg) < 30_000


def test_a_figure_without_differences_is_refused(tmp_path, drawn):
    entries, _ = drawn
    write_json(tmp_path / "c.json", entries[::2])
    with pytest.raises(UserError, match=r"c.json has no difference from a baseline to draw: add systems"):
        write_construction_figure(tmp_path / "c.json", figure=tmp_path / "other.svg")
    assert not (tmp_path / "other.svg").exists()
