"""Tables of scores of a paper: scores equal sacreBLEU's, each cell depends on its own runs, claims are judged."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from reporting.planned import unlinked
from reporting.runs import EVALUATION, Results, write_comet_scores, write_translations
from sacrebleu import corpus_bleu
from sacrebleu.metrics import BLEU, CHRF

from nmtcore.config.claims import Claim, ClaimedGain, TrainedSystem, claim_to_json
from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.paper_tables import ATTACHMENT_MEASURES, SEGMENT_MEASURES, TRANSLATION_MEASURES
from nmtcore.config.planned_tables import (
    PlannedCell,
    PlannedClaim,
    PlannedColumn,
    PlannedMinus,
    PlannedRow,
    PlannedRuns,
    PlannedTable,
)
from nmtcore.config.typed import build, plain
from nmtcore.evaluation.compare import (
    OTHER_SEED,
    SEED,
    bootstrap_weights,
    compare_systems,
    difference_of,
    holm,
    sampled_scores,
    signed_sum,
)
from nmtcore.evaluation.counts import SentenceCounts, share_of_counts
from nmtcore.evaluation.metrics import METRICS
from nmtcore.reporting.claims_page import claimed_text, claims_page
from nmtcore.reporting.measurements import ATTACHMENT
from nmtcore.reporting.measurements import SEGMENT_MEASURES as OF_SEGMENTS
from nmtcore.reporting.page_json import blocks_from_json, blocks_to_json
from nmtcore.reporting.paper_table import write_claims, write_paper_page, write_paper_table
from nmtcore.reporting.table import Heading, Items, Paragraph, Table
from nmtcore.reporting.table_content import judged_from_json, judged_to_json

REFERENCES = [f"the {colour} dog sees a {noun} near the {place}" for colour in ("red", "old", "big")
              for noun in ("cat", "house", "child") for place in ("river", "old tree", "town")]  # fmt: skip
GOOD = [line.replace("near", "at") for line in REFERENCES]
BETTER = [line if i % 3 else line.replace("sees", "saw") for i, line in enumerate(REFERENCES)]
BAD = [" ".join(reversed(line.split())) for line in REFERENCES]
SYSTEMS = {"base": [BAD, GOOD], "new": [BETTER, GOOD], "control": [GOOD]}
COLUMN = "real/test/bleu"


def claim(system="new", baseline="base", **changes):
    values = {
        "paper": "p2020", "place": "Table 1", "says": "", "system": TrainedSystem(system, "real"),
        "baseline": TrainedSystem(baseline, "real"), "baseline_from_elsewhere": False, "dataset": "real",
        "split": "test", "metric": "bleu", "item": None, "direction": "gain", "difference": 1.5, "level": 0.05,
        "controls": (TrainedSystem("control", "real"),),
    }  # fmt: skip
    return Claim(**(values | changes))


def plan(**changes):
    runs = {f"d/{name}": PlannedRuns(dataset="d", system=name, seeds=tuple(range(1, len(seeds) + 1)))
            for name, seeds in SYSTEMS.items()}  # fmt: skip
    missing = "missing on d has no finished run (unfinished_runs: leave_out)"
    cells = [
        PlannedCell(row=name, column=COLUMN, published=published, marks=marks, system=name, runs=f"d/{name}",
                    dataset="d", split="test", metric="bleu")
        for name, published, marks in (("base", 20.5, ""), ("new", 22.0, "d"), ("control", None, ""))
    ]  # fmt: skip
    cells.append(PlannedCell(row="missing", column=COLUMN, published=21.0, system="missing", dataset="d",
                             split="test", metric="bleu", reason=missing))  # fmt: skip
    cells.append(PlannedCell(row="Other (2019)", column=COLUMN, published=19.0, system="Other (2019)", metric="bleu"))
    claims = (
        PlannedClaim(claim=claim_to_json(claim()), system="d/new", baseline="d/base", controls={"0": "d/control"},
                     dataset="d", split="test"),
        PlannedClaim(claim=claim_to_json(claim("missing")), baseline="d/base", dataset="d", split="test",
                     reason=missing),
    )  # fmt: skip
    rows = ("base", "new", "missing")
    return PlannedTable(
        **{
            "paper": "p2020", "name": "table_1", "table_kind": "scores", "title": "P 2020", "place": "Table 1",
            "description": "Scores", "scale": "quick", "stand_ins": {"real": "d"}, "baselines": ("base",),
            "rows": (*(PlannedRow(name=name) for name in rows), PlannedRow(name="Other (2019)", elsewhere=True),
                     PlannedRow(name="control", added=True)),
            "columns": (PlannedColumn(name=COLUMN, dataset="real", split="test", metric="bleu", digits=1),),
            "cells": tuple(cells), "runs": runs, "evaluation": {"d": EVALUATION}, "claims": claims,
            **changes,
        }
    )  # fmt: skip


@pytest.fixture
def results(tmp_path):
    made = Results(tmp_path, REFERENCES, REFERENCES)
    for name, seeds in SYSTEMS.items():
        for seed, lines in enumerate(seeds, start=1):
            made.write_run(name, seed, lines)
    return made


def write(results, folder: Path, table=None):
    """Write a table, and return its Markdown and its JSON."""
    files = {"json": folder / "t.json", "table": folder / "t.md"}
    text = write_paper_table(json.loads(json.dumps(plain(table or plan()))), layout=results.layout, **files)
    return text, json.loads(files["json"].read_text(encoding="utf-8"))


def comparison_of(content, runs, measure):
    (comparison,) = [c for c in content["data"]["comparisons"] if (c["runs"], c["measure"]) == (runs, measure)]
    return comparison


def test_scores_and_differences_are_sacrebleus(results, tmp_path):
    text, content = write(results, tmp_path)
    scores = {entry["row"]: entry["scores"] for entry in content["data"]["scores"]}
    for name, seeds in SYSTEMS.items():
        expected = [corpus_bleu(lines, [REFERENCES], tokenize="none").score for lines in seeds]
        assert scores[name] == pytest.approx(expected, abs=1e-9)
    comparison = content["data"]["comparisons"][0]
    assert comparison["measure"] == "bleu"
    assert comparison["places"] == [{"column": COLUMN, "row": "new", "baseline": "base", "published": 1.5}]
    expected = sum(scores["new"]) / 2 - sum(scores["base"]) / 2
    assert comparison["result"]["delta"] == pytest.approx(expected)
    assert (comparison["runs"], comparison["baseline_runs"]) == ("d/new", "d/base")
    blocks = blocks_from_json(content["blocks"])
    assert unlinked(blocks) == []
    details = [block for block in blocks if isinstance(block, Table)][1]
    baseline = [column.name for column in details.columns].index("baseline")
    assert {row[baseline].origin for row in details.rows} == {"d/base"}
    assert {cell.origin for row in details.rows for cell in row[-5:]} == {"d/new", "d/control"}
    chrf = comparison_of(content, "d/control", "chrf")
    whole = [CHRF().corpus_score(lines, [REFERENCES]).score for lines in (GOOD, BAD, GOOD)]
    assert chrf["result"]["delta"] == pytest.approx(whole[0] - (whole[1] + whole[2]) / 2)
    assert text.startswith("## Table 1: Scores\n\nScale quick; data sets that stand in for the paper's: d for real.\n")


def test_p_values_are_corrected_over_the_comparisons_by_the_same_measure(results, tmp_path):
    comparisons = write(results, tmp_path)[1]["data"]["comparisons"]
    measures = [comparison["measure"] for comparison in comparisons]
    assert (measures.count("bleu"), measures.count("chrf")) == (2, 2)
    for measure in ("bleu", "chrf"):
        own = [comparison for comparison in comparisons if comparison["measure"] == measure]
        corrected = holm({comparison["runs"]: comparison["result"]["p"] for comparison in own})
        assert {comparison["runs"]: comparison["holm"] for comparison in own} == pytest.approx(corrected)


def with_column(table, name, *, dataset="real", metric="bleu", published=None):
    """Add a column to a plan that has the runs of the first one, and other published scores."""
    column = replace(table.columns[0], name=name, dataset=dataset, metric=metric)
    cells = [
        replace(cell, column=name, metric=metric, published=(published or {}).get(cell.row), marks="")
        for cell in table.cells
    ]
    return replace(table, columns=(*table.columns, column), cells=(*table.cells, *cells))


def details(text):
    """Return the rows of the table of differences in a page's Markdown."""
    lines = text.split("Differences from the baselines")[1].splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][2:]


