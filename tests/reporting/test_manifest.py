"""The record of a run in any state, and its manifest."""

import hashlib
import shutil
from pathlib import Path

import pytest
from reporting.recorded_runs import ATTEMPT, SOURCES, layout_of, names_of, write_log, write_run

from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json, write_text
from nmtcore.reporting.manifest import merged_data, read_manifest, run_record, write_manifest


def write_benchmark(layout, rule, seconds, **names):
    write_text(layout.path(f"{rule}.benchmark", **names), f"s\th:m:s\n{seconds}\t0:00:01\n")


def test_a_finished_run(tmp_path):
    layout, names = layout_of(tmp_path), names_of()
    folder = write_run(layout)
    write_benchmark(layout, "train_model", 20.0, **names)
    write_benchmark(layout, "translate_tests", 2.0, **names)
    write_benchmark(layout, "measure_gates", 7.0, **names, split="test")
    write_benchmark(layout, "read_split", 3.0, dataset="d", split="train")
    write_json(layout.path("download_record", file="news/a.gz"), {"sha256": "feed"})
    write_json(layout.path("raw_report", dataset="d", split="train"), {"pairs": 10, "kept": 9})
    write_json(layout.path("pairs_report", dataset="d", split="train"), {"pairs": 9, "kept": 7})
    manifest = write_manifest(layout, names, SOURCES)
    assert read_json(folder / "manifest.json") == read_manifest(folder / "manifest.json") == manifest
    assert manifest.items() >= {"state": "finished", **names, "parameters": 17}.items()
    assert manifest["code"]["training"] == ATTEMPT["code"]
    assert manifest["device"]["name"] == "A processor"
    assert manifest["energy_joules"] == {"gpu": 3.6e6}
    assert manifest["training"] == {
        "updates": 3,
        "seconds": 3.5,
        "tokens_per_second": 20.0,
        "best_validation": {"update": 1, "perplexity": 9.0, "bleu": 20.0, "accuracy/tags": 0.5},
    }
    assert manifest["stages"]["jobs"] == {
        "train_model": {"seconds": 20.0},
        "translate_tests": {"seconds": 2.0, "words_per_second": 2.0},
    }
    assert manifest["stages"]["data"]["read"] == 3.0
    data = manifest["data"]
    assert data["splits"]["train"] == {"lines": 10, "read": 9, "filtered": 7}
    assert data["splits"]["test"] == {"lines": None, "read": None, "filtered": None}
    url = "https://example.org/a.gz"
    assert data["corpora"][0]["files"] == [{"name": "news/a.gz", "url": url, "sha256": "feed"}]
    assert data["models"][0]["files"][0]["sha256"] == "beef", "the configuration's checksum, without a download"


def test_a_file_of_the_users_own_has_a_checksum_but_no_path(tmp_path):
    layout = layout_of(tmp_path)
    write_run(layout)
    (tmp_path / "mine.txt").write_text("text")
    own = [{"name": "", "path": str(tmp_path / name), "url": None, "sha256": None} for name in ("mine.txt", "gone")]
    corpus = {**SOURCES["corpora"][0], "files": own}
    files = write_manifest(layout, names_of(), {**SOURCES, "corpora": [corpus]})["data"]["corpora"][0]["files"]
    assert files[0] == {"name": "mine.txt", "url": None, "sha256": hashlib.sha256(b"text").hexdigest()}
    assert files[1]["sha256"] is None


def test_the_state_of_a_run(tmp_path):
    layout = layout_of(tmp_path)
    folder = write_run(layout)

    def state():
        return run_record(layout, names_of())["state"]

    assert state() == "finished"
    (folder / "scores.json").unlink()
    assert state() == "unscored"
    shutil.rmtree(folder / "model")
    assert state() == "interrupted"
    for name in ("attempts.json", "training.jsonl"):
        (folder / name).unlink()
    assert state() == "unscored", "a system made elsewhere has no model"


def test_an_interrupted_run_says_how_far_it_came(tmp_path):
    layout = layout_of(tmp_path)
    folder = Path(layout.path("scores", **names_of())).parent
    killed = ATTEMPT | {"ended": None, "finished": False, "energy": {"gpu": None}}
    write_log(folder / "checkpoints/0123", [ATTEMPT, killed])
    record = run_record(layout, names_of())
    assert (record["state"], record["training"]["updates"], record["parameters"]) == ("interrupted", 3, None)
    assert [attempt["ended"] for attempt in record["attempts"]] == [ATTEMPT["ended"], None]
    assert record["energy_joules"]["gpu"] is None, "the energy of one attempt is not that of both"


def test_a_run_of_an_earlier_version_has_no_record_of_its_device(tmp_path):
    layout = layout_of(tmp_path)
    (write_run(layout) / "attempts.json").unlink()
    record = run_record(layout, names_of())
    assert (record["state"], record["parameters"]) == ("finished", 17)
    assert (record["device"], record["attempts"], record["packages"], record["code"]["training"]) == (None,) * 4


@pytest.mark.parametrize("content", [b"", b"\x05", b"\x02\0\0\0\0\0\0\0{", b"\x02\0\0\0\0\0\0\0[]", b"\xff" * 8])
def test_broken_weights_are_one_sentence(content, tmp_path):
    layout = layout_of(tmp_path)
    (write_run(layout) / "model/weights.safetensors").write_bytes(content)
    with pytest.raises(UserError, match=r"weights\.safetensors holds no weights: delete .*model and train again"):
        run_record(layout, names_of())


def test_a_manifest_of_another_version_counts_as_none(tmp_path):
    path = tmp_path / "manifest.json"
    assert read_manifest(path) is None
    for text in ("[]", '{"format": 1, "status": "interrupted"}'):
        path.write_text(text)
        assert read_manifest(path) is None
    path.write_text('{"format": 2, ')
    with pytest.raises(UserError, match="not valid JSON"):
        read_manifest(path)


def test_a_report_without_counts_is_named(tmp_path):
    layout = layout_of(tmp_path)
    write_run(layout)
    path = Path(layout.path("pairs_report", dataset="d", split="train"))
    write_json(path, {"pairs": 9})
    with pytest.raises(UserError, match=rf"^{path} does not hold what it should \('kept'\)"):
        write_manifest(layout, names_of(), SOURCES)


def test_the_data_of_runs_are_joined():
    known, unread = {"lines": 3, "read": 2}, {"lines": None, "read": None}
    first = {"corpora": [{"corpus": "a"}], "models": [], "splits": {"train": known}}
    second = {"corpora": [{"corpus": "b"}], "models": [{"annotator": "p"}], "splits": {"train": unread}}
    joined = merged_data([first, None, second])
    assert [own["corpus"] for own in joined["corpora"]] == ["a", "b"]
    assert (joined["models"], joined["splits"]) == ([{"annotator": "p"}], {"train": known})
