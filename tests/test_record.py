"""Records: each value has a line, and each format has an adapter that leaves out what is not computed."""

import json

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
from record import lines_of
from recording.formats import folder_values
from safetensors.numpy import save_file


def test_each_value_has_a_line_that_names_it():
    values = {"table": {"base": {"runs": 2, "bleu": 20.0}, "text": "one\ntwo", "none": None}}
    base = "table / base / bleu: 20.0\ntable / base / runs: 2\n"
    assert "".join(lines_of(values)) == f"{base}table / none: None\ntable / text: one\ntable / text: two\n"


ROWS = {"id": [0, 1], "heads": [[0, 1], None], "norms": [[0.5, 2.0], [4.0]], "tree": [{"head": 1}, {"head": 2}]}
LOSSES = [{"update": i, "loss": 9.0 - i, "tokens_per_second": 1.5} for i in (1, 2, 3)]
LOG = [*LOSSES, {"update": 3, "validation": {"bleu": 2.5}, "seconds": 8}]
TEXTS = {
    "a.json": (
        json.dumps({"kept": 2, "labels": ["x", "y"], "seconds": 3.1, "sizes": [1, 2]}),
        {"kept": 2, "labels": "x\ny", "sizes": {"0": 1, "1": 2}},
    ),
    "a.jsonl": (
        "\n".join(map(json.dumps, LOG)),
        {
            "first": {"update": 1, "loss": 8.0},
            "last": {"update": 3, "loss": 6.0},
            "validation": {"update 3": {"update": 3, "validation": {"bleu": 2.5}}},
        },
    ),
    "a.csv": (
        'scale,system,bleu,"time, seconds"\nsmoke,base,1.5,3\nsmoke,"a, b",,3\n'
        "\nscale,tag,share\nsmoke,N,0.5\nsmoke,N,1\n",
        {
            "smoke | base": {"bleu": 1.5},
            "smoke | a, b": {"bleu": None},
            "smoke | N": {"share": 0.5},
            "smoke | N (row 2)": {"share": 1},
        },
    ),
    "a.vocab": ("x\ny\n", "x\ny\n"),
}
"""A small file of each format that is text, and its values."""


def test_each_format_has_an_adapter(tmp_path):
    for name, (text, _) in TEXTS.items():
        (tmp_path / name).write_text(text)
    parquet.write_table(arrow.table(ROWS), tmp_path / "a.parquet")
    save_file({"weight": np.array([[3.0, 4.0]], dtype=np.float32)}, tmp_path / "a.safetensors")
    values = folder_values(tmp_path, "*")
    columns = values.pop("a.parquet")
    assert values.pop("a.safetensors") == {"weight": {"shape": "[1, 2]", "norm": 5.0}}
    assert values == {name: expected for name, (_, expected) in TEXTS.items()}
    sums = {"sum": 6.5, "norm": 4.5, "largest": 4.0}
    assert columns["norms"] == {"rows": 2, "nulls": 0, "numbers": 3, **sums}
    assert columns.keys() == {"id", "heads", "norms", "tree.head"}
    assert (columns["heads"]["nulls"], columns["heads"]["first"]) == (1, "[0, 1]")