def test_a_column_of_chrf_is_not_compared_again(results, tmp_path):
    """chrF is added to each column of BLEU; where the table has it, that is the same comparison."""
    alone = write(results, tmp_path)[1]["data"]["comparisons"]
    table = with_column(plan(), "real/test/chrf", metric="chrf", published={"base": 50.0, "new": 49.5})
    text, content = write(results, tmp_path, table)
    compared = content["data"]["comparisons"]
    assert [(c["runs"], c["measure"], c["result"], c["holm"]) for c in compared] == [
        (c["runs"], c["measure"], c["result"], c["holm"]) for c in alone
    ]
    assert [(row[:3], row[5]) for row in details(text)] == [
        ([COLUMN, "BLEU", "new"], "+1.50"),
        ([COLUMN, "BLEU", "control"], ""),
        (["real/test/chrf", "chrF", "new"], "-0.50"),
        (["real/test/chrf", "chrF", "control"], ""),
    ]


def test_columns_that_one_stand_in_serves_are_compared_once(results, tmp_path):
    alone = write(results, tmp_path)[1]["data"]["comparisons"]
    table = with_column(plan(), "other/test/bleu", dataset="other", published={"base": 20.0, "new": 19.7})
    text, content = write(results, tmp_path, table)
    compared = content["data"]["comparisons"]
    assert [(c["runs"], c["measure"], c["holm"]) for c in compared] == [
        (c["runs"], c["measure"], c["holm"]) for c in alone
    ]
    both = f"{COLUMN}, other/test/bleu"
    assert [row[:3] for row in details(text)] == [
        [both, measure, row] for measure in ("BLEU", "chrF") for row in ("new", "control")
    ]
    assert f"+1.50 in {COLUMN}, -0.30 in other/test/bleu" in text
    same = with_column(plan(), "other/test/bleu", dataset="other", published={"base": 10.0, "new": 11.5})
    assert details(write(results, tmp_path, same)[0])[0][5] == "+1.50"


