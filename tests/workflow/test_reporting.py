"""The report, on made-up tables, and the tables of docs/findings.md, made by the workflow from findings/results."""

import csv
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from forked import call_forked
from tables.planned import planned

from nmtcore.config.project import Project
from nmtcore.files import write_json, write_text
from nmtcore.tables.plan import all_figures, planned_table, table_frames
from nmtcore.tables.query import Frame, plain_row, write_frame

pytestmark = pytest.mark.needs("Snakemake")


def test_the_tables_of_the_findings_are_made_from_the_files_of_the_runs(root, tmp_path):
    shutil.copytree(root / "findings", tmp_path / "findings")
    german, english = "rehearsal_multi30k_en2de", "rehearsal_multi30k_cs2en"
    tables = {"encoder": german, "recurrent": german, "czech": english}
    figure = "results/figures/findings_encoder.svg"
    made = [*(f"results/tables/findings_{table}.md" for table in tables), figure]
    options = ["-s", str(root / "Snakefile"), "-d", "findings", "--cores", "1", "--allowed-rules"]
    called = call_forked("forking_snakemake", *made, *options, "table", "figure", folder=tmp_path, merged=True)
    assert called.returncode == 0, called.stdout.decode()
    first_section = (root / "docs/findings.md").read_text(encoding="utf-8").partition("\n## ")[0]
    page = [line for line in first_section.splitlines() if line.startswith("| `")]
    rows = 0
    for table, dataset in tables.items():
        text = (tmp_path / f"findings/results/tables/findings_{table}.csv").read_text(encoding="utf-8")
        scores, differences = (
            list(csv.DictReader(part.splitlines()))
            for part in re.findall(r"^paper,.*\n(?:(?!paper,).+\n)+", text, re.M)
        )
        column, rows = f"{dataset}/test/bleu", rows + len(scores)
        gains = {row["system"]: float(row["difference"]) for row in differences if row["column"] == column}
        assert len(gains) == len(scores) - 1
        for row in scores:
            shown = f"| {float(row[column]):.2f} ± {float(row[f'{column}, standard deviation']):.2f} |"
            gain = f"| {gains[row['system']]:+.2f} ±" if row["system"] in gains else ""
            assert [line for line in page if line.startswith(f"| `{row['system']}`") and shown in line and gain in line]
    assert rows == len(page)
    assert (root / "docs/images/findings.svg").read_text() == (tmp_path / "findings" / figure).read_text()


def test_the_report_is_written_from_all_tables(root, empty):
    """From a frame of each of the papers' tables, empty figures, and a ledger without claims."""
    settings = {"scale": "smoke", "unfinished_runs": "leave_out"}
    project = Project([root / "config"], settings)
    tables = {path: Path(path).stem for path in table_frames(project)}
    small = planned("scores", [{"row": "pascal", "column": "bleu", "metric": "bleu", "runs": "demo_en2de/pascal"}])
    rows = [plain_row(small.cells[0]) | {"values": [1.0]}]
    for path, name in tables.items():
        table = planned_table(project, name)
        frame = Frame(replace(small, paper=table.paper, name=table.name, runs=table.runs), rows, [])
        write_frame(frame, empty.folder / path)
    for path in all_figures(project):
        write_text(empty.folder / path, "<svg></svg>")
    write_json(empty.folder / "results/tables/claims.json", [])
    options = [f"{key}={value}" for key, value in settings.items()]
    called = empty.call("--cores", "1", "results/report.html", "--allowed-rules", "report_page", settings=options)
    assert called.code == 0, called.output
    page = (empty.folder / "results/report.html").read_text(encoding="utf-8")
    assert all(f'id="table-{table}"' in page for table in tables.values())
    assert page.count("<svg>") == len(all_figures(project))
