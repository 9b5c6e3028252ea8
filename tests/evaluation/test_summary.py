"""Summaries of the scores of several seeds."""

from pathlib import Path

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.summary import write_summary
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