def worse(lines, every, shift=0):
    """Reverse the words of some lines."""
    return [" ".join(reversed(line.split())) if i % every == shift else line for i, line in enumerate(lines)]


MARKED = {
    "low": [worse(GOOD, 4, shift) for shift in (0, 1, 2)],
    "little": [worse(GOOD, 6, shift) for shift in (0, 1, 2)],
    "worst": [worse(GOOD, 2, shift) for shift in (0, 1, 0)],
    "high": [worse(REFERENCES, 13, shift) for shift in (0, 1, 2)],
    "mixed": [worse(GOOD, 2), worse(GOOD, 4, 3), worse(REFERENCES, 13)],
    "single": [REFERENCES],
}


@pytest.mark.parametrize(
    ("baselines", "marks"),
    [
        (("low", "worst"), {"little": "dV", "worst": "X", "high": "DV"}),
        (("high", "little"), {"low": "Xy", "little": "X", "worst": "XY"}),
        (("single",), {}),
    ],
)
def test_marks_are_those_of_the_joint_interval(tmp_path, baselines, marks):
    """`mixed` loses much, nothing and gains much, beside `low`: neither is a mark. With one seed there is none."""
    made = Results(tmp_path, REFERENCES, REFERENCES)
    first = plan()
    for name, seeds in MARKED.items():
        for seed, lines in enumerate(seeds, start=1):
            made.write_run(name, seed, lines)
    runs = {f"d/{name}": PlannedRuns(dataset="d", system=name, seeds=tuple(range(1, len(seeds) + 1)))
            for name, seeds in MARKED.items()}  # fmt: skip
    cells = tuple(PlannedCell(row=name, column=COLUMN, system=name, runs=f"d/{name}", dataset="d", split="test",
                              metric="bleu") for name in MARKED)  # fmt: skip
    rows = tuple(PlannedRow(name=name) for name in MARKED)
    table = replace(first, baselines=baselines, rows=rows, cells=cells, runs=runs, claims=())
    text, content = write(made, tmp_path, table)
    rows = [line.strip("| ").split(" | ") for line in text.split("Differences")[0].splitlines()]
    scores = {row[0]: row[1:3] for row in rows if row[0] in MARKED}
    assert {name: score[-1] for name, score in scores.items() if score[-1].isalpha()} == marks
    assert scores.keys() == MARKED.keys()
    for comparison in content["data"]["comparisons"]:
        low, high = comparison["result"]["interval"]
        assert (comparison["result"]["p"] < 0.05) == (not low <= 0 <= high)


