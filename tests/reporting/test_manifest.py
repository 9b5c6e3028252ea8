"""Manifests: collected from the files of a run, and read again."""

import hashlib
import json
import re
import shutil
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest
from reporting.recorded_runs import ATTEMPT, SOURCES, layout_of, names_of, write_log, write_run

from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json, write_text
from nmtcore.reporting.checklist import checklist
from nmtcore.reporting.licences_table import licence_entries
from nmtcore.reporting.manifest import collect_manifest, write_manifest
from nmtcore.reporting.manifest_files import merged_data, read_manifests, write_manifests
from nmtcore.reporting.report.data import data_blocks
from nmtcore.reporting.report.runs import group_runs, overview_blocks, run_blocks
from nmtcore.reporting.run_index import index_runs

ADVICE = "delete it, and `snakemake --cores 1 results/runs.parquet` writes it again"


def write_benchmark(layout, rule, seconds, **names):
    write_text(layout.path(f"{rule}.benchmark", **names), f"s\th:m:s\n{seconds}\t0:00:01\n")


def test_a_complete_run(tmp_path):
    layout, names = layout_of(tmp_path), names_of()
    folder = write_run(layout)
    write_benchmark(layout, "train_model", 20.0, **names)
    write_benchmark(layout, "translate_tests", 2.0, **names)
    write_benchmark(layout, "measure_gates", 7.0, **names, split="test")
    write_benchmark(layout, "score_contrasts", 8.0, **names, split="contrast_x")
    write_benchmark(layout, "read_split", 3.0, dataset="d", split="train")
    write_json(layout.path("download_record", file="news/a.gz"), {"sha256": "feed"})
    write_json(layout.path("raw_report", dataset="d", split="train"), {"pairs": 10, "kept": 9})
    write_json(layout.path("pairs_report", dataset="d", split="train"), {"pairs": 9, "kept": 7})
    manifest = write_manifest(layout, names, SOURCES)
    assert read_json(folder / "manifest.json") == manifest
    assert manifest.items() >= {"status": "complete", **names, "parameters": 17}.items()
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
    assert manifest["scores"] == {"test": {"BLEU": 20.0}, "dev": {"BLEU": 21.0}}
    assert manifest["signatures"] == {"BLEU": "nrefs:1"}
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
    files = collect_manifest(layout, names_of(), {**SOURCES, "corpora": [corpus]})["data"]["corpora"][0]["files"]
    assert files[0] == {"name": "mine.txt", "url": None, "sha256": hashlib.sha256(b"text").hexdigest()}
    assert files[1]["sha256"] is None


def test_the_status_of_a_run(tmp_path):
    layout = layout_of(tmp_path)
    folder = write_run(layout)

    def status(sources=SOURCES):
        return collect_manifest(layout, names_of(), sources)["status"]

    assert status() == status(None) == "complete"
    (folder / "scores.json").unlink()
    assert status() == "unscored"
    shutil.rmtree(folder / "model")
    assert status() == "interrupted"
    assert status({**SOURCES, "external": "An LLM"}) == "unscored", "a system made elsewhere has no model"


def test_an_interrupted_run_says_how_far_it_came(tmp_path):
    layout = layout_of(tmp_path)
    folder = Path(layout.path("scores", **names_of())).parent
    killed = ATTEMPT | {"ended": None, "finished": False, "energy": {"gpu": None}}
    write_log(folder / "checkpoints/0123", [ATTEMPT, killed])
    manifest = collect_manifest(layout, names_of(), SOURCES)
    assert (manifest["status"], manifest["training"]["updates"]) == ("interrupted", 3)
    assert [attempt["ended"] for attempt in manifest["attempts"]] == [ATTEMPT["ended"], None]
    assert manifest["energy_joules"]["gpu"] is None, "the energy of one attempt is not that of both"
    assert (manifest["parameters"], manifest["scores"]) == (None, {})


def test_a_run_of_an_earlier_version_has_no_record_of_its_device(tmp_path):
    layout = layout_of(tmp_path)
    folder = write_run(layout)
    (folder / "attempts.json").unlink()
    manifest = collect_manifest(layout, names_of(), None)
    assert (manifest["status"], manifest["parameters"]) == ("complete", 17)
    for key in ("device", "attempts", "packages", "data"):
        assert manifest[key] is None
    assert manifest["code"]["training"] is None


@pytest.mark.parametrize("content", [b"", b"\x05", b"\x02\0\0\0\0\0\0\0{", b"\x02\0\0\0\0\0\0\0[]", b"\xff" * 8])
def test_broken_weights_are_one_sentence(content, tmp_path):
    layout = layout_of(tmp_path)
    folder = write_run(layout)
    (folder / "model/weights.safetensors").write_bytes(content)
    runs = [{"names": names_of(), "sources": SOURCES}]
    (sentence,) = write_manifests(layout, runs)
    assert sentence.startswith(f"No manifest was written for {folder}: ")
    assert "holds no weights" in sentence
    assert not (folder / "manifest.json").exists()


def test_a_run_that_the_configuration_no_longer_has_keeps_its_manifest(tmp_path):
    layout = layout_of(tmp_path)
    folder = write_run(layout)
    unknown = [{"names": names_of(), "sources": None}, {"names": names_of("not_started"), "sources": SOURCES}]
    assert write_manifests(layout, unknown) == []
    assert read_json(folder / "manifest.json")["data"] is None
    write_manifests(layout, [{"names": names_of(), "sources": SOURCES}])
    write_manifests(layout, unknown)
    assert read_json(folder / "manifest.json")["data"] is not None
    assert not (folder.parent.parent / "not_started").exists()


