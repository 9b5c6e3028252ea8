"""The table of docs/findings.md is that of the runs in findings/results, whose scores are sacreBLEU's."""

import csv
import shutil
import subprocess

import pytest
from sacrebleu.metrics import BLEU, CHRF
from workflow.calling import FORKING

from nmtcore.files import read_json, read_lines

pytestmark = pytest.mark.needs("Snakemake")


def test_the_table_of_the_findings_is_made_from_the_files_of_the_runs(root, tmp_path):
    shutil.copytree(root / "findings", tmp_path / "findings")
    made = ["results/tables/findings_encoder.md", "results/figures/findings_encoder.svg"]
    rules = ["paper_table", "paper_figure"]
    command = [
        *FORKING,
        *made,
        "-s",
        str(root / "Snakefile"),
        "-d",
        "findings",
        "--cores",
        "1",
        "--allowed-rules",
        *rules,
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with open(tmp_path / "findings/results/tables/findings_encoder.csv", encoding="utf-8") as file:
        scores, differences = (list(csv.DictReader(part)) for part in tables(file.read()))
    page = {
        line.split("`")[1]: line for line in (root / "docs/findings.md").read_text().splitlines() if line[:3] == "| `"
    }
    test = "rehearsal_multi30k_en2de/test"
    assert len(page) == len(scores) == 7
    for row in scores:
        spread = float(row[f"{test}/bleu, standard deviation"])
        assert f"| {float(row[f'{test}/bleu']):.2f} ± {spread:.2f} |" in page[row["system"]]
    compared = [row for row in differences if row["column"] == f"{test}/bleu"]
    assert len(compared) == 6
    for row in compared:
        assert f"| {float(row['difference']):+.2f} ±" in page[row["system"]]
    assert (root / "docs/images/findings.svg").read_text() == (tmp_path / "findings" / made[1]).read_text()


def tables(text: str) -> list[list[str]]:
    """Divide a CSV at the lines that begin a table: they have the names of columns."""
    parts: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("paper,"):
            parts.append([])
        parts[-1].append(line)
    return parts


def test_the_scores_of_the_findings_are_those_of_sacrebleu(root):
    runs = sorted((root / "findings/results/findings").glob("*/*/seed*"))
    assert len(runs) >= 15
    for run in runs[::5]:
        translations = read_lines(run / "hypotheses/test/translations.txt")
        references = [read_lines(run / "hypotheses/test/references.txt")]
        scores = read_json(run / "scores.json")["bleu"]["test"]
        assert BLEU().corpus_score(translations, references).score == pytest.approx(scores["bleu"], abs=1e-9)
        assert CHRF().corpus_score(translations, references).score == pytest.approx(scores["chrf"], abs=1e-9)