def test_the_table_has_published_numbers_ours_marks_and_reasons(results, tmp_path):
    text, _ = write(results, tmp_path)
    lines, csv = text.splitlines(), (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert lines[4] == f"| system | {COLUMN}, published |  | {COLUMN} | chrF of real/test |"
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in lines if line.startswith("| ")}
    assert "| new | 22.0 | d |" in text
    assert "missing" not in rows
    assert "Not run: 1 of 5 rows; the CSV says why." in text
    assert "missing,21.0,,,,missing on d has no finished run (unfinished_runs: leave_out)" in csv
    assert "| Other (2019) | 19.0 |  |  |  |" in text
    assert rows["control (added)"].startswith("| control (added) |  |  | ")
    assert "One seed (control on d): an interval from one seed leaves training noise out" in text
    assert "BLEU of d, test: nrefs:1|" in text.replace("\\", "")


def test_a_table_without_our_scores_does_not_explain_them(results, tmp_path):
    text, _ = write(results, tmp_path)
    assert "Judges: percentage" in text
    missing = [replace(cell, runs=None, reason=cell.reason or "not run") for cell in plan().cells]
    text, _ = write(results, tmp_path, plan(cells=tuple(missing)))
    paragraphs = text.split("\n\n")
    assert [" ".join(paragraph.split()) for paragraph in paragraphs if "Marks" in paragraph] == [
        "Marks of published scores are the paper's: d and D, p < 0.05 and p < 0.01 against the first baseline; v and V "
        "the same against the second."
    ]
    text, _ = write(results, tmp_path, plan(cells=tuple(replace(cell, marks="") for cell in missing)))
    assert "Marks" not in text
    assert "Not run: all 5 rows" in text


def whole_scores(metric, lines_by_seed):
    return [metric.corpus_score(lines, [REFERENCES]).score for lines in lines_by_seed]


def test_each_test_has_bleu_and_chrf_by_sacrebleu(results, tmp_path):
    """Beside a column of multi-bleu there are both; a measure that a column has is not shown again."""
    text, content = write(results, tmp_path, plan(measures={"bleu": "multi_bleu"}))
    assert f"| {COLUMN}, published |  | {COLUMN} | BLEU of real/test | chrF of real/test |" in text
    more = {entry["row"]: entry["more_scores"] for entry in content["data"]["scores"]}
    for name, seeds in SYSTEMS.items():
        for measure, metric in (("bleu", BLEU(tokenize="none")), ("chrf", CHRF())):
            assert more[name][measure] == pytest.approx(whole_scores(metric, seeds), abs=1e-9)
    assert more["missing"] == {}
    chrf = sum(more["new"]["chrf"]) / 2
    (row,) = [line for line in text.splitlines() if line.startswith("| new | 22.0")]
    assert row.split(" | ")[-1].startswith(f"{chrf:.1f} ± ")
    for label in ("multi-bleu", "BLEU", "chrF"):
        assert f"- {label} of d, test: " in text.replace("\\", "")
    first = plan()
    column = replace(first.columns[0], name="real/test/chrf", metric="chrf")
    cells = [replace(cell, column=column.name, metric="chrf", published=None, marks="") for cell in first.cells]
    text, content = write(results, tmp_path, plan(columns=(*first.columns, column), cells=(*first.cells, *cells)))
    assert text.splitlines()[4] == f"| system | {COLUMN}, published |  | {COLUMN} | real/test/chrf |"
    assert all(not entry["more_scores"] for entry in content["data"]["scores"])


