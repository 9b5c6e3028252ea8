"""The tables of all runs and all scores, and the table of licences."""

import re
from pathlib import Path

import pandas as pd
from reporting.recorded_runs import ATTEMPT, SOURCES, names_of, write_log, write_run

from nmtcore.evaluation.induction import MEASURES
from nmtcore.files import read_json, write_json
from nmtcore.reporting.data_table import write_licence_table
from nmtcore.reporting.manifest import RUNS_SCHEMA, write_manifest
from nmtcore.reporting.run_index import SCORES_SCHEMA, index_runs, read_scores


def write_finished(layout, *run, **options):
    write_run(layout, *run, **options)
    write_manifest(layout, names_of(*run), SOURCES)


def test_runs_have_a_row_each_and_scores_too(tmp_path, layout):
    write_finished(layout, "base", 10)
    write_run(layout, "base", 2, attempts=[])
    write_log(Path(layout.path("scores", **names_of("other"))).parent / "checkpoints/0", [ATTEMPT])
    write_run(layout, "broken")
    (tmp_path / "results/small/d/broken/seed1/training.jsonl").write_text("{\n")
    sentences = index_runs(layout)
    runs, scores = (pd.read_parquet(tmp_path / f"results/{name}.parquet") for name in ("runs", "scores"))
    assert list(zip(runs.system, runs.seed, runs.state, strict=True)) == [
        ("base", 2, "finished"), ("base", 10, "finished"), ("other", 1, "interrupted"),
    ]  # fmt: skip
    assert runs.device.fillna("").tolist() == ["", "A processor", "A processor"]
    expected = {"commit": "c0ffee", "parameters": 17, "updates": 3, "packages": "torch 2.0"}
    expected["folder"] = str(tmp_path / "results/small/d/base/seed10")
    assert {key: runs.loc[1, key] for key in expected} == expected
    test = scores[(scores.seed == 10) & (scores.split == "test")]
    assert test[["measure", "value", "sentences", "signature"]].values.tolist() == [
        ["bleu", 20.0, 2, "nrefs:1"], ["chrf", 40.0, 2, "nc:6"],
    ]  # fmt: skip
    assert test[["length_ratio", "empty_translations"]].values.tolist()[0] == [0.5, 1]
    (sentence,) = sentences
    assert re.match("broken on d, seed 1, is left out: .*training.jsonl, line 1: this is not JSON", sentence)


def test_trees_have_their_measures(layout):
    folder = write_run(layout)
    heads = {"sentences": 3, "uas": 80.0}
    tree = {"spanning_tree": heads | {"uas": 85.0}}
    splits = {"test": {"argmax": heads} | tree, "induced": tree, "chains": {"argmax": heads}}
    splits["dev"] = {"argmax": heads | {"uas": None}}
    write_json(folder / "scores.json", {**names_of(), "uas": splits})
    right = dict.fromkeys(MEASURES, 70.0) | {"sentences": 5}
    induced = {"spanning_tree": right, "left": right | {"directed": 30.0}}
    write_json(folder / "gold.json", {**names_of(), "gold.uas": {"gold_a": induced}})
    scores = read_scores(layout)
    assert scores[scores.split != "gold_a"][["split", "measure", "value"]].values.tolist() == [
        ["test", "uas", 80.0], ["test", "tree_uas", 85.0], ["induced", "uas", 85.0],
        ["chains", "diagonal_precision", 80.0],
    ]  # fmt: skip
    gold = scores[scores.split == "gold_a"].set_index("measure").value
    assert (gold["directed"], gold["left_directed"]) == (70.0, 30.0)
    assert len(gold) == 2 * len(MEASURES)


def test_the_example_of_the_documentation(root, tmp_path, monkeypatch, layout):
    write_run(layout, "base", 1, bleu=20.0)
    write_run(layout, "base", 2, bleu=22.0)
    index_runs(layout)
    text = (root / "docs/running.md").read_text(encoding="utf-8")
    (example,) = (block for block in text.split("```python\n")[1:] if "scores.parquet" in block)
    monkeypatch.chdir(tmp_path)
    values = {}
    exec(example.partition("```")[0], values)
    assert values["bleu"].to_dict() == {("small", "d", "base"): 21.0}


def test_every_column_is_documented(root):
    text = (root / "docs/running.md").read_text(encoding="utf-8")
    columns = {name for schema in (RUNS_SCHEMA, SCORES_SCHEMA) for name in schema.names}
    assert [name for name in sorted(columns) if f"`{name}`" not in text] == []


def listed_licences(layout, datasets):
    """Write the table of licences; return its entries, and the table as Markdown."""
    path = Path(layout.results) / "licences.json"
    text = write_licence_table(layout, datasets, json=path, table=path.with_suffix(".md"))
    return read_json(path), text


def test_data_without_runs_have_their_licences(layout):
    """The run of d does not use its treebank."""
    write_finished(layout)
    write_finished(layout, "base", 2)
    _, empty, model = SOURCES["files"]
    bank = empty | {"name": "bank", "splits": ["gold_bank"], "licence": "CC BY-SA", "citation": "D"}
    tagger = model | {"name": "en_small", "annotator": "tagger", "licence": "", "file": None}
    read = {"d": ("gold_bank", [bank]), "prepared": ("test", [empty, tagger])}
    for dataset, (split, _) in read.items():
        write_json(layout.path("raw_report", dataset=dataset, split=split), {"pairs": 2, "kept": 2})
    datasets = {name: {**SOURCES, "splits": [split], "files": files} for name, (split, files) in read.items()}
    entries, text = listed_licences(layout, datasets)
    assert {(entry["name"], *entry["datasets"]) for entry in entries} == {
        ("bank", "d"), ("mine/test", "d", "prepared"), ("news", "d"), ("stanza_en", "d"), ("en_small", "prepared"),
    }  # fmt: skip
    assert "| model | en_small | unknown |" in text
    assert "| corpus | news | CC BY 4.0 | B 2021 | 1 | 0 | d |" in text
