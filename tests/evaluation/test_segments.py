"""Segment scores of COMET: the files on its way in and out, and the statistics that other metrics have too."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import fmean

import numpy as np
import pyarrow as pa
import pytest
from factories import run_settings

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.stages import ScoringSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import bootstrap_weights, compare_systems
from nmtcore.evaluation.segments import SEGMENT_SCHEMA, score_comet, segment_counts, write_comet_input
from nmtcore.files import read_json, write_json, write_lines
from nmtcore.parquet import read_rows, write_rows

SPLITS = {"test": ["s0", "s2", "s3", "s4"], "dev": ["d0", "d1", "d2"]}
"""Sources; the ids of the tests have a gap, and the scale leaves out the last sentence of each split."""


def write_run(folder: Path) -> dict:
    schema = pa.schema([("id", pa.int64()), ("source", pa.string())])
    for split, sources in SPLITS.items():
        write_rows(folder / f"{split}.parquet", schema, [{"id": int(s[1:]), "source": s} for s in sources])
        write_lines(folder / f"hypotheses/{split}.txt", [f"mt {s}" for s in sources[:-1]])
        write_lines(folder / f"hypotheses/{split}.references.txt", [f"ref {s}" for s in sources[:-1]])
    corpora = {split: folder / f"{split}.parquet" for split in SPLITS}
    return {"hypotheses": folder / "hypotheses", "corpora": corpora}


def score(folder: Path, scores: list, **evaluation) -> list[str]:
    run = run_settings(tests=("test", "dev"), evaluation=EvaluationSettings(**evaluation))
    write_json(folder / "output.json", {"version": "9", "scores": scores})
    outputs = {"segments": folder / "comet", "scores": folder / "comet.json", "output": folder / "output.json"}
    return score_comet(ScoringSettings.of_tests(run), model="m", **write_run(folder), **outputs)


def test_the_sentences_of_all_splits_are_written_one_after_the_other(tmp_path: Path):
    paths = write_run(tmp_path)
    model = {"checkpoint": tmp_path / "m.ckpt", "batch": 3, "device": "cpu"}
    write_comet_input(**paths, **model, output=tmp_path / "input.json")
    task = read_json(tmp_path / "input.json")
    names = ["s0", "s2", "s3", "d0", "d1"]
    assert task.pop("sentences") == [{"src": s, "mt": f"mt {s}", "ref": f"ref {s}"} for s in names]
    assert task == {**model, "checkpoint": str(tmp_path / "m.ckpt")}
    write_lines(tmp_path / "hypotheses/dev.txt", ["one", "two", "three"])
    with pytest.raises(UserError, match=r"dev\.txt has 3 lines for 2 references and 2 sources: delete .*hypotheses"):
        write_comet_input(**paths, **model, output=tmp_path / "input.json")


def test_scores_are_divided_among_the_splits(tmp_path: Path):
    lines = score(tmp_path, [0.5, 0.25, 1.5, -0.5, 0.125], text="tokens")
    assert lines == [f"{tmp_path} test: COMET 75.0 (3 sentences)"]
    assert list(read_rows(tmp_path / "comet/test.parquet")) == [
        {"id": 0, "score": 0.5}, {"id": 2, "score": 0.25}, {"id": 3, "score": 1.5},
    ]  # fmt: skip
    scores = read_json(tmp_path / "comet.json")["comet"]
    assert scores["test"]["comet"] == pytest.approx(75)
    signature = "COMET|model:m|version:9|text:tokens"
    assert scores["dev"] == {"comet": pytest.approx(-18.75), "comet_signature": signature, "sentences": 2}
    assert segment_counts(tmp_path / "comet/dev.parquet").signature == signature


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        ([0.5] * 4, r"output\.json has 4 scores for 5 sentences"),
        ([0.5, 0.5, float("nan"), 0.5, 0.5], "the score of sentence 2 is nan, not a number"),
    ],
)
def test_scores_that_are_missing_are_refused(tmp_path: Path, scores, sentence):
    with pytest.raises(UserError, match=sentence):
        score(tmp_path, scores)
    assert not (tmp_path / "comet.json").exists()


def test_a_file_without_signature_is_refused(tmp_path: Path):
    write_rows(tmp_path / "x.parquet", SEGMENT_SCHEMA, [{"id": 0, "score": 0.5}])
    with pytest.raises(UserError, match=r"x\.parquet has no signature, so it is no file of segment scores"):
        segment_counts(tmp_path / "x.parquet")


def test_systems_are_compared_by_stored_scores(tmp_path: Path):
    rng = np.random.default_rng(3)
    values = {(system, seed): rng.normal(0.8, 0.1, size=50) for system in ("base", "mine") for seed in (1, 2)}
    systems: dict[str, list] = {"base": [], "mine": []}
    for (system, seed), scores in values.items():
        path = tmp_path / f"{system}{seed}.parquet"
        rows = ({"id": i, "score": value} for i, value in enumerate(scores))
        write_rows(path, SEGMENT_SCHEMA.with_metadata({"signature": "s"}), rows)
        systems[system].append(segment_counts(path))
    result = compare_systems(systems, baseline="base")["mine"]
    means = {key: 100 * scores.mean() for key, scores in values.items()}
    assert result.scores == pytest.approx([means["mine", 1], means["mine", 2]])
    delta = fmean(result.scores) - fmean([means["base", 1], means["base", 2]])
    assert result.difference.delta == pytest.approx(delta)
    differences = sum(values["mine", seed] - values["base", seed] for seed in (1, 2)) / 2
    sampled = 100 * bootstrap_weights(50) @ differences / 50
    assert result.difference.sentence_error == pytest.approx(np.std(sampled, ddof=1))


def test_an_environment_without_comet_is_explained(root, tmp_path: Path):
    (tmp_path / "comet.py").write_text("raise ImportError('no comet here')")
    task = {"checkpoint": "x", "batch": 1, "device": "cpu", "sentences": []}
    (tmp_path / "in.json").write_text(json.dumps(task))
    script = [str(root / "workflow/scripts/run_comet.py"), str(tmp_path / "in.json"), str(tmp_path / "out.json")]
    environment = {"PYTHONPATH": str(tmp_path)}
    call = subprocess.run([sys.executable, *script], capture_output=True, text=True, check=False, env=environment)
    assert call.returncode == 1
    assert call.stderr == (
        f"{sys.executable} cannot import comet (no comet here): install unbabel-comet there, or use conda.\n"
    )
    assert not (tmp_path / "out.json").exists()
