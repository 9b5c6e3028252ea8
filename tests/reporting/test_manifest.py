"""The row of a run in any state, its manifest, and the data of all runs."""

import hashlib
import shutil
from pathlib import Path

import pytest
from reporting.recorded_runs import ATTEMPT, SOURCES, names_of, write_log, write_run

from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json, write_text
from nmtcore.reporting.manifest import all_data, benchmark_seconds, read_manifest, run_row, write_manifest


def test_a_finished_run(layout):
    names = names_of()
    folder = write_run(layout)
    write_text(layout.path("translate_split.benchmark", **names, split="test"), "s\th:m:s\n2.0\t0:00:01\n")
    write_json(layout.path("download_record", file="news/a.gz"), {"sha256": "feed"})
    write_json(layout.path("raw_report", dataset="d", split="train"), {"pairs": 10, "kept": 9})
    write_json(layout.path("pairs_report", dataset="d", split="train"), {"pairs": 9, "kept": 7})
    manifest = write_manifest(layout, names, {**SOURCES, "external": "An engine"})
    assert read_json(folder / "manifest.json") == read_manifest(folder / "manifest.json") == manifest
    assert run_row(layout, names)["external"] == manifest["external"] == "An engine"
    expected = {
        **names, **ATTEMPT["code"], "state": "finished", "packages": "torch 2.0", "python": "3.11", "attempts": 1,
        "linear_layers": "oneDNN",
        "device": "A processor", "gpus": 0, "threads": 2, "parameters": 17, "updates": 3,
        "training_seconds": 3.5, "tokens_per_second": 20.0, "peak_memory_bytes": 300, "share_of_peak": 0.2,
        "translation_seconds": 2.0, "words_per_second": 2.0,
        "best_update": 1, "best_bleu": 20.0, "best_perplexity": 9.0,
    }  # fmt: skip
    assert manifest.items() >= expected.items()
    data = manifest["data"]
    assert data["splits"] == {"train": {"lines": 10, "read": 9, "filtered": 7}}, "the test was not read"
    assert [row["sha256"] for row in data["files"]] == ["feed", None, "beef"], "of a download, or of the configuration"
    assert all("path" not in row for row in data["files"])


def test_a_file_of_the_users_own_has_a_checksum_but_no_path(tmp_path, layout):
    write_run(layout)
    (tmp_path / "mine.txt").write_text("text")
    own = [SOURCES["files"][0] | {"file": "", "path": str(tmp_path / name)} for name in ("mine.txt", "gone")]
    first, second = write_manifest(layout, names_of(), {**SOURCES, "files": own})["data"]["files"]
    assert (first["file"], first["sha256"]) == ("mine.txt", hashlib.sha256(b"text").hexdigest())
    assert second["sha256"] is None


def test_the_state_of_a_run_and_how_far_it_came(layout):
    folder = write_run(layout)
    row = run_row(layout, names_of())
    assert (row["state"], row["parameters"], row["attempts"]) == ("finished", 17, 1)
    (folder / "attempts.json").unlink()  # as of an earlier version
    row = run_row(layout, names_of())
    assert (row["state"], row["parameters"], row["attempts"]) == ("finished", 17, 0)
    assert (row["device"], row["packages"], row["commit"]) == (None,) * 3
    (folder / "scores.json").unlink()
    assert run_row(layout, names_of())["state"] == "unscored"
    (folder / "model/weights.safetensors").unlink()
    assert run_row(layout, names_of())["parameters"] is None, "results may be copied without the weights"
    shutil.rmtree(folder / "model")
    assert run_row(layout, names_of())["state"] == "interrupted"
    (folder / "training.jsonl").unlink()
    assert run_row(layout, names_of())["state"] == "unscored", "a system made elsewhere has no model"
    killed = ATTEMPT | {"ended": None, "finished": False}
    write_log(folder / "checkpoints/0123", [ATTEMPT, killed])
    row = run_row(layout, names_of())
    assert (row["state"], row["updates"], row["parameters"], row["attempts"]) == ("interrupted", 3, None, 2)


def test_the_data_of_runs_are_joined_with_what_was_read(layout):
    news, *others = SOURCES["files"]
    for system, files in (("base", [news]), ("other", others)):
        write_run(layout, system)
        write_manifest(layout, names_of(system), {**SOURCES, "files": files})
    write_json(Path(layout.path("raw_report", dataset="d", split="test")), {"pairs": 3, "kept": 2})
    joined = all_data(layout, {"d": SOURCES, "unread": SOURCES})
    assert joined.keys() == {"d"}
    assert [row["name"] for row in joined["d"]["files"]] == ["news", "mine/test", "stanza_en"]
    assert joined["d"]["splits"] == {"test": {"lines": 3, "read": 2}}


def test_seconds_of_benchmarks_are_summed_and_unmeasured_jobs_count_as_zero(tmp_path):
    header, paths = "s\th:m:s\tmax_rss\n", [tmp_path / f"{name}.tsv" for name in "abc"]
    for path, text in zip(paths, ("1.5\t0:00:01\t3\n2\t0:00:02\t-\n", "nan\tNA\tNA\n", ""), strict=True):
        path.write_text(header + text)
    assert benchmark_seconds(paths) == 3.5
    assert benchmark_seconds(paths[2:]) is None
    for text in ("time\n3\n", f"{header}soon\t\t\n", "s\tx\n\t1\n"):
        paths[0].write_text(text)
        with pytest.raises(UserError, match=r"a\.tsv is no benchmark of Snakemake"):
            benchmark_seconds(paths)
