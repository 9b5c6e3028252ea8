"""Scores computed from files of translations, references, parses and trees."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from evaluation.test_productions import write_trees
from factories import run_settings
from pair_files import write_corpus
from syntax.test_spanning_tree import TREES, score_sum

from nmtcore.config.components import DiagonalParseSettings, HeadSelectionSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.stages import ScoringSettings
from nmtcore.config.training import EvaluationSettings
from nmtcore.evaluation.counts import read_counts, stored_measures
from nmtcore.evaluation.metrics import METRICS
from nmtcore.evaluation.scores import (
    make_output_files,
    score_gold,
    score_tests,
)
from nmtcore.evaluation.summary import write_summary
from nmtcore.files import read_json, read_lines, write_json, write_lines
from nmtcore.inference.parse import parse_of
from nmtcore.inference.schemas import Parse, write_parses


def settings(trees: str, roots: str = "one", *, splits: tuple[str, ...] = ("test",)) -> ScoringSettings:
    """Return the settings of scoring parses by their kind."""
    names = {"dataset": "d", "system": "s", "scale": "smoke", "seed": 1, "splits": splits, "parsed": splits}
    return ScoringSettings(**names, evaluation=EvaluationSettings(roots=roots), trees=trees)


def parsed_trees(folder: Path) -> dict[str, Path]:
    """Write three sentences with trees and parses; return the file arguments of `score_parses`."""
    files = {name: folder / f"{name}.parquet" for name in ("parses", "corpus", "trees")}
    write_corpus(files["corpus"], [["a", "b"], ["a", "b"], ["c"]])
    write_trees(files["trees"], [([2, 0], ["X", "PUNCT"]), (None, None), ([0], None)])
    parse = Parse(argmax=[0, 0], one_root=[2, 0], many_roots=[0, 0])
    write_parses(files["parses"], range(3), [parse, parse, Parse(argmax=[0], one_root=[0], many_roots=[0])])
    return files


def scored_gold(folder: Path, files: dict[str, Path], run: RunSettings) -> tuple[dict, list[str]]:
    """Score the parses in gold/gold_a; return all scores, and the lines for the terminal."""
    inputs = {"parses": folder / "gold/gold_a", "corpora": files["corpus"], "trees": files["trees"]}
    outputs = {"scores": folder / "gold.json", "counts": folder / "gold_counts"}
    own = {name: {"gold_a": path} for name, path in inputs.items()}
    lines = score_gold(ScoringSettings.of_gold(run), **own, **outputs)
    return read_json(outputs["scores"]), lines


def test_gold_parses_are_compared_with_the_treebank(tmp_path: Path):
    files = parsed_trees(tmp_path)
    copied = make_output_files(tmp_path / "gold/gold_a").parses
    files["parses"].rename(copied)
    run = run_settings(gold=("gold_a",), evaluation=EvaluationSettings(roots="many"))
    scores, lines = scored_gold(tmp_path, files, run)
    assert lines == [f"{tmp_path} gold_a: UAS 66.7, UAS of trees 66.7 (2 sentences)"]
    assert list(scores) == ["dataset", "system", "scale", "seed", "gold.uas"]
    by_method = scores["gold.uas"]["gold_a"]
    rates = {"argmax": 200 / 3, "spanning_tree": 200 / 3, "one_root": 100, "many_roots": 200 / 3}
    assert {name: own["uas"] for name, own in by_method.items()} == pytest.approx(rates)
    assert by_method["many_roots"]["nulls"] == 1


def test_induced_trees_are_scored_without_punctuation_beside_baselines(tmp_path: Path):
    inputs = parsed_trees(tmp_path)
    files = make_output_files(tmp_path / "gold/gold_a")
    write_corpus(inputs["corpus"], [["a", "b", "c", "."], ["a"], ["d", "e"]])
    write_trees(inputs["trees"], [([2, 0, 2, 2], ["X", "X", "X", "PUNCT"]), (None, None), ([2, 0], None)])
    for path, last in ((files.parses, [2, 0]), (files.untrained_parses, [0, 1])):
        trees = [[0, 1, 2, 3], [0], last]
        write_parses(path, range(3), [Parse(argmax=[0] * len(own), one_root=own) for own in trees])
    run = run_settings(HeadSelectionSettings(), gold=("gold_a",), evaluation=EvaluationSettings(roots="many"))
    scores = scored_gold(tmp_path, inputs, run)[0]["gold.uas"]["gold_a"]
    assert list(scores) == ["spanning_tree", "untrained", "left", "right", "random"]
    measures = ("directed", "undirected_gold_edges", "undirected_predicted_edges")
    assert [scores["spanning_tree"][key] for key in measures] == pytest.approx([200 / 3, 100, 200 / 3])
    assert scores["untrained"]["directed"] == pytest.approx(100 / 3)
    assert [scores["left"][key] for key in ("sentences", "words", "scored_words", "nulls")] == [2, 6, 3, 1]


@pytest.mark.parametrize("compared", ["induced", "supervised"])
def test_the_uas_of_induced_trees_is_that_of_the_best_trees(tmp_path: Path, compared: str):
    """Heads are decoded from scores as a model's are; the best of all trees and the likeliest heads differ."""
    generator = np.random.default_rng(3)
    lengths = [int(generator.integers(1, 6)) for _ in range(40)]
    all_scores = [generator.normal(size=(length, 1 + length)) for length in lengths]
    gold = [TREES[length, True][generator.integers(len(TREES[length, True]))] for length in lengths]
    best = [max(TREES[len(own), True], key=partial(score_sum, own)) for own in all_scores]
    likeliest = [own.argmax(axis=1) for own in all_scores]
    trees, heads = (
        [[sum(map(int.__eq__, map(int, own), tree)), len(tree)] for own, tree in zip(predicted, gold, strict=True)]
        for predicted in (best, likeliest)
    )
    of_trees, of_heads = (100 * sum(right for right, _ in own) / sum(lengths) for own in (trees, heads))
    assert abs(of_trees - of_heads) > 1, "otherwise this test shows nothing"

    files = make_output_files(tmp_path / "parses")
    for path in (files.parses, files.untrained_parses):
        write_parses(path, range(len(gold)), [parse_of(own, to_root=True) for own in all_scores])
    for path in (files.translations, files.references):
        write_lines(path, ["x"] * len(gold))
    write_corpus(tmp_path / "corpus.parquet", [["w"] * length for length in lengths])
    write_trees(tmp_path / "trees.parquet", [(list(tree), None) for tree in gold])
    inputs = {"corpora": {"test": tmp_path / "corpus.parquet"}, "trees": {"test": tmp_path / "trees.parquet"}}
    own = {"test": tmp_path / "parses"}
    for name, score, given in (("tests", score_tests, {"hypotheses": own}), ("gold", score_gold, {"parses": own})):
        outputs = {"scores": tmp_path / f"{name}.json", "counts": tmp_path / name}
        lines = score(settings(compared), **inputs, **given, **outputs)
        path = tmp_path / name / "test.parquet"
        column, expected = ("tree_uas", trees) if compared == "induced" else ("uas", heads)
        assert {"uas", "tree_uas"} & {*stored_measures(path)} == {column}
        assert read_counts(path, column).counts_BF.tolist() == expected
        shown = re.findall(r"UAS[^,(]*[0-9]", lines[0])
        if compared == "supervised":
            assert shown == [f"UAS {of_heads:.1f}", f"UAS of trees {of_trees:.1f}"]
        else:  # on a treebank, the accuracy of induced trees is that of grammar induction
            assert shown == ([f"UAS {of_trees:.1f}"] if name == "tests" else [])


