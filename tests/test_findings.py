"""The numbers of docs/findings.md, computed again from the files in findings/results."""

import csv
import re
from functools import cache
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF

from nmtcore.evaluation.compare import SampledScores, compare_systems, difference_of, holm
from nmtcore.evaluation.counts import read_counts
from nmtcore.evaluation.metrics import score_of
from nmtcore.files import read_json, read_lines

ROOT = Path(__file__).resolve().parent.parent
RUNS = ROOT / "findings/results/findings"
GERMAN, CZECH = "rehearsal_multi30k_en2de", "rehearsal_multi30k_cs2en"
TABLES = {
    "English to German": (GERMAN, "transformer_base"),
    "Czech to English": (CZECH, "transformer_base"),
    "English to German, recurrent": (GERMAN, "nmt"),
}
"""First cell of a table of scores → its data set and the system that the others are compared with."""
CONTROLS = [
    (GERMAN, "relative_tree_traversal", "transformer_relative"),
    (GERMAN, "depparse_l1_light", "diagonalparse_l1_light"),
    (CZECH, "tag_attention", "tag_attention_random"),
]
"""Data set, system and control of comparisons beyond the tables."""
ATTENTION = (GERMAN, "sa_nmt_shared", "fa_nmt_shared")
"""Structured and flat attention, compared by multi-bleu alone."""


def shown(number, digits=2):
    return f"{number:.{digits}f}"


def deviating(values, digits):
    """A mean and its standard deviation, as the page shows them."""
    return f"{shown(fmean(values), digits)} ± {shown(stdev(values), digits)}"


def signed(difference):
    low, high = difference.interval
    return f"{difference.delta:+.2f} ± {shown((high - low) / 2)}"


@cache
def page():
    return (ROOT / "docs/findings.md").read_text(encoding="utf-8")


def says(*texts):
    """Return the texts that the page, as one line without bold type, does not have."""
    line = " ".join(page().replace("**", "").split())
    return [text for text in texts if text not in line]


def table(first):
    """Return the rows of the page's table whose first cell is given: dictionaries by the cells of its head."""
    lines = page().splitlines()
    (start,) = (number for number, line in enumerate(lines) if line.startswith(f"| {first} |"))
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[start : lines.index("", start)])
    head, _, *rows = cells
    return [dict(zip(head, row, strict=True)) for row in rows]


def name_of(cell):
    return re.search(r"`(\w+)`", cell)[1]


def systems_of(table_name):
    return [name_of(row[table_name]) for row in table(table_name)]


@cache
def runs(dataset, system):
    return sorted((RUNS / dataset / system).glob("seed*"))


@cache
def empty(run):
    """The captions of the test, from 0, whose translation is empty."""
    return {n for n, line in enumerate(read_lines(run / "hypotheses/test/translations.txt")) if not line.strip()}


@cache
def never_empty():
    """The captions that all runs into German translate."""
    left_out = set().union(*(empty(run) for run in RUNS.glob(f"{GERMAN}/*/seed*")))
    return [n for n in range(1000) if n not in left_out]


@cache
def counts(dataset, system, metric):
    return [read_counts(run / "counts/test.parquet", metric, score_of(metric)) for run in runs(dataset, system)]


@cache
def difference(dataset, system, baseline, metric="bleu", *, selected=False):
    """Compare two systems on the test, or on the captions that no run leaves empty."""
    counted = {name: counts(dataset, name, metric) for name in (system, baseline)}
    if selected:
        counted = {name: [own.rows(never_empty()) for own in seeds] for name, seeds in counted.items()}
    return compare_systems(counted, {system: baseline})[system]


def dev_difference(dataset, *systems):
    """Compare two systems on dev, whose sentences were not kept: by the variance over seeds alone."""
    scores = ([read_json(run / "scores.json")["bleu"]["dev"]["bleu"] for run in runs(dataset, own)] for own in systems)
    return difference_of(*(SampledScores(own, np.zeros((len(own), 2))) for own in scores))


