"""Labels that authors print: in every format that people read and in figures, while the CSV keeps the names."""

import json

import pytest
from tables.planned import planned, scored
from tables.runs import Results

from nmtcore.config.typed import plain
from nmtcore.tables.make import draw_figure, table_blocks, write_table
from nmtcore.tables.query import read_frame
from nmtcore.tables.render import blocks_html, printed, printing

LINES = ["the red dog sees a cat", "an old tree stands in the town", "she sees it"]
LABELS = {"base": "Transformer", "base_light": "+ parser head & $x_1$", "real/test": "En→De", "real": "WMT"}


def table(folder, column="real/test/bleu"):
    cells = [{"row": name, "column": column, **scored(folder.layout, name, (1, 2))} for name in ("base", "base_light")]
    seeds = {"base": [1, 2], "base_light": [1, 2]}
    return planned("differences", cells, seeds=seeds, baselines=("base",), labels=LABELS)


@pytest.fixture
def folder(tmp_path):
    lines = [[line.replace("sees", "saw"), line] for line in LINES]
    first, second = zip(*lines, strict=True)
    return Results(tmp_path, LINES, LINES).write_runs({"base": [first, second], "base_light": [second, second]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Differences from base.", "Differences from Transformer."),
        ("base, base_light (added)", "Transformer, + parser head & $x_1$ (added)"),
        ("base_lighter, baseline, my_base", "base_lighter, baseline, my_base"),
        ("real/test/bleu; real test; chrF of real/test", "En→De, BLEU; En→De; chrF of En→De"),
        ("on real, real train", "on WMT, WMT train"),
        ("`snakemake results/real/base.bleu --config systems=base`",) * 2,
    ],
)
def test_names_that_stand_alone_are_replaced(folder, text, expected):
    with printing(table(folder)):
        assert printed(text) == expected
    assert printed(text) == text


def test_all_formats_but_csv_print_labels(folder, tmp_path):
    plan = json.loads(json.dumps(plain(table(folder))))
    text = write_table(plan, frame=tmp_path / "t.parquet", table=tmp_path / "t.md")
    draw_figure(tmp_path / "t.parquet", tmp_path / "t.svg")
    latex, figure, csv = ((tmp_path / f"t.{ending}").read_text() for ending in ("tex", "svg", "csv"))
    frame = read_frame(tmp_path / "t.parquet")
    with printing(frame.table):
        html = blocks_html(table_blocks(frame, tmp_path / "t.md"))
    for own, names in {
        text: ["| Transformer |", "| En→De<br>BLEU |", "## Differences from Transformer", "| En→De, BLEU | + parser"],
        latex: [
            "Transformer & ",
            r"En$\rightarrow$De}",
            "Differences from Transformer.",
            r"+ parser head \& \$x\_1\$ &",
        ],
        html: [">Transformer<", "En→De", "Differences from Transformer", "+ parser head &amp; $x_1$"],
        figure: ["+ parser head &amp; $x_1$", "BLEU, En→De: difference from Transformer"],
    }.items():
        assert [name for name in names if name not in own] == []
        assert "base_light" not in own.replace("#d/base_light", "")
    assert "base_light" in csv
    assert not any(label in csv for label in LABELS.values())