def test_comet_has_the_same_statistics(results, tmp_path):
    """The intervals are those of the stored scores of segments."""
    draw = np.random.default_rng(1)
    segments = {
        name: [draw.random(len(REFERENCES)) + (name == "new") for _ in seeds] for name, seeds in SYSTEMS.items()
    }
    for name, seeds in segments.items():
        for seed, scores in enumerate(seeds, start=1):
            write_comet_scores(results.layout, name, seed, list(scores), REFERENCES)
    first = plan()
    column = replace(first.columns[0], name="real/test/comet", metric="comet")
    cells = tuple(replace(cell, column=column.name, metric="comet") for cell in first.cells)
    own = claim_to_json(claim(metric="comet"))
    claims = (PlannedClaim(claim=own, system="d/new", baseline="d/base", dataset="d", split="test"),)
    table = plan(columns=(column,), cells=cells, claims=claims)
    text, content = write(results, tmp_path, table)
    scores = {entry["row"]: entry["scores"] for entry in content["data"]["scores"]}
    for name, seeds in segments.items():
        assert scores[name] == pytest.approx([100 * own.mean() for own in seeds])
    compared = comparison_of(content, "d/new", "comet")
    counts = {
        name: [
            SentenceCounts(counts_BF=np.stack([own, np.ones(len(own))], axis=1), score=share_of_counts)
            for own in segments[name]
        ]
        for name in ("base", "new")
    }
    expected = compare_systems(counts, baseline="base")["new"].difference
    assert compared["result"]["interval"] == pytest.approx(expected.interval)
    assert content["claims"][0]["answer"] == "upheld"
    assert f"| {column.name} | COMET | new | base |" in text
    assert "COMET of d, test: COMET|model:m." in text.replace("\\", "")
    assert "| BLEU of real/test | chrF of real/test |" in text
    named = replace(plan(measures={"bleu": "comet"}), claims=(replace(claims[0], claim=claim_to_json(claim())),))
    _, mapped = write(results, tmp_path, named)
    assert [entry["scores"] for entry in mapped["data"]["scores"]] == [
        entry["scores"] for entry in content["data"]["scores"]
    ]
    assert mapped["claims"][0]["difference"] == content["claims"][0]["difference"]


def test_scores_that_are_all_zero_have_no_mark(results, tmp_path):
    for system, seed, word in (("base", 1, "x"), ("base", 2, "x"), ("new", 1, "y"), ("new", 2, "y")):
        results.write_run(system, seed, [f"{word} {number}" for number in range(len(REFERENCES))])
    text, content = write(results, tmp_path, plan(measures={"bleu": "multi_bleu"}))
    compared = comparison_of(content, "d/new", "multi_bleu")
    assert (compared["result"]["delta"], compared["result"]["p"]) == (0, 1)
    (row,) = [line for line in text.splitlines() if line.startswith("| new | 22.0")]
    assert "| 0.00 ± 0.00 |" in row


def test_another_translation_changes_the_cells_of_its_run_and_no_others(results, tmp_path):
    before = write(results, tmp_path)[1]["data"]
    results.write_run("new", 2, BAD)
    after = write(results, tmp_path)[1]["data"]
    changed = [a["row"] for a, b in zip(before["scores"], after["scores"], strict=True) if a != b]
    assert changed == ["new"]
    compared = [a["runs"] for a, b in zip(before["comparisons"], after["comparisons"], strict=True)
                if a["result"] != b["result"]]  # fmt: skip
    assert set(compared) == {"d/new"}


def test_mostly_empty_translations_are_named_on_top(results, tmp_path):
    results.write_run("new", 1, [""] * 20 + BETTER[20:])
    text, _ = write(results, tmp_path)
    assert text.splitlines()[4] == "- d/new, seed 1, test: 20 of 27 translations are empty."


def test_claims_are_judged_and_collected(results, tmp_path):
    _, content = write(results, tmp_path)
    first, second = content["claims"]
    assert (first["seeds"], first["baseline_seeds"]) == (2, 2)
    assert first["difference"]["delta"] == pytest.approx(content["data"]["comparisons"][0]["result"]["delta"])
    assert (second["answer"], second["difference"]) == ("not run", None)
    files = {"json": tmp_path / "claims.json", "table": tmp_path / "claims.md"}
    text = write_claims([tmp_path / "t.json"], scale="quick", **files)
    assert "| p2020 | Table 1 | significant gain (p < 0.05) | better | new | real | +1.50 | " in text
    assert text.startswith("Scale quick; data sets that stand in for the papers': d for real.\n")
    assert f"| {first['answer']} | base | no gain to explain | d, test | test | bleu | " in text
    assert " | 2 | 2 | quick |\n" in text
    assert "Not run: 1 of 2 rows; the CSV says why." in text


