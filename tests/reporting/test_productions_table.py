"""The table of productions per head tag."""

from evaluation.test_productions import write_trees

from nmtcore.files import read_json
from nmtcore.inference.schemas import Parse, write_parses
from nmtcore.layout import Layout
from nmtcore.reporting.productions_table import write_production_table

TREES = [([2, 3, 0, 3], ["DET", "NOUN", "VERB", "PUNCT"]), ([0, 1], ["VERB", "VERB"]), ([0, 1], ["NOUN", "ADJ"])]


def write_run(folder, dataset, system, seed, trees):
    path = folder / f"results/quick/{dataset}/{system}/seed{seed}/gold"
    path.mkdir(parents=True)
    parses = [Parse(argmax=[0] * len(heads), one_root=heads) for heads in trees]
    write_parses(path / "gold_pud.parquet", range(len(trees)), parses)
    return path


def write_treebank(folder, dataset):
    return write_trees(folder / f"results/{dataset}/annotation/gold/gold_pud.source.parquet", TREES)


def write_table(tmp_path, parses, trees):
    layout = Layout(results=tmp_path / "results", scales=("quick",))
    files = {"json": tmp_path / "productions.json", "table": tmp_path / "productions.md"}
    text = write_production_table(parses, trees, layout=layout, scale="quick", **files)
    assert files["table"].read_text() == text
    return text.splitlines(), read_json(files["json"])


def test_rows_of_gold_trees_chains_and_systems(tmp_path):
    parses = [
        write_run(tmp_path, "d", "sa", 1, [[0, 3, 1, 3], [0, 1]]),
        write_run(tmp_path, "d", "sa", 2, [[2, 0, 2, 3], [2, 0]]),
        write_run(tmp_path, "other", "sa", 1, [[0, 3, 1, 3]]),
    ]
    lines, entries = write_table(tmp_path, parses, [write_treebank(tmp_path, "d")])
    assert lines[0] == (
        "| data set | treebank | trees | VERB → NOUN | VERB → PRON | VERB → ADV | VERB → VERB | NOUN → DET "
        "| NOUN → ADP | NOUN → NOUN | NOUN → ADJ |"
    )
    # The third sentence was not parsed. Seed 1: VERB -> NOUN and VERB; seed 2: VERB -> VERB, NOUN -> DET and VERB.
    assert lines[2:5] == [
        "| d | gold_pud | gold | 50.0 | 0.0 | 0.0 | 50.0 | 100.0 | 0.0 | 0.0 | 0.0 |",
        "| d | gold_pud | left | 50.0 | 0.0 | 0.0 | 50.0 | 100.0 | 0.0 | 0.0 | 0.0 |",
        "| d | gold_pud | sa | 25.0 | 0.0 | 0.0 | 75.0 | 50.0 | 0.0 | 0.0 | 0.0 |",
    ]
    assert lines[6].startswith("Scale quick, seeds 1, 2, mean over seeds. Percentages of")
    assert [(entry["trees"], entry["system"], entry["seeds"]) for entry in entries] == [
        ("gold", None, []), ("left", None, []), ("sa", "sa", [1, 2]),
    ]  # fmt: skip
    assert entries[2]["shares"] == {
        "DET": {"VERB": 100.0}, "NOUN": {"DET": 50.0, "VERB": 50.0}, "VERB": {"NOUN": 25.0, "VERB": 75.0},
    }  # fmt: skip


def test_without_systems_the_whole_treebank_counts(tmp_path):
    lines, (gold, _) = write_table(tmp_path, [], [write_treebank(tmp_path, "d")])
    assert lines[2] == "| d | gold_pud | gold | 50.0 | 0.0 | 0.0 | 50.0 | 50.0 | 0.0 | 0.0 | 50.0 |"
    assert gold["scale"] == "quick"
