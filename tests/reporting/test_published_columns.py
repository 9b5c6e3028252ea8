"""Tables of sizes and settings, with the published value and ours in every column."""

from collections import Counter
from dataclasses import replace

import pytest
from reporting.planned import planned, shown, unlinked

from nmtcore.annotation.selection import SELECTION_SCHEMA
from nmtcore.config.planned_tables import PlannedColumn
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.parquet import write_rows
from nmtcore.reporting.published_columns import WIDEST, cell_data, divided_by_dataset, published_and_ours
from nmtcore.reporting.table import SeedMean, TableCell, make_table, number_columns, text_columns
from nmtcore.reporting.table_kinds.settings import settings_content
from nmtcore.reporting.table_kinds.sizes import sizes_content
from nmtcore.segmentation.vocabulary import Vocabulary

LAYOUT = Layout()


def sizes(cells, sources):
    content = sizes_content(planned("sizes", cells, more={"sources": sources}), LAYOUT)
    return content, shown(content.blocks[0])


@pytest.fixture
def pairs(tmp_path):
    """Four pairs with 1, 2, 3 and 4 source words, and a selection of the second and the last."""
    rows = [
        {"id": i, "source": "", "target": "", "source_words": ["w"] * (i + 1), "target_words": ["v"], "origin": "c:1"}
        for i in range(4)
    ]
    write_rows(tmp_path / "pairs.parquet", PAIR_SCHEMA, rows)
    write_rows(tmp_path / "kept.parquet", SELECTION_SCHEMA, [{"id": i, "kept": i % 2 == 1} for i in range(4)])
    return {"pairs": str(tmp_path / "pairs.parquet"), "selection": str(tmp_path / "kept.parquet")}


def test_sizes(tmp_path, pairs):
    write_json(tmp_path / "train.json", {"pairs": 9, "kept": 7, "copies": {"kept": 4}})
    Vocabulary.of(["a", "b", "c"]).save(tmp_path / "target.vocab")
    report = {"files": {"report": str(tmp_path / "train.json")}}
    sources = {
        "pairs": report,
        "copied_sentences": report,
        "source_tokens": {"files": pairs, "side": "source"},
        "target_tokens": {"files": pairs | {"selection": None}, "side": "target"},
        "other_subwords": {"files": {"segmentation": str(tmp_path)}, "side": "target"},
        "english_subwords": {"reason": "no English"},
    }
    cells = [{"row": "d", "column": name, "metric": name, "published": 10.0} for name in sources]
    content, rows = sizes(cells, {"d": sources})
    assert unlinked(content.blocks) == []
    assert rows == [["d", "10", "7", "10", "4", "10", "6", "10", "4", "10", "3", "10", "(no English)"]]
    assert [(entry["ours"], entry["reason"]) for entry in content.data][-2:] == [(3, None), (None, "no English")]


def test_types_of_labels(tmp_path):
    path = tmp_path / "labels.json"
    write_json(path, {"ccg": ["<none>", "<unk>", "N", "NP", "S"]})
    source = {"files": {"labels": str(path)}, "labels": "ccg"}
    metrics = ("types", "types_with_specials")
    cells = [{"row": "target.ccg", "column": name, "metric": name, "item": "target.ccg"} for name in metrics]
    content, rows = sizes(cells, {"target.ccg": dict.fromkeys(metrics, source)})
    assert rows == [["target.ccg", "", "3", "", "5"]]
    assert content.blocks[0].columns[0].name == "labels"


def test_a_report_without_the_size_is_refused(tmp_path):
    write_json(tmp_path / "train.json", {"pairs": 9})
    cells = [{"row": "d", "column": "pairs", "metric": "pairs"}]
    with pytest.raises(UserError, match=r"train.json has no 'kept': delete it and run the workflow again"):
        sizes(cells, {"d": {"pairs": {"files": {"report": str(tmp_path / "train.json")}}}})


def wide_table(columns):
    """A table with two columns for each of the paper's."""
    shown_columns = text_columns("system")
    for column in columns:
        shown_columns += number_columns(f"{column.name}, published", f"BLEU of {column.name}")
    row = ["a", *(number for column in columns for number in (float(column.name[-1]), 0.5))]
    return make_table(shown_columns, [row])


def test_a_table_that_is_too_wide_is_divided_by_data_set_without_losing_a_column():
    columns = [PlannedColumn(name=f"d{i % 2}/test/{i}", dataset=f"d{i % 2}") for i in range(10)]
    whole = wide_table(columns)
    assert len(whole.columns) == WIDEST + 1
    blocks = divided_by_dataset(columns, wide_table)
    assert [block.text for block in blocks[::2]] == ["Data set d0:", "Data set d1:"]
    first, second = blocks[1::2]
    assert [column.name for column in first.columns[:3]] == ["system", "test/0, published", "BLEU of test/0"]
    raw = [name for part in (first, second) for column in part.columns[1:] for name in column.raw_names]
    assert sorted(raw) == sorted(name for column in whole.columns[1:] for name in column.raw_names)
    values = [cell.value for part in (first, second) for row in part.rows for cell in row[1:]]
    assert Counter(values) == Counter(cell.value for row in whole.rows for cell in row[1:])
    # What is narrow enough stays one table, as does one whose data set has all columns.
    assert divided_by_dataset(columns[:9], wide_table) == [wide_table(columns[:9])]
    same = [replace(column, dataset="d0") for column in columns]
    assert divided_by_dataset(same, wide_table) == [wide_table(same)]


def test_settings_that_differ_are_marked():
    settings = {"rate": 0.0007, "beta": 0.98, "heads": "sisa scales no heads by parents"}
    published = {"rate": 0.0007, "beta": 0.997, "heads": 4.0}
    cells = [{"row": "sisa", "column": name, "published": published[name]} for name in settings]
    table = planned("settings", cells, more={"settings": {"sisa": settings}}, of_columns={"digits": 4})
    content = settings_content(table, LAYOUT)
    assert shown(content.blocks[0]) == [
        ["sisa", "0.0007", "0.0007", "0.9970", "0.98 ≠", "4.0000", "(sisa scales no heads by parents)"]
    ]
    assert content.blocks[1].text == "1 of the 2 published settings differ here."
    assert not any(cell.origin for row in content.blocks[0].rows for cell in row), "no run has been asked"


def test_hidden_rows_are_left_out_and_means_are_plain_values():
    cells = [{"row": name, "column": "a", "published": 1.5} for name in ("one", "added", "hidden")]
    table = planned("time", cells, rows={"added": {"added": True}, "hidden": {"hidden": True}})
    ours = {(cell.row, "a"): TableCell(SeedMean(2.0, 0.5)) for cell in table.cells}
    shown_table = published_and_ours(table, ours, first="system", content="mean", digits=1)
    assert shown(shown_table) == [["one", "2", "2.0 ± 0.5"], ["added (added)", "2", "2.0 ± 0.5"]]
    assert cell_data(table, ours)[2]["ours"] == {"mean": 2.0, "stdev": 0.5}