def test_the_controls_of_an_upheld_claim_are_kept(results, tmp_path):
    (upheld, _) = plan().claims
    claims = [
        replace(upheld, claim=claim_to_json(claim("control")), system="d/good", baseline="d/worse", **controls)
        for controls in (
            {"controls": {"0": "d/good"}}, {"controls": {}, "control_reasons": {"0": "no parser"}},
        )
    ]  # fmt: skip
    table = plan(claims=tuple(claims))
    for system, lines in (("good", GOOD), ("worse", BAD)):
        for seed in (1, 2):
            results.write_run(system, seed, lines)
        table.runs[f"d/{system}"] = PlannedRuns(dataset="d", system=system, seeds=(1, 2))
    _, content = write(results, tmp_path, table)
    assert [(entry["answer"], entry["controls"]) for entry in content["claims"]] == [
        ("upheld", [[["control", "real"], True, ""]]), ("upheld", [[["control", "real"], None, "no parser"]]),
    ]  # fmt: skip
    judged = [judged_from_json(entry) for entry in content["claims"]]
    assert json.loads(json.dumps([judged_to_json(entry) for entry in judged])) == content["claims"]
    assert judged[1].verdict.controls[0].trained == TrainedSystem("control", "real")


def test_at_too_small_a_scale_there_is_no_verdict(results, tmp_path):
    moved = Results(tmp_path / "smoke", REFERENCES, REFERENCES)
    for name, seeds in SYSTEMS.items():
        for seed, lines in enumerate(seeds, start=1):
            write_translations(moved.layout, name, seed, lines, REFERENCES, scale="smoke")
    reason = "the scale smoke is too small for a verdict"
    claims = tuple(replace(own, undecided=reason) for own in plan().claims)
    _, content = write(moved, tmp_path, plan(scale="smoke", claims=claims))
    assert content["claims"][0]["answer"] == "not decided"
    assert content["claims"][0]["reason"] == reason


def test_a_paper_has_all_its_tables_on_one_page(results, tmp_path):
    text, content = write(results, tmp_path)
    page = write_paper_page([tmp_path / "t.json", tmp_path / "t.json"], tmp_path / "p2020.md")
    assert page.startswith("P 2020\n\n## Table 1: Scores\n")
    assert page.count(text.split("\n", 2)[2].rstrip()) == 2
    assert {path.suffix for path in tmp_path.glob("p2020.*")} == {".md", ".csv", ".tex", ".html"}
    blocks = blocks_from_json(content["blocks"])
    assert blocks_to_json(blocks) == content["blocks"]


def test_blocks_survive_json():
    blocks = (Heading("a"), Paragraph("b\n", corpus="<c>"), Items(("d", "e")))
    assert blocks_from_json(json.loads(json.dumps(blocks_to_json(blocks)))) == blocks


def test_runs_with_other_references_are_not_compared(results, tmp_path):
    write_translations(results.layout, "control", 1, GOOD, GOOD)
    with pytest.raises(Exception, match="have different references of test, so that they cannot be compared"):
        write(results, tmp_path)


def test_configuration_knows_all_measures():
    assert tuple(METRICS) == TRANSLATION_MEASURES
    assert tuple(ATTACHMENT) == ATTACHMENT_MEASURES
    assert tuple(OF_SEGMENTS) == SEGMENT_MEASURES


OTHERS = [line.replace("dog", "horse").replace("sees", "hears") for line in reversed(REFERENCES)]
OTHER_SYSTEMS = {"base": [[" ".join(reversed(line.split())) for line in OTHERS], OTHERS],
                 "new": [[line.replace("near", "at") for line in OTHERS], OTHERS]}  # fmt: skip


def write_others(results, references, systems):
    """Write runs on a second data set `e`."""
    for name, seeds in systems.items():
        for seed, lines in enumerate(seeds, start=1):
            write_translations(results.layout, name, seed, lines, references, dataset="e")


def plan_two(**changes):
    """Plan a table with runs on `d` and `e` and a claim about the gains on both; `changes` are those of the claim."""
    first = plan()
    runs = {f"e/{name}": PlannedRuns(dataset="e", system=name, seeds=(1, 2)) for name in OTHER_SYSTEMS}
    trained = [TrainedSystem(name, "theirs") for name in ("new", "base")]
    own = claim(says="More", level=None, minus=ClaimedGain(*trained, "theirs", "test"))
    values = {
        "claim": claim_to_json(own), "system": "d/new", "baseline": "d/base", "dataset": "d", "split": "test",
        "minus": PlannedMinus(system="e/new", baseline="e/base", dataset="e", split="test"),
        "control_reasons": {"0": "no control"},
    }  # fmt: skip
    claims = (PlannedClaim(**{**values, **changes}),)
    evaluation = {"d": EVALUATION, "e": EVALUATION}
    return replace(first, runs={**first.runs, **runs}, evaluation=evaluation, claims=claims)