def test_a_run_that_the_configuration_no_longer_has_is_not_called_interrupted(tmp_path):
    layout = layout_of(tmp_path)
    path = write_run(layout) / "manifest.json"
    write_json(path, {"format": 1, "status": "interrupted", **names_of()})
    assert write_manifests(layout, [{"names": names_of(), "sources": None}]) == []
    assert json.loads(path.read_text())["status"] == "complete"
    path.write_text("[]")
    write_manifests(layout, [{"names": names_of(), "sources": None}])
    assert path.read_text() == "[]", "it may be the manifest of another version"


def test_manifests_are_read_in_the_order_of_seeds(tmp_path):
    layout = layout_of(tmp_path)
    for seed in (10, 2):
        write_run(layout, seed=seed)
        write_manifest(layout, names_of(seed=seed), SOURCES)
    assert [manifest["seed"] for manifest in read_manifests(tmp_path / "results")] == [2, 10]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '{"format": 1, ',
            f"not valid JSON (Expecting property name enclosed in double quotes at column 15): {ADVICE}.",
        ),
        ("\ud800", f"is not UTF-8 from byte 1 on: {ADVICE}."),
        ("[]", f"is not the manifest of a run: {ADVICE}."),
        ('{"status": "complete"}', f"is not the manifest of a run: {ADVICE}."),
        ('{"format": 99, "status": "complete", "scale": "a", "dataset": "b", "system": "c", "seed": 1}', "(format 99"),
    ],
)
def test_a_broken_manifest_is_one_sentence(text, sentence, tmp_path):
    (tmp_path / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(UserError, match=re.escape(sentence)):
        read_manifests(tmp_path)


def places_in(value, place=()):
    """Yield the place of every value at any depth, as keys and indices."""
    if place:
        yield place
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from places_in(inner, (*place, key))


def test_manifests_with_values_of_other_types_are_read_or_refused_in_a_sentence(tmp_path):
    layout = layout_of(tmp_path)
    path = write_run(layout) / "manifest.json"
    translations = {"licence": "CC0", "files": [{"name": "a", "path": None, "url": None, "sha256": None}]}
    manifest = write_manifest(layout, names_of(), {**SOURCES, "translations": translations})
    refused = []
    for place in places_in(manifest):
        for value in ("x", 3, None, [], {}):
            changed = json.loads(json.dumps(manifest))
            outer = reduce(getitem, place[:-1], changed)
            outer[place[-1]] = value
            path.write_text(json.dumps(changed))
            try:
                manifests = read_manifests(tmp_path)
            except UserError as error:
                refused.append((place, value, str(error)))
                continue
            checklist(manifests)
            index_runs(layout, [], index=tmp_path / "runs.parquet")
            licence_entries(manifests, {})
            (group,) = group_runs(manifests)
            overview_blocks([group], {"d": "test"})
            run_blocks(group, None, None)
            if manifests[0]["data"] is not None:
                data_blocks(merged_data([manifests[0]["data"]]), {})
    assert len(refused) > 300
    assert all(sentence.startswith(f"{path} is not the manifest of a run") for *_, sentence in refused)
    assert (("parameters",), "x") in [(place, value) for place, value, _ in refused]


def test_a_run_with_scores_of_another_type_has_no_manifest(tmp_path):
    layout = layout_of(tmp_path)
    write_json(write_run(layout) / "scores.json", {**names_of(), "bleu": {"test": {"bleu": "high"}}})
    (sentence,) = write_manifests(layout, [{"names": names_of(), "sources": SOURCES}])
    assert "manifest: scores: test: BLEU: expected a number, found 'high'" in sentence


def test_folders_without_manifests_are_one_sentence(tmp_path):
    for folder, sentence in ((tmp_path / "missing", "is not a folder"), (tmp_path, "There is no manifest of a run in")):
        with pytest.raises(UserError, match=sentence):
            read_manifests(folder)
    layout = layout_of(tmp_path)
    folder = write_run(layout)
    write_manifest(layout, names_of(), None)
    shutil.copytree(folder, tmp_path / "copy")
    with pytest.raises(UserError, match="are of the same run"):
        read_manifests(tmp_path)


@pytest.mark.parametrize("content", ["[]", '{"bleu": 3}', '{"bleu": {"test": 3}, "uas": {"test": {}}}'])
@pytest.mark.parametrize("name", ["scores.json", "gold.json"])
def test_scores_that_are_none_are_named(name, content, tmp_path):
    layout = layout_of(tmp_path)
    path = write_run(layout) / name
    path.write_text(content)
    with pytest.raises(
        UserError, match=rf"^{path} does not hold what it should \(.*\): delete it and run the workflow"
    ):
        collect_manifest(layout, names_of(), None)


def test_a_report_without_counts_is_named(tmp_path):
    layout = layout_of(tmp_path)
    write_run(layout)
    path = Path(layout.path("pairs_report", dataset="d", split="train"))
    write_json(path, {"pairs": 9})
    with pytest.raises(UserError, match=rf"^{path} does not hold what it should \('kept'\)"):
        collect_manifest(layout, names_of(), SOURCES)
