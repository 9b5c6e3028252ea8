"""Lines of scores for the terminal, and summaries over several seeds."""

from pathlib import Path

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.summary import run_lines, summarise_seeds, summary_lines, write_summary
from nmtcore.files import read_json, write_json

RUN = Path("results/smoke/demo_en2de/depparse_l1/seed1")


def write_scores(path: Path, seed: int, score: float) -> Path:
    splits = {"test": {"bleu": score, "bleu_signature": "s"}, "dev": {"bleu": 2 * score}}
    write_json(path, {"dataset": "d", "system": "s", "scale": "smoke", "seed": seed, "bleu": splits})
    return path


def test_seeds_are_summarised(tmp_path: Path):
    paths = [write_scores(tmp_path / f"{seed}.json", seed, score) for seed, score in ((1, 10.0), (2, 14.0))]
    assert write_summary(paths, seeds=[1, 2], score="bleu", output=tmp_path / "s.bleu") == [
        f"{tmp_path}/s.bleu test: BLEU 12.0 ± 2.8 (seeds 1, 2)"
    ]
    summary = read_json(tmp_path / "s.bleu")
    bleu = {"mean": 12, "stdev": pytest.approx(8**0.5), "values": [10, 14]}
    assert summary["splits"]["test"] == {"bleu": bleu, "bleu_signature": "s"}
    assert summary["seeds"] == [1, 2]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seeds": [2]}, "scores of seed 1, not 2"),
        ({"seeds": [1], "score": "ribes"}, "does not hold what it should"),
    ],
)
def test_scores_of_another_seed_or_without_the_metric_are_an_error(tmp_path: Path, options, sentence):
    path = write_scores(tmp_path / "1.json", 1, 10.0)
    with pytest.raises(UserError, match=sentence):
        write_summary([path], **{"score": "bleu", **options}, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", ['{"seed": 1}', '{"seed": 1, "bleu": {"test": {"bleu": "high"}}}'])
def test_scores_that_are_none_are_named(tmp_path: Path, content: str):
    path = tmp_path / "1.json"
    path.write_text(content)
    with pytest.raises(UserError, match=rf"^{path} "):
        write_summary([path], seeds=[1], score="bleu", output=tmp_path / "out")


def test_seeds_without_a_value_are_ignored():
    one = {"uas": {"mean": 50.0, "stdev": None, "values": [None, 50.0]}}
    assert summarise_seeds([{"uas": None}, {"uas": 50.0}]) == one
    assert summarise_seeds([{"uas": None}, {"uas": None}]) == {"uas": None}


def test_scores_that_do_not_belong_together_are_an_error():
    with pytest.raises(UserError, match=r"scores\.test\.signature differ between seeds"):
        summarise_seeds([{"test": {"signature": signature}} for signature in "st"])
    with pytest.raises(UserError, match="scores of the seeds have different keys"):
        summarise_seeds([{"a": 1}, {"b": 1}])


def spread(mean, stdev=None):
    return {"mean": mean, "stdev": stdev, "values": [mean]}


def test_each_test_has_a_line():
    bleu = {"bleu": 12.34, "chrf": 24.68, "length_ratio": 0.987, "bleu_signature": "s", "sentences": 1500}
    scores = {"system": "depparse_l1", "bleu": dict.fromkeys(("test", "test_two", "dev", "dev.greedy"), bleu)}
    shown = "BLEU 12.3, length 0.99, chrF 24.7"
    assert run_lines(scores, RUN) == [f"{RUN} {name}: {shown} (1,500 sentences)" for name in ("test", "test_two")]
    uas = [{"argmax": {"uas": own, "sentences": 7}} for own in (86.46, None)]
    scores["uas"] = {"test": uas[0], "test_two": uas[1], "dev": uas[0]}
    assert run_lines(scores, RUN) == [
        f"{RUN} test: {shown}, precision of chains 86.5 (1,500 sentences)",
        f"{RUN} test_two: {shown}, precision of chains n/a (1,500 sentences)",
    ]
    tree = {"spanning_tree": {"uas": None}}
    splits = {"test": {"argmax": {"uas": spread(80.0, 0.75)}} | tree}
    assert summary_lines({"seeds": [1, 2], "splits": splits}, RUN) == [
        f"{RUN} test: UAS 80.0 ± 0.8, UAS of trees n/a (seeds 1, 2)"
    ]
    trees = {"spanning_tree": {"uas": 88.04, "sentences": 7}, "one_root": {"uas": 70.0, "sentences": 7}}
    shown = f"{RUN} gold_pud: UAS 86.5, UAS of trees 88.0 (7 sentences)"
    assert run_lines({"gold.uas": {"gold_pud": uas[0] | trees}}, RUN) == [shown]
    assert run_lines({"uas": {"test": trees}}, RUN) == [f"{RUN} test: UAS 88.0 (7 sentences)"], "of induced trees"
    test = {
        "bleu": spread(12.34),
        "length_ratio": spread(0.987),
        "empty_translations": spread(1234.5),
        "in_train": spread(1),
    }
    splits = {"test": test, "dev": {"bleu": spread(1.0)}}
    assert summary_lines({"seeds": [3], "splits": splits}, RUN) == [
        f"{RUN} test: BLEU 12.3, length 0.99 (seed 3; 1 of its pairs also in train; empty translations: 1,234.5)"
    ]


def test_induced_trees_have_a_line_for_every_method():
    names = ("directed", "undirected_gold_edges", "undirected_predicted_edges")
    trees = {"spanning_tree": 30.0, "untrained": 7.0, "left": 34.14, "right": 8.0, "random": 6.5}
    split = {tree: {name: score + i for i, name in enumerate(names)} for tree, score in trees.items()}
    lines = run_lines({"gold.uas": {"gold_pud": {tree: own | {"sentences": 9} for tree, own in split.items()}}}, RUN)
    assert lines[0] == (
        f"{RUN} gold_pud, spanning tree: directed 30.0, undirected over gold edges 31.0, "
        "undirected over predicted edges 32.0 (9 sentences)"
    )
    assert [line.split(" ")[2] for line in lines[1:]] == ["untrained:", "left:", "right:", "random:"]