def sampled_bleu(translations, references, seed=SEED):
    evaluation = build(EvaluationSettings, EVALUATION, where="test")
    counted = [METRICS["bleu"].count(lines, references, evaluation) for lines in translations]
    return sampled_scores(counted, bootstrap_weights(len(references), seed=seed))


@pytest.mark.parametrize("same_test", [True, False])
def test_a_claim_about_two_gains_pairs_the_same_sentences_alone(results, tmp_path, same_test):
    references, systems = (REFERENCES, {"base": [GOOD, BAD], "new": [GOOD, BETTER]}) if same_test else (
        OTHERS, OTHER_SYSTEMS
    )  # fmt: skip
    write_others(results, references, systems)
    _, content = write(results, tmp_path, plan_two())
    (judged,) = content["claims"]
    seed = SEED if same_test else OTHER_SEED
    expected = signed_sum(
        (1, sampled_bleu(SYSTEMS["new"], REFERENCES)),
        (-1, sampled_bleu(SYSTEMS["base"], REFERENCES)),
        (-1, sampled_bleu(systems["new"], references, seed)),
        (1, sampled_bleu(systems["base"], references, seed)),
    )
    assert judged["difference"] == json.loads(json.dumps(asdict(expected)))
    assert (judged["seeds"], judged["baseline_seeds"], judged["minus"]) == (2, 2, [2, 2, "e/new", "e", "test"])
    assert judged["answer"] != "not run"


def test_a_claim_about_two_gains_on_one_test_shares_the_baseline(results, tmp_path):
    """The gain of `new` minus that of `control` over the same baseline is the difference between the two."""
    minus = PlannedMinus(system="d/control", baseline="d/base", dataset="d", split="test")
    _, content = write(results, tmp_path, plan_two(minus=minus))
    expected = difference_of(sampled_bleu(SYSTEMS["new"], REFERENCES), sampled_bleu(SYSTEMS["control"], REFERENCES))
    ours = content["claims"][0]["difference"]
    assert ours["delta"] == pytest.approx(expected.delta)
    assert ours["interval"] == pytest.approx(expected.interval)


def test_systems_trained_on_two_data_sets_are_compared_on_the_same_test(results, tmp_path):
    across = {
        "claim": claim_to_json(claim(baseline="new", says="Data", level=None)._replace(
            baseline=TrainedSystem("new", "theirs"))),
        "baseline": "e/new", "minus": None,
    }  # fmt: skip
    write_others(results, REFERENCES, {"base": [GOOD, BAD], "new": [BAD, BAD]})
    _, content = write(results, tmp_path, plan_two(**across))
    expected = difference_of(sampled_bleu(SYSTEMS["new"], REFERENCES), sampled_bleu([BAD, BAD], REFERENCES))
    assert content["claims"][0]["difference"]["interval"] == pytest.approx(expected.interval)
    write_others(results, OTHERS, OTHER_SYSTEMS)
    _, content = write(results, tmp_path, plan_two(**across))
    assert content["claims"][0]["reason"] == "d/new and e/new are not tested on the same sentences"


def test_the_ledger_names_and_links_both_gains(results, tmp_path):
    write_others(results, OTHERS, OTHER_SYSTEMS)
    write(results, tmp_path, plan_two())
    files = {"json": tmp_path / "claims.json", "table": tmp_path / "claims.md"}
    text = write_claims([tmp_path / "t.json"], scale="quick", **files)
    assert "| More | gains more | new | real |" in text
    assert "| new over base on theirs, test, seeds: 2 and 2 |" in text
    assert "| d, test minus e, test |" in text
    assert text.startswith("Scale quick; data sets that stand in for the papers': d for real, e for theirs.\n")
    judged = judged_from_json(json.loads(files["json"].read_text(encoding="utf-8"))[0])
    (row,) = claims_page([judged], scale="quick").tables[1].rows
    origins = {cell.origin for cell in row}
    assert origins == {"", "d/new", "d/base", "e/new"}
    for direction, words in (("loss", "gains less"), ("no_gain", "gains no more")):
        other = judged._replace(claim=judged.claim._replace(direction=direction))
        (row,) = claims_page([other], scale="quick").tables[1].rows
        assert row[3].value == words
        assert claimed_text(other.claim) == f"{words} than new over base on theirs, test"
