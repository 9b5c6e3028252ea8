"""Summaries of the scores of several seeds."""

import statistics
from pathlib import Path

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.summary import summarise_seeds, write_summary
from nmtcore.files import read_json, write_json


def seed_scores(seed: int, bleu: float) -> dict:
    split = {"bleu": bleu, "chrf": 2 * bleu, "bleu_signature": "s", "sentences": 3}
    uas = {"argmax": {"uas": 50.0}}
    names = {"dataset": "d", "system": "s", "scale": "smoke", "seed": seed}
    return {**names, "bleu": {"test": split, "dev": split}, "uas": {"test": uas, "dev": uas}}


def test_seeds_are_summarised(tmp_path: Path):
    paths = []
    for seed, bleu in ((1, 10.0), (2, 14.0)):
        paths.append(tmp_path / f"{seed}.json")
        write_json(paths[-1], seed_scores(seed, bleu))
    for score in ("bleu", "uas"):
        write_summary(paths, seeds=[1, 2], score=score, output=tmp_path / f"s.{score}")
    summary = read_json(tmp_path / "s.bleu")
    assert summary["splits"]["test"]["bleu"]["mean"] == 12
    assert summary["splits"]["test"]["bleu"]["stdev"] == pytest.approx(8**0.5)
    assert summary["splits"]["test"]["bleu"]["values"] == [10, 14]
    assert summary["seeds"] == [1, 2]


@pytest.mark.parametrize("seed", [0, 2])
def test_scores_of_another_seed_or_without_the_metric_are_an_error(tmp_path: Path, seed: int):
    path = tmp_path / "1.json"
    write_json(path, seed_scores(1, 10.0))
    with pytest.raises(UserError, match=f"scores of seed 1, not {seed}"):
        write_summary([path], seeds=[seed], score="bleu", output=tmp_path / "out")
    with pytest.raises(UserError, match="has no ribes"):
        write_summary([path], seeds=[1], score="ribes", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", ["[]", "3", '{"seed": 1}', '{"seed": 1, "bleu": {"test": [1]}}',
                                     '{"seed": 1, "bleu": {"test": {"bleu": "high"}}}'])  # fmt: skip
def test_scores_that_are_none_are_named(tmp_path: Path, content: str):
    path = tmp_path / "1.json"
    path.write_text(content)
    with pytest.raises(UserError, match=rf"^{path} "):
        write_summary([path], seeds=[1], score="bleu", output=tmp_path / "out")


def score(bleu, signature="s"):
    return {"test": {"bleu": bleu, "signature": signature}, "dev": {"bleu": 1, "signature": signature}}


def test_summary_has_mean_and_sample_deviation():
    summary = summarise_seeds([score(20.0), score(21.0), score(25.0)])
    assert summary["test"]["signature"] == "s"
    assert summary["test"]["bleu"] == {
        "mean": pytest.approx(22),
        "stdev": pytest.approx(statistics.stdev([20, 21, 25])),
        "values": [20.0, 21.0, 25.0],
    }
    assert summary["dev"]["bleu"]["stdev"] == 0
    assert list(summary) == ["test", "dev"]


def test_one_seed_has_no_deviation():
    assert summarise_seeds([score(20.0)])["test"]["bleu"] == {"mean": 20.0, "stdev": None, "values": [20.0]}


def test_seeds_without_a_value_are_ignored():
    assert summarise_seeds([{"uas": None}, {"uas": 50.0}]) == {
        "uas": {"mean": 50.0, "stdev": None, "values": [None, 50.0]}
    }
    assert summarise_seeds([{"uas": None}, {"uas": None}]) == {"uas": None}


def test_scores_that_do_not_belong_together_are_an_error():
    with pytest.raises(UserError, match=r"scores\.test\.signature differ between seeds"):
        summarise_seeds([score(20.0), score(20.0, signature="t")])
    with pytest.raises(UserError, match="scores of the seeds have different keys"):
        summarise_seeds([{"a": 1}, {"b": 1}])
