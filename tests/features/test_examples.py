"""Loading examples from valid and invalid feature files."""

import numpy as np
import pyarrow as pa
import pytest
from features.sentences import lists_of

from nmtcore.errors import UserError
from nmtcore.features.examples import load_examples, syntax_schema
from nmtcore.parquet import write_rows

INTEGERS = pa.list_(pa.int32())
SIDE = pa.schema([("id", pa.int64()), ("ids", INTEGERS), ("word_of_subword", INTEGERS)])
SYNTAX = syntax_schema(("trees", "pos_tags", "ccg_tags"))
BOTH = {"source": {"trees": "spacy", "pos_tags": "spacy"}}
SOURCE = [
    {"id": 0, "ids": [7, 8, 9], "word_of_subword": [0, 0, 1]},
    {"id": 4, "ids": [], "word_of_subword": []},
    {"id": 5, "ids": [6], "word_of_subword": [0]},
]
TARGET = [{**row, "ids": [i + 10 for i in row["ids"]]} for row in SOURCE]
GOVERNORS = [[1, -1], [], [-2]]


def syntax_rows(label=3):
    return [
        {"id": row["id"], **{name: [label] * len(g) for name in SYNTAX.names[1:]}, "governor": g}
        | {"parent_position": [0.5] * len(g)}
        for row, g in zip(SOURCE, GOVERNORS, strict=True)
    ]


def write_files(folder):
    write_rows(folder / "dev.source.parquet", SIDE, SOURCE)
    write_rows(folder / "dev.target.parquet", SIDE, TARGET)
    write_rows(folder / "dev.source.spacy.parquet", SYNTAX, syntax_rows(3))
    write_rows(folder / "dev.source.gold.parquet", SYNTAX, syntax_rows(4))
    return folder


@pytest.fixture
def folder(tmp_path):
    return write_files(tmp_path)


def test_both_sides_and_their_features_are_loaded(folder):
    examples = load_examples(folder, "dev", features=BOTH)
    assert examples.id.tolist() == [0, 4, 5]
    assert lists_of(examples.source.ids) == [[7, 8, 9], [], [6]]
    assert lists_of(examples.target.ids) == [[17, 18, 19], [], [16]]
    assert lists_of(examples.source.word_of_subword) == [[0, 0, 1], [], [0]]
    assert lists_of(examples.source.features["governor"]) == GOVERNORS
    assert examples.source.features["parent_position"].values.dtype == np.float32
    assert examples.target.features == {}


@pytest.mark.parametrize(("start", "stop"), [(0, 2), (0, 0), (0, 9), (1, 3), (1, None), (1, 1), (3, 5)])
@pytest.mark.parametrize("group", [1, 2, 10_000])
def test_a_range_of_rows_is_loaded(tmp_path, monkeypatch, start, stop, group):
    monkeypatch.setattr("nmtcore.parquet.ROWS_PER_GROUP", group)
    folder = write_files(tmp_path)
    examples, rows = load_examples(folder, "dev", features=BOTH, start=start, stop=stop), SOURCE[start:stop]
    assert examples.id.tolist() == [row["id"] for row in rows]
    assert lists_of(examples.source.ids) == [row["ids"] for row in rows]
    assert lists_of(examples.source.features["governor"]) == GOVERNORS[start:stop]
    assert lists_of(examples.target.word_of_subword) == [row["word_of_subword"] for row in rows]


def changed(rows, row, **values):
    """Return rows of which one has other values."""
    return [*rows[:row], {**rows[row], **values}, *rows[row + 1 :]]


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        (
            "target",
            changed(TARGET, 1, id=3),
            r"target\.parquet, row 1, has pair 3, but .*, row 1, has pair 4",
        ),
        ("target", TARGET[:2], r"dev\.source\.parquet has 3 rows, but .*dev\.target\.parquet has 2: delete the older"),
        ("source.spacy", changed(syntax_rows(), 2, id=6), "row 2, has pair 6, but .*, row 2, has pair 5"),
        (
            "target",
            [{"id": row["id"], "ids": row["ids"]} for row in TARGET],
            r"target\.parquet is damaged, or from an earlier version .it has no column word_of_subword",
        ),
    ],
)
def test_files_that_do_not_match_are_refused(folder, name, rows, message):
    schema = SYNTAX if name == "source.spacy" else SIDE
    write_rows(folder / f"dev.{name}.parquet", pa.schema([schema.field(column) for column in rows[0]]), rows)
    for start in (0, 1) if "row 2" in message else (0,):  # rows are counted from the first of the file
        with pytest.raises(UserError, match=message):
            load_examples(folder, "dev", features=BOTH, start=start)
