"""LaTeX of tables: it compiles, and is no wider than a paper."""

import re
import shutil
import subprocess

import pytest
from conftest import skip_unless_ci

from nmtcore.tables.blocks import (
    Column,
    Estimate,
    Heading,
    Page,
    SeedMean,
    TableCell,
    make_table,
    note,
    number_columns,
)
from nmtcore.tables.latex import page_latex

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
        Heading("Wide"), make_table([Column(name="system"), *wide], [[f"system_{n}", *numbers] for n in range(9)]),
        Heading("Texts"), make_table([*texts, *number_columns("n")], [[*words, 1]]),
    ))  # fmt: skip
    overfull, text = compiled(tmp_path, page_latex(page))
    assert overfull == []
    assert all(text.count(f"system_{n} ") >= 3 for n in range(9)), "in each part of the table"
    assert all(f"number {n}" in text for n in range(6))
