"""Segment scores of COMET: the files on its way in and out, and the statistics that other metrics have too."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from factories import run_settings

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.stages import ScoringSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.counts import checksum_of_test, read_counts
from nmtcore.evaluation.scores import score_comet, write_comet_input
from nmtcore.files import read_json, write_json, write_lines
from nmtcore.parquet import write_rows

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
    outputs = {"counts": folder / "comet", "scores": folder / "comet.json", "output": folder / "output.json"}
    hypotheses = write_run(folder)["hypotheses"]
    return score_comet(ScoringSettings.of_tests(run), model="m", hypotheses=hypotheses, **outputs)


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
    counts = read_counts(tmp_path / "comet/test.parquet", "comet")
    assert counts.counts_BF.tolist() == [[0.5, 1], [0.25, 1], [1.5, 1]]
    assert counts.test == checksum_of_test(f"ref {source}" for source in SPLITS["test"][:-1])
    scores = read_json(tmp_path / "comet.json")["comet"]
    assert scores["test"]["comet"] == pytest.approx(75)
    signature = "COMET|model:m|version:9|text:tokens"
    assert scores["dev"] == {"comet": pytest.approx(-18.75), "comet_signature": signature, "sentences": 2}
    assert read_counts(tmp_path / "comet/dev.parquet", "comet").signature == signature


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
