"""The index of runs, and the table of licences."""

from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from reporting.recorded_runs import ATTEMPT, SOURCES, layout_of, names_of, write_log, write_run

from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json, write_lines
from nmtcore.reporting.licences_table import licence_entries, write_licence_table
from nmtcore.reporting.run_index import index_runs


def described(*runs, sources=SOURCES):
    return [{"names": names_of(*run), "sources": sources} for run in runs]


def test_the_index_has_a_row_per_run(tmp_path):
    layout = layout_of(tmp_path)
    write_run(layout, "base", 10)
    write_run(layout, "base", 2, attempts=[])
    write_log(Path(layout.path("scores", **names_of("other"))).parent / "checkpoints/0", [ATTEMPT])
    index = tmp_path / "results/runs.parquet"
    assert index_runs(layout, described(("base", 10), ("base", 2), ("other", 1)), index=index) == 3
    rows = parquet.read_table(index).to_pylist()
    assert [(row["system"], row["seed"], row["status"]) for row in rows] == [
        ("base", 2, "complete"),
        ("base", 10, "complete"),
        ("other", 1, "interrupted"),
    ]
    assert [row["device"] for row in rows] == [None, "A processor", "A processor"]
    assert rows[1].items() >= {"commit": "c0ffee", "parameters": 17, "updates": 3, "gpu_joules": 3.6e6}.items()
    assert rows[1]["scores"][1] == {"split": "dev", "score": "BLEU", "value": 21.0}
    assert rows[1]["signatures"] == [("BLEU", "nrefs:1")]
    assert Path(rows[1]["folder"]) == tmp_path / "results/small/d/base/seed10"


def test_the_example_of_the_documentation(root, tmp_path, monkeypatch):
    layout = layout_of(tmp_path)
    write_run(layout, "base", 1, bleu=20.0)
    write_run(layout, "base", 2, bleu=22.0)
    index_runs(layout, described(("base", 1), ("base", 2)), index=tmp_path / "results/runs.parquet")
    text = (root / "docs/running.md").read_text(encoding="utf-8")
    (example,) = (block for block in text.split("```python\n")[1:] if "runs.parquet" in block)
    monkeypatch.chdir(tmp_path)
    values = {}
    exec(example.partition("```")[0], values)
    assert values["bleu"].to_dict() == {("small", "d", "base"): 21.0}


def test_licences_are_listed_once_with_the_data_sets_that_use_them(tmp_path):
    layout = layout_of(tmp_path)
    write_run(layout, "base", 1)
    write_run(layout, "base", 2)
    paths = {"json": tmp_path / "licences.json", "table": tmp_path / "licences.md"}
    text = write_licence_table(layout, described(("base", 1), ("base", 2)), {}, **paths)
    assert [list(entry.values()) for entry in read_json(paths["json"])] == [
        ["corpus", "mine/test", "CC0", "A 2020", 0, 0, ["d"]],
        ["corpus", "news", "CC BY 4.0", "B 2021", 1, 0, ["d"]],
        ["model", "stanza_en", "Apache-2.0", "C", 1, 1, ["d"]],
    ]
    assert "| corpus | news | CC BY 4.0 | B 2021 | 1 | 0 | d |" in text
    assert paths["table"].with_suffix(".csv").exists()


def test_two_data_sets_share_a_row_of_the_same_licence():
    data = {"corpora": [SOURCES["corpora"][0]], "models": []}
    changed = {"corpora": [SOURCES["corpora"][0] | {"licence": "other"}], "models": []}
    manifests = [
        {"dataset": name, "data": own} for name, own in (("a", data), ("b", data), ("c", changed), ("d", None))
    ]
    assert [(e["licence"], e["datasets"]) for e in licence_entries(manifests, {"e": changed})] == [
        ("CC BY 4.0", ["a", "b"]),
        ("other", ["c", "e"]),
    ]


def test_data_without_runs_have_their_licences_as_far_as_they_were_read(tmp_path):
    layout, paths = layout_of(tmp_path), {"json": tmp_path / "licences.json", "table": tmp_path / "licences.md"}
    write_run(layout)
    bank = {"corpus": "bank", "splits": ["gold_bank"], "licence": "CC BY-SA", "citation": "D", "files": []}
    tagger = {"annotator": "tagger", "models": ["en_small"], "licence": "", "citation": "", "files": []}
    known = {
        **SOURCES,
        "splits": {**SOURCES["splits"], "gold_bank": ["bank"]},
        "corpora": [*SOURCES["corpora"], bank],
        "models": [*SOURCES["models"], tagger],
    }
    for dataset, split in (("d", "gold_bank"), ("prepared", "test")):  # the run of d does not use its treebank
        write_json(layout.path("raw_report", dataset=dataset, split=split), {"pairs": 2, "kept": 2})
    write_lines(layout.path("annotation", dataset="prepared", annotator="tagger", split="test", side="source"), [])
    datasets = {"d": known, "prepared": known, "unread": known}
    text = write_licence_table(layout, described(("base", 1)), datasets, **paths)
    assert {(entry["name"], *entry["datasets"]) for entry in read_json(paths["json"])} == {
        ("bank", "d"), ("mine/test", "d", "prepared"), ("news", "d"), ("stanza_en", "d"), ("en_small", "prepared"),
    }  # fmt: skip
    assert "| model | en_small | unknown |" in text


def test_the_model_of_comet_is_listed_with_its_licence():
    def manifest(model):
        signatures = {"BLEU": "nrefs:1", "COMET": f"COMET|model:{model}|version:2.2"}
        return {"dataset": "d", "data": None, "signatures": signatures}

    entries = licence_entries([manifest("wmt22-comet-da"), manifest("mine")], {})
    assert [(entry["sort"], entry["name"], entry["licence"]) for entry in entries] == [
        ("model", "mine", ""),
        ("model", "wmt22-comet-da", "Apache-2.0"),
    ]


def test_translations_made_elsewhere_are_listed_once_per_system_and_licence():
    translations = {"licence": "for research only", "files": [{"sha256": "ab"}, {"sha256": None}]}
    manifests = [{"dataset": name, "system": "llm", "data": None, "translations": translations} for name in ("d", "e")]
    assert [list(entry.values()) for entry in licence_entries(manifests, {})] == [
        ["translations", "llm", "for research only", "", 2, 1, ["d", "e"]]
    ]


def test_without_data_there_are_no_licences(tmp_path):
    with pytest.raises(UserError, match=r"There are no data in .* prepare a data set or train a system first"):
        write_licence_table(layout_of(tmp_path), [], {"d": SOURCES}, json=tmp_path / "a.json", table=tmp_path / "a.md")


def test_a_run_with_a_broken_log_is_named_and_left_out(tmp_path):
    layout, sentences = layout_of(tmp_path), []
    (write_run(layout, "broken") / "training.jsonl").write_text("{\n")
    write_run(layout)
    runs = described(("broken", 1), ("base", 1))
    assert index_runs(layout, runs, index=tmp_path / "runs.parquet", warn=sentences.append) == 1
    assert len(sentences) == 1
    assert "training.jsonl, line 1: this is not JSON" in sentences[0]
