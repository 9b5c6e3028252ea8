"""Lines of scores for the terminal, and summaries over several seeds."""

from pathlib import Path

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.summary import run_lines, summarise_seeds, summary_lines, write_summary
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
    assert summary["splits"]["test"]["bleu"] == {"mean": 12, "stdev": pytest.approx(8**0.5), "values": [10, 14]}
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


def test_what_is_the_same_for_all_seeds_is_kept():
    summary = summarise_seeds([score(20.0), score(21.0), score(25.0)])
    assert summary["test"]["signature"] == "s"
    assert summary["dev"]["bleu"]["stdev"] == 0
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


RUN = Path("results/smoke/demo_en2de/depparse_l1/seed1")


def bleu(score):
    return {"bleu": score, "chrf": 2 * score, "length_ratio": 0.987, "bleu_signature": "s", "sentences": 1500}


def uas(score):
    return {tree: {"uas": score, "sentences": 7} for tree in ("argmax", "spanning_tree")}


def spread(mean, stdev=None):
    return {"mean": mean, "stdev": stdev, "values": [mean]}


def test_a_run_has_one_line_per_test_split():
    splits = ("test", "test_two", "dev", "dev.greedy")
    scores = {"system": "depparse_l1", "bleu": {split: bleu(12.34) for split in splits}}
    assert run_lines(scores, RUN) == [
        f"{RUN} test: BLEU 12.3, length 0.99, chrF 24.7 (1,500 sentences)",
        f"{RUN} test_two: BLEU 12.3, length 0.99, chrF 24.7 (1,500 sentences)",
    ]
    scores |= {"uas": {"test": uas(86.46), "test_two": uas(None), "dev": uas(1.0)}}
    assert run_lines(scores, RUN) == [
        f"{RUN} test: BLEU 12.3, length 0.99, chrF 24.7, UAS 86.5 (1,500 sentences)",
        f"{RUN} test_two: BLEU 12.3, length 0.99, chrF 24.7, UAS n/a (1,500 sentences)",
    ]


def test_gold_treebanks_have_lines_too():
    assert run_lines({"gold.uas": {"gold_pud": uas(70.0)}}, RUN) == [f"{RUN} gold_pud: UAS 70.0 (7 sentences)"]


def test_induced_trees_have_a_line_for_every_method():
    def scores(score, value):
        names = ("directed", "undirected_gold_edges", "undirected_predicted_edges")
        return {name: value(score + i) for i, name in enumerate(names)} | {"sentences": 1000}

    trees = {"spanning_tree": 30.0, "untrained": 7.0, "left": 34.14, "right": 8.0, "random": 6.5}
    split = {name: scores(score, float) for name, score in trees.items()}
    lines = run_lines({"gold.uas": {"gold_pud": split}}, RUN)
    assert len(lines) == 5
    assert lines[0] == (
        f"{RUN} gold_pud, spanning tree: directed 30.0, undirected over gold edges 31.0, "
        "undirected over predicted edges 32.0 (1,000 sentences)"
    )
    assert lines[2].startswith(f"{RUN} gold_pud, left: directed 34.1, ")
    split = {name: scores(score, lambda mean: spread(mean, 0.25)) for name, score in trees.items()}
    path = Path("results/small/d/s.gold.uas")
    assert summary_lines({"seeds": [1, 2], "splits": {"gold_pud": split}}, path)[4] == (
        f"{path} gold_pud, random: directed 6.5 ± 0.2, undirected over gold edges 7.5 ± 0.2, "
        "undirected over predicted edges 8.5 ± 0.2 (seeds 1, 2)"
    )


def test_means_over_seeds_have_their_spread():
    means = {"bleu": spread(12.34), "chrf": spread(40.0), "length_ratio": spread(0.987)}
    splits = {"test": means, "dev": {"bleu": spread(1.0), "chrf": spread(1.0)}}
    path = Path("results/small/d/s.bleu")
    assert summary_lines({"seeds": [3], "splits": splits}, path) == [
        f"{path} test: BLEU 12.3, length 0.99, chrF 40.0 (seed 3)"
    ]
    splits = {"test": {"argmax": {"uas": spread(80.0, 0.75)}}, "test_two": {"argmax": {"uas": None}}}
    assert summary_lines({"seeds": [1, 2], "splits": splits}, path) == [
        f"{path} test: UAS 80.0 ± 0.8 (seeds 1, 2)",
        f"{path} test_two: UAS n/a (seeds 1, 2)",
    ]
