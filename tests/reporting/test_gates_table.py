"""The table of tags with the highest gate norms."""

from evaluation.test_gates import gate_row

from nmtcore.files import read_json
from nmtcore.inference.schemas import GATES_SCHEMA
from nmtcore.layout import Layout
from nmtcore.parquet import write_rows
from nmtcore.reporting.gates_table import write_gate_table

PAIRS = [([0, 1], ["DET", "NOUN"]), ([0, 0], ["VERB"]), ([0], None)]


def write_run(folder, dataset, seed, norms, *, tags=True):
    path = folder / f"results/quick/{dataset}/sa/seed{seed}/gates/test.parquet"
    rows = [
        {"id": i, **gate_row(words, upos if tags else None, row)}
        for i, ((words, upos), row) in enumerate(zip(PAIRS, norms, strict=True))
    ]
    write_rows(path, GATES_SCHEMA, rows)
    return path


def write_table(tmp_path, files):
    layout = Layout(results=tmp_path / "results", scales=("quick",))
    text = write_gate_table(files, layout=layout, json=tmp_path / "gates.json", table=tmp_path / "gates.md")
    assert (tmp_path / "gates.md").read_text() == text
    return text.splitlines(), read_json(tmp_path / "gates.json")


def test_tags_are_sorted_by_the_mean_over_seeds(tmp_path):
    first = write_run(tmp_path, "d", 1, [[2, 1, 0.5], [4, 2, 3], [1, 2]])
    second = write_run(tmp_path, "d", 2, [[2, 3, 0.5], [1, 2, 3], [1, 2]])
    lines, (entry,) = write_table(tmp_path, [first, second])
    assert lines[2:6] == [
        "| d | sa | test | VERB | 1 | 50.00 | 33.33 | 50.00 | 2.250 |  |",
        "| d | sa | test | DET | 0.5 | 25.00 | 33.33 | 25.00 | 2.000 |  |",
        "| d | sa | test | NOUN | 0.5 | 25.00 | 33.33 | 25.00 | 2.000 |  |",
        "| d | sa | test | `</s>` |  |  |  |  | 1.833 | 33.33 |",
    ]
    assert "Scale quick, seeds 1, 2, mean over seeds." in lines[7]
    assert {key: entry[key] for key in ("dataset", "system", "scale", "seeds", "split", "sentences", "tagged")} == {
        "dataset": "d", "system": "sa", "scale": "quick", "seeds": [1, 2], "split": "test", "sentences": 3, "tagged": 2,
    }  # fmt: skip
    assert entry["tags"]["VERB"] == {"highest": 1, "words": 1, "pieces": 2, "norm": 2.25}


def test_a_data_set_without_tags_has_means_alone(tmp_path):
    norms = [[2, 1, 0.5], [4, 2, 3], [1, 2]]
    files = [write_run(tmp_path, "d", 1, norms), write_run(tmp_path, "untagged", 1, norms, tags=False)]
    lines, entries = write_table(tmp_path, files)
    assert lines[6:8] == [
        "| untagged | sa | test | no tags |  |  |  |  | 2.000 |  |",
        "| untagged | sa | test | `</s>` |  |  |  |  | 1.833 | 33.33 |",
    ]
    assert [entry["tagged"] for entry in entries] == [2, 0]