REFERENCES = ["The cat sees the small dog.", "A\u2028dog\r"]


def scored_tests(folder: Path, *components, in_train=(), **settings) -> tuple[dict, list[str]]:
    """Score possible translations and parses of a run; return the scores, and the lines for the terminal."""
    run, paths = run_settings(*components, **{"tests": ("test", "dev"), **settings}), {}
    for split in run.tests:
        paths[split] = folder / "hypotheses" / split
        files = make_output_files(paths[split])
        write_lines(files.translations, ["The cat sees a small dog.", ""])
        write_lines(paths[split] / "greedy.txt", ["The dog sees a small cat.", "A"])
        write_lines(files.references, REFERENCES)
        write_parses(files.parses, range(2), [Parse(argmax=[1, 1]), Parse(argmax=[1])])
        write_corpus(folder / f"{split}.parquet", [["a", "b"], ["c"]])
    corpora = {split: folder / f"{split}.parquet" for split in run.parsed_tests}
    inputs = {"hypotheses": paths, "corpora": corpora, "trees": {}, "in_train": in_train}
    outputs = {"scores": folder / "scores.json", "counts": folder / "counts"}
    lines = score_tests(ScoringSettings.of_tests(run), **inputs, **outputs)
    return read_json(outputs["scores"]), lines


