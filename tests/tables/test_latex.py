"""LaTeX of tables: it compiles, and is as wide as a paper."""

import re
import shutil
import subprocess

import pytest
from conftest import skip_unless_ci
from reporting.planned import blocks_of

from nmtcore.config.project import Project
from nmtcore.tables import make
from nmtcore.tables.blocks import (
    Column,
    Estimate,
    Heading,
    Page,
    SeedMean,
    Table,
    TableCell,
    make_table,
    note,
    number_columns,
)
from nmtcore.tables.latex import page_latex
from nmtcore.tables.measures import measure_named
from nmtcore.tables.plan import all_tables, planned_table
from nmtcore.tables.query import WITH_LENGTHS, Results, plain_row

pytestmark = pytest.mark.needs("LaTeX")


def compiled(folder, text):
    """Compile LaTeX as a paper of class article; return what is too wide, and the text of the pages."""
    if shutil.which("pdflatex") is None:
        skip_unless_ci("pdflatex is not installed")
    packages = r"\usepackage[a4paper,margin=2.5cm]{geometry}\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx}"
    paper = rf"\documentclass{{article}}{packages}\extrafloats{{100}}\begin{{document}}{text}\end{{document}}"
    (folder / "paper.tex").write_text(paper, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    answer = subprocess.run(command, cwd=folder, check=False, capture_output=True)
    assert answer.returncode == 0, answer.stdout[-1000:].decode(errors="replace")
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log)]
    printed = subprocess.run(["pdftotext", "-layout", "paper.pdf", "-"], cwd=folder, check=True, capture_output=True)
    return [points for points in wide if points > 5], printed.stdout.decode()


def test_tables_of_any_width_fit_into_a_paper(tmp_path):
    wide = [Column(name=f"{word} {n}", content="mean", digits=2, group=f"data set number {n // 3} of many")
            for n, word in enumerate(["BLEU", "published", "directed precision"] * 6)]  # fmt: skip
    numbers = [SeedMean(99.99, 12.34), 1, TableCell(3, mark="**")] * 6
    texts = [Column(name=f"text {n}", content="corpus") for n in range(7)]
    words = ["transformer_base_pascal_rate_longer", "x" * 64, "a/b/c_d-" * 9, "of many words " * 20, "", "y", "z"]
    estimates = [Column(name="system"), Column(name="Δ", content="difference", digits=1, signed=True)]
    page = Page(title="A paper", blocks=(
        note("50 % of `</s>` & more"),
        Heading("Differences"), make_table(estimates, [["`</s>`", Estimate(-1.2, -2, -0.4)]], notes=("D: p < 0.05.",)),
        Heading("Wide"), make_table([Column(name="system"), *wide], [[f"system_{n}", *numbers] for n in range(40)]),
        Heading("Texts"), make_table([*texts, *number_columns("n")], [[*words, 1]] * 4),
    ))  # fmt: skip
    overfull, text = compiled(tmp_path, page_latex(page))
    assert overfull == []
    assert all(text.count(f"system_{n} ") >= 3 for n in range(40)), "in each part of the table"
    assert all(f"number {n}" in text for n in range(6))


DIFFERENCE = {"delta": -12.34, "low": -23.45, "high": -1.23, "detectable": 15.6, "p": 0.0004, "training_noise": True}


class EveryCell(Results):
    """Results as if each cell of a table were run."""

    def reason(self, cell):
        return ""

    def is_scored(self, cell):
        measure = measure_named(cell.measure)
        return bool(measure and measure.counts)

    def row(self, cell, rows_B=None):
        length = 1.0 if cell.measure in WITH_LENGTHS else None
        return plain_row(cell) | {"values": [12.34, 56.78], "length": length, "reason": ""}

    def have_same_test(self, cell, baseline):
        return True

    def difference(self, cell, baseline, rows_B=None):
        return DIFFERENCE


def test_all_tables_of_the_papers_fit_into_a_paper(root, tmp_path, monkeypatch):
    """Those of numbers, as if all was run; their captions say what came out."""
    monkeypatch.setattr(make, "Results", EveryCell)
    project = Project.load(root / "config")
    pages = []
    for table in (planned_table(project, name) for name in all_tables(project)):
        if table.table_kind == "scores":
            blocks = blocks_of(make.make_frame(table))
            assert any(isinstance(block, Table) for block in blocks)
            pages.append(page_latex(Page(title=table.title, blocks=(make.heading_of(table), *blocks))))
    assert len(pages) > 25
    overfull, text = compiled(tmp_path, "\n\\clearpage\n".join(pages))
    assert overfull == []
    assert "0 are clearly above 0 and 12 clearly below (p < 0.05, Holm)." in " ".join(text.split())