def attachment_of(dataset, system, method):
    """The UAS of each seed on the test; none if the system's scores have none, or if it learns chains, not trees."""
    scores = [read_json(run / "scores.json").get("uas") for run in runs(dataset, system)]
    return [own["test"][method]["uas"] for own in scores if own and "spanning_tree" in own["test"]]


def gold_scores(system, treebank, measure):
    """A score of each seed on a treebank, by its stored counts."""
    files = (run / f"gold_counts/gold_{treebank}_english.parquet" for run in runs(GERMAN, system))
    return [read_counts(file, measure).corpus_score() for file in files]


def comparisons(dataset, baseline, systems, metric):
    """Return the differences of the other systems from one of them, by all that names a comparison."""
    others = (own for own in systems if own != baseline)
    return {(dataset, own, baseline, metric): difference(dataset, own, baseline, metric) for own in others}


def all_comparisons():
    """The 27 comparisons that the page corrects together."""
    result = {(*ATTENTION, "multi_bleu"): difference(*ATTENTION, "multi_bleu")}
    for metric in ("bleu", "chrf"):
        for name, (dataset, baseline) in TABLES.items():
            result |= comparisons(dataset, baseline, systems_of(name), metric)
        for dataset, system, control in CONTROLS:
            result |= comparisons(dataset, control, [system], metric)
    return result


@pytest.mark.parametrize("name", TABLES)
def test_each_row_of_a_table_of_scores_is_computed(name):
    dataset, baseline = TABLES[name]
    systems = systems_of(name)
    compared = comparisons(dataset, baseline, systems, "bleu")
    corrected = holm({key: own.p for key, own in compared.items()})
    for system, row in zip(systems, table(name), strict=True):
        scores = [read_json(run / "scores.json")["bleu"]["test"] for run in runs(dataset, system)]
        key = dataset, system, baseline, "bleu"
        expected = {
            "BLEU": deviating([own["bleu"] for own in scores], 2),
            "length": shown(fmean(own["length_ratio"] for own in scores)),
            "empty": shown(fmean(len(empty(run)) for run in runs(dataset, system)), 1),
            "chrF": deviating([own["chrf"] for own in scores], 1),
            "BLEU, difference": signed(compared[key]) if key in compared else "",
            "p (Holm)": shown(corrected[key], 3) if key in compared else "",
        }
        for column, method in {"UAS of the head": "argmax", "UAS of induced trees": "spanning_tree"}.items():
            if column in row:
                values = attachment_of(dataset, system, method)
                expected[column] = deviating(values, 1) if values else ""
        assert {name: row[name], **expected} == row


def test_the_gains_that_hold_when_all_comparisons_are_corrected_are_those_that_the_page_names():
    compared = all_comparisons()
    assert len(compared) == 27
    corrected = holm({key: own.p for key, own in compared.items()})
    german = {key[1:]: p for key, p in corrected.items() if key[0] == GERMAN}
    positions, both = (
        {metric: german[system, "transformer_base", metric] for metric in ("bleu", "chrf")}
        for system in ("transformer_relative", "relative_tree_traversal")
    )
    assert sorted(p for p in corrected.values() if p < 0.05) == sorted([positions["chrf"], *both.values()])
    tree = german["relative_tree_traversal", "transformer_relative", "chrf"]
    others = [(GERMAN, own, "transformer_base", "chrf") for own in ("sennrich_haddow", "depparse_l1_light")]
    assert all(compared[key].interval[0] > 0 for key in others)
    before = [signed(compared[key])[1:] for key in others]
    missing = says(
        "all 27 comparisons of the tables and their controls (13 by BLEU and by chrF, one by multi-bleu), three gains",
        f"relative positions in chrF ({shown(positions['chrf'], 3)[1:]})",
        f"Relative positions have {shown(positions['bleu'], 3)[1:]} in BLEU",
        f"gain in chrF ({', '.join(before)}) only before it",
        f"with p = {shown(tree, 3)[1:]} among all comparisons of the test",
    )
    assert not missing


