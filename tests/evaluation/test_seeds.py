"""Statistics of scores over seeds."""

import statistics

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.seeds import summarise_seeds


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
    with pytest.raises(UserError, match="no scores"):
        summarise_seeds([])