def test_test_splits_are_scored_in_order_by_their_settings(tmp_path: Path):
    plain_scores, lines = scored_tests(tmp_path)
    assert plain_scores.keys() == {"dataset", "system", "scale", "seed", "bleu"}
    assert list(plain_scores["bleu"]) == ["test", "dev"]
    bleu = plain_scores["bleu"]["test"]
    shown = f"BLEU {bleu['bleu']:.1f}, length {bleu['length_ratio']:.2f}, chrF {bleu['chrf']:.1f}"
    assert lines == [f"{tmp_path} test: {shown} (2 sentences; empty translations: 1)"]
    assert [own["empty_translations"] for own in plain_scores["bleu"].values()] == [1, 1]
    untokenised, _ = scored_tests(tmp_path, evaluation=EvaluationSettings(tokenize="none", text="tokens"))
    assert "tok:none" in untokenised["bleu"]["test"]["bleu_signature"]
    assert untokenised["bleu"]["test"]["reference_length"] < bleu["reference_length"]
    write_json(tmp_path / "test.in_train.json", {"pairs": 2, "in_train": 1})
    parsed, lines = scored_tests(tmp_path, DiagonalParseSettings(layer=0), in_train=[tmp_path / "test.in_train.json"])
    assert parsed["bleu"] == {"test": bleu | {"in_train": 1}, "dev": plain_scores["bleu"]["dev"]}
    assert "(2 sentences; 1 of its pairs also in train;" in lines[0]
    assert list(parsed["uas"]) == ["test", "dev"]
    assert parsed["uas"]["test"]["argmax"]["uas"] == 100
    assert "precision of chains 100.0" in lines[0]


def test_the_metrics_of_a_data_set_are_scored_on_every_split(tmp_path: Path):
    evaluation = EvaluationSettings(text="tokens", tokenize="none", greedy_dev=True, metrics=("ribes", "multi_bleu"))
    scores, lines = scored_tests(tmp_path, evaluation=evaluation)
    names = {"test": "test/translations", "dev": "dev/translations", "dev.greedy": "dev/greedy"}
    for metric in evaluation.metrics:
        assert list(scores[metric]) == list(scores["bleu"]) == list(names)
        for split, name in names.items():
            expected = METRICS[metric].count(read_lines(tmp_path / f"hypotheses/{name}.txt"), REFERENCES, evaluation)
            assert scores[metric][split] == {
                metric: expected.corpus_score(), f"{metric}_signature": expected.signature, "sentences": 2,
            }  # fmt: skip
    assert scores["ribes"]["dev"]["ribes"] > scores["ribes"]["dev.greedy"]["ribes"] > 0
    shown = f"RIBES {scores['ribes']['test']['ribes']:.1f}, multi-bleu {scores['multi_bleu']['test']['multi_bleu']:.1f}"
    assert shown in lines[0]
    write_summary([tmp_path / "scores.json"], seeds=[1], score="ribes", output=tmp_path / "s.ribes")
    summary = read_json(tmp_path / "s.ribes")["splits"]["dev"]
    assert summary["ribes"]["mean"] == scores["ribes"]["dev"]["ribes"]
    assert summary["ribes_signature"] == scores["ribes"]["dev"]["ribes_signature"]