def test_each_difference_on_other_captions_is_computed():
    rows = table("system")
    assert len(rows) == 9
    for row in rows:
        compared = GERMAN, name_of(row["system"]), name_of(row["compared with"])
        assert row["test"] == signed(difference(*compared)), row
        assert row[f"its {len(never_empty())} captions"] == signed(difference(*compared, selected=True)), row
        assert row["dev"] == signed(dev_difference(*compared)), row
    numbers = [len(empty(run)) for run in RUNS.glob(f"{GERMAN}/*/seed*")]
    assert not any(empty(run) for run in RUNS.glob(f"{CZECH}/*/seed*"))
    gains = [signed(difference(*CONTROLS[0], "chrf", selected=selected))[1:] for selected in (False, True)]
    missing = says(
        f"left {min(numbers)} to {max(numbers)} captions empty",
        f"on the {len(never_empty())} captions that no run leaves empty",
        f"In chrF the tree gains {gains[0]} (on the {len(never_empty())} captions {gains[1]})",
    )
    assert not missing


def test_heads_of_treebanks_are_computed():
    rows = {name_of(row["heads that are right, %"]): row for row in table("heads that are right, %")[1:]}
    assert list(rows) == ["depparse_l1_light", "fa_nmt_shared", "sa_nmt_shared"]
    for system, row in rows.items():
        for treebank in ("pud", "ewt"):
            assert row[treebank.upper()] == deviating(gold_scores(system, treebank, "uas"), 1)


def half_width(row):
    return (float(row["ours, high"]) - float(row["ours, low"])) / 2


def test_the_claims_of_the_findings_are_those_of_the_ledger():
    text = (ROOT / "findings/claims.csv").read_text(encoding="utf-8")
    papers, _, rows = (list(csv.DictReader(part.splitlines())) for part in text.split("\n\n"))
    assert sum(int(row["comparisons"]) for row in papers) == 20, "twenty comparisons, says the page"
    pham = [row for row in rows if row["place"] == "Table 6.1"]
    assert len(pham) == 3
    for row in pham:
        cells = (
            f"| {float(row['published']):+.2f} | {float(row['ours']):+.2f} ± {half_width(row):.2f} | {row['verdict']}"
        )
        assert cells in page()
    over_transformer = [row for row in rows if "pascal" in row["system"] and row["baseline"] == "transformer_base"]
    (high,) = {row["ours, high"] for row in over_transformer if not row["subset"]}
    assert not says(f"Pascal's gain over the transformer ends at {shown(float(high))[1:]}, below")
    contradicted = [row for row in rows if row["verdict"] == "contradicted"]
    assert [row["baseline"] for row in contradicted] == ["transformer_base", "left", "right"]
    slower, *branching = contradicted
    assert f"{-float(slower['ours']):.2f} ± {half_width(slower):.2f} BLEU" in page()
    for row in branching:
        assert f"{-float(row['ours']):.1f} ± {half_width(row):.1f} points" in page()
        assert f"by {float(row['published']):.1f}" in page()


def test_the_stored_scores_and_counts_are_those_of_sacrebleu():
    stored = sorted(RUNS.glob("*/*/seed*"))
    assert len(stored) == 41
    for run in stored[::5]:
        translations = read_lines(run / "hypotheses/test/translations.txt")
        references = [read_lines(run / "hypotheses/test/references.txt")]
        scores = read_json(run / "scores.json")["bleu"]["test"]
        for name, metric in {"bleu": BLEU(), "chrf": CHRF()}.items():
            score = metric.corpus_score(translations, references).score
            assert scores[name] == pytest.approx(score, abs=1e-9)
            counted = read_counts(run / "counts/test.parquet", name, score_of(name))
            assert counted.corpus_score() == pytest.approx(score, abs=1e-9)
