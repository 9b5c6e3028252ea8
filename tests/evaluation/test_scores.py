"""Scores computed from files of translations, references, parses and trees."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from factories import run_settings
from pair_files import write_corpus

from nmtcore.config.components.settings import DiagonalParseSettings, HeadSelectionSettings
from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.stages import ScoringSettings
from nmtcore.config.typed import plain
from nmtcore.errors import UserError
from nmtcore.evaluation.metrics import METRICS
from nmtcore.evaluation.scores import output_files, read_compared, score_gold, score_parses, score_tests
from nmtcore.evaluation.summary import write_summary
from nmtcore.files import read_json, read_lines, write_json, write_lines
from nmtcore.inference.schemas import Parse, write_parses
from nmtcore.parquet import write_rows

TREE_SCHEMA = pa.schema([("head", pa.list_(pa.int32())), ("upos", pa.list_(pa.string()))])


def test_without_trees_the_gold_tree_is_a_chain(tmp_path: Path):
    write_corpus(tmp_path / "c.parquet", [["a", "b", "."], ["a"], []])
    parses = [Parse(argmax=[1, 1, 1]), Parse(argmax=[1]), Parse(argmax=[])]
    write_parses(tmp_path / "p.parquet", range(3), parses)
    scores = score_parses(read_compared(tmp_path / "p.parquet", tmp_path / "c.parquet", None))
    assert set(scores) == {"argmax"}
    assert scores["argmax"]["uas"] == pytest.approx(100 * 3 / 4)
    assert scores["argmax"]["uas_without_punctuation"] == 100
    assert scores["argmax"]["words"] == 4


def gold_outputs(folder: Path) -> dict[str, Path]:
    return {"scores": folder / "gold.json", "counts": folder / "gold_counts"}


def write_trees(folder: Path) -> dict[str, Path]:
    """Write three sentences with trees and parses; return the file arguments of `score_parses`."""
    files = {name: folder / f"{name}.parquet" for name in ("parses", "corpus", "trees")}
    write_corpus(files["corpus"], [["a", "b"], ["a", "b"], ["c"]])
    trees = [{"head": [2, 0], "upos": ["X", "PUNCT"]}, {"head": None, "upos": None}, {"head": [0], "upos": None}]
    write_rows(files["trees"], TREE_SCHEMA, trees)
    parse = Parse(argmax=[0, 0], one_root=[2, 0], many_roots=[0, 0])
    write_parses(files["parses"], range(3), [parse, parse, Parse(argmax=[0], one_root=[0], many_roots=[0])])
    return files


def test_trees_are_compared_row_by_row_and_nulls_are_counted(tmp_path: Path):
    files = write_trees(tmp_path)
    scores = score_parses(read_compared(**files))
    assert list(scores) == ["argmax", "spanning_tree", "one_root", "many_roots"]
    assert scores["argmax"]["uas"] == pytest.approx(100 * 2 / 3)
    assert scores["argmax"]["uas_without_punctuation"] == pytest.approx(50)
    assert scores["one_root"]["uas"] == 100
    assert scores["many_roots"]["nulls"] == 1
    assert scores["spanning_tree"] == scores["one_root"]
    many = score_parses(read_compared(**files), roots="many")
    assert many["spanning_tree"] == many["many_roots"] != many["one_root"]


def test_gold_parses_are_compared_with_the_treebank(tmp_path: Path):
    files = write_trees(tmp_path)
    files["parses"].rename(tmp_path / "gold_a.parquet")
    run = run_settings(gold=("gold_a",), evaluation=EvaluationSettings(roots="many"))
    inputs = {"corpora": {"gold_a": files["corpus"]}, "trees": {"gold_a": files["trees"]}}
    lines = score_gold(ScoringSettings.of_gold(run), parses=tmp_path, **inputs, **gold_outputs(tmp_path))
    assert lines == [f"{tmp_path} gold_a: UAS 66.7 (2 sentences)"]
    gold_scores = read_json(tmp_path / "gold.json")
    assert list(gold_scores) == ["dataset", "system", "scale", "seed", "gold.uas"]
    expected = score_parses(read_compared(tmp_path / "gold_a.parquet", files["corpus"], files["trees"]), roots="many")
    assert gold_scores["gold.uas"] == {"gold_a": expected}


def test_induced_trees_are_scored_without_punctuation_beside_baselines(tmp_path: Path):
    write_corpus(tmp_path / "corpus.parquet", [["a", "b", "c", "."], ["a"], ["d", "e"]])
    rows = [
        {"head": [2, 0, 2, 2], "upos": ["X", "X", "X", "PUNCT"]},
        {"head": None, "upos": None},
        {"head": [2, 0], "upos": None},
    ]
    write_rows(tmp_path / "trees.parquet", TREE_SCHEMA, rows)
    other = Parse(argmax=[0] * 4, one_root=[0, 1, 2, 3], many_roots=[0] * 4)
    last = Parse(argmax=[0, 0], one_root=[2, 0], many_roots=[0, 0])
    single = Parse(argmax=[0], one_root=[0], many_roots=[0])
    files = output_files(tmp_path, "gold_a")
    write_parses(files.parses, range(3), [other, single, last])
    write_parses(files.untrained_parses, range(3), [other, single, replace(last, one_root=[0, 1])])
    run = run_settings(HeadSelectionSettings(), gold=("gold_a",), evaluation=EvaluationSettings(roots="many"))
    inputs = {"corpora": {"gold_a": tmp_path / "corpus.parquet"}, "trees": {"gold_a": tmp_path / "trees.parquet"}}
    score_gold(ScoringSettings.of_gold(run), parses=tmp_path, **inputs, **gold_outputs(tmp_path))
    scores = read_json(tmp_path / "gold.json")["gold.uas"]["gold_a"]
    assert list(scores) == ["spanning_tree", "untrained", "left", "right", "random"]
    assert scores["spanning_tree"]["directed"] == pytest.approx(100 * 2 / 3)
    assert scores["spanning_tree"]["undirected_gold_edges"] == 100
    assert scores["spanning_tree"]["undirected_predicted_edges"] == pytest.approx(100 * 2 / 3)
    assert scores["untrained"]["directed"] == pytest.approx(100 / 3)
    assert {key: scores["left"][key] for key in ("sentences", "words", "scored_words", "nulls")} == {
        "sentences": 2, "words": 6, "scored_words": 3, "nulls": 1,
    }  # fmt: skip
    write_parses(files.untrained_parses, range(1), [other])
    with pytest.raises(UserError, match=r"1 parses \(untrained\) cannot be scored against 3 trees"):
        score_gold(ScoringSettings.of_gold(run), parses=tmp_path, **inputs, **gold_outputs(tmp_path))


def write_hypotheses(folder: Path, run: RunSettings) -> dict:
    """Write possible outputs of translating `run`; return the path arguments of `score_tests`."""
    for split in run.tests:
        write_lines(folder / f"hypotheses/{split}.txt", ["The cat sees a small dog.", ""])
        write_lines(folder / f"hypotheses/{split}.references.txt", ["The cat sees the small dog.", "A\u2028dog\r"])
        write_parses(folder / f"hypotheses/{split}.parquet", range(2), [Parse(argmax=[1, 1]), Parse(argmax=[1])])
        write_corpus(folder / f"{split}.parquet", [["a", "b"], ["c"]])
    corpora = {split: folder / f"{split}.parquet" for split in run.parsed_tests}
    outputs = {"scores": folder / "scores.json", "counts": folder / "counts"}
    return {"hypotheses": folder / "hypotheses", "corpora": corpora, "trees": {}, **outputs}


def test_test_splits_are_scored_in_order_by_their_settings(tmp_path: Path):
    def scores(*components, **evaluation):
        run = run_settings(*components, tests=("test", "dev"), evaluation=EvaluationSettings(**evaluation))
        lines = score_tests(ScoringSettings.of_tests(run), **write_hypotheses(tmp_path, run))
        result = read_json(tmp_path / "scores.json")
        assert all(list(result[key]) == ["test", "dev"] for key in result.keys() & {"bleu", "uas"})
        return result, lines

    plain_scores, lines = scores()
    assert plain_scores.keys() == {"dataset", "system", "scale", "seed", "bleu"}
    bleu = plain_scores["bleu"]["test"]
    assert bleu["sentences"] == 2
    shown = f"BLEU {bleu['bleu']:.1f}, length {bleu['length_ratio']:.2f}, chrF {bleu['chrf']:.1f}"
    assert lines == [f"{tmp_path} test: {shown} (2 sentences)"]
    untokenised, _ = scores(tokenize="none", text="tokens")
    assert "tok:none" in untokenised["bleu"]["test"]["bleu_signature"]
    assert untokenised["bleu"]["test"]["reference_length"] < bleu["reference_length"]
    parsed, lines = scores(DiagonalParseSettings(layer=0))
    assert parsed["bleu"] == plain_scores["bleu"]
    assert parsed["uas"]["test"]["argmax"]["uas"] == 100
    assert "UAS 100.0" in lines[0]


def test_what_a_test_shares_with_train_stands_with_its_bleu(tmp_path: Path):
    run = run_settings(tests=("test", "more", "dev"))
    counted = {name: tmp_path / f"{name}.in_train.json" for name in ("test", "more")}
    for path, number in zip(counted.values(), (0, 1), strict=True):
        write_json(path, {"pairs": 2, "in_train": number})
    paths = write_hypotheses(tmp_path, run)
    lines = score_tests(ScoringSettings.of_tests(run), in_train=counted.values(), **paths)
    shares = {split: own.get("in_train") for split, own in read_json(paths["scores"])["bleu"].items()}
    assert shares == {"test": 0, "more": 1, "dev": None}
    assert [line.endswith(" (2 sentences; 1 of its pairs also in train)") for line in lines] == [False, True]
    lines = write_summary([paths["scores"]], seeds=[1], score="bleu", output=tmp_path / "s.bleu")
    assert [line.endswith(" (seed 1; 1 of its pairs also in train)") for line in lines] == [False, True]


def test_a_text_that_was_cut_off_is_named(tmp_path: Path):
    run = run_settings(tests=("test", "dev"))
    paths = write_hypotheses(tmp_path, run)
    references = tmp_path / "hypotheses/dev.references.txt"
    write_lines(references, read_lines(references)[:-1])
    sentence = rf"dev\.txt has 2 lines, but {references} has 1: delete {references.parent} and run the workflow again"
    with pytest.raises(UserError, match=sentence):
        score_tests(ScoringSettings.of_tests(run), **paths)


def test_the_metrics_of_a_data_set_are_scored_on_every_split(tmp_path: Path):
    evaluation = EvaluationSettings(text="tokens", tokenize="none", greedy_dev=True, metrics=("ribes", "multi_bleu"))
    run = run_settings(tests=("test", "dev"), evaluation=evaluation)
    paths = write_hypotheses(tmp_path, run)
    write_lines(tmp_path / "hypotheses/dev.greedy.txt", ["The dog sees a small cat.", "A"])
    lines = score_tests(ScoringSettings.of_tests(run), **paths)
    scores = read_json(tmp_path / "scores.json")
    names = {"test": "test", "dev": "dev", "dev.greedy": "dev.greedy"}
    for metric in evaluation.metrics:
        assert list(scores[metric]) == list(scores["bleu"]) == list(names)
        for split, name in names.items():
            translations = read_lines(tmp_path / f"hypotheses/{name}.txt")
            references = read_lines(tmp_path / f"hypotheses/{split.removesuffix('.greedy')}.references.txt")
            expected = METRICS[metric].count(translations, references, evaluation)
            assert scores[metric][split] == {
                metric: expected.corpus_score(), f"{metric}_signature": expected.signature, "sentences": 2,
            }  # fmt: skip
    assert scores["ribes"]["dev"]["ribes"] > scores["ribes"]["dev.greedy"]["ribes"] > 0
    assert "definition:program" in scores["ribes"]["test"]["ribes_signature"]
    assert "tok:none" in scores["multi_bleu"]["test"]["multi_bleu_signature"]
    shown = f"RIBES {scores['ribes']['test']['ribes']:.1f}, multi-bleu {scores['multi_bleu']['test']['multi_bleu']:.1f}"
    assert shown in lines[0]
    write_summary([paths["scores"]], seeds=[1], score="ribes", output=tmp_path / "s.ribes")
    summary = read_json(tmp_path / "s.ribes")["splits"]["dev"]
    assert summary["ribes"] == {
        "mean": scores["ribes"]["dev"]["ribes"],
        "stdev": None,
        "values": [summary["ribes"]["mean"]],
    }
    assert summary["ribes_signature"] == scores["ribes"]["dev"]["ribes_signature"]


def test_a_missing_file_is_named(tmp_path: Path):
    run = run_settings()
    paths = write_hypotheses(tmp_path, run)
    (tmp_path / "hypotheses/test.references.txt").unlink()
    with pytest.raises(UserError, match=r"test\.references\.txt does not exist"):
        score_tests(ScoringSettings.of_tests(run), **paths)


SCORING = """
import sys
from pathlib import Path
from nmtcore.config.stages import ScoringSettings
from nmtcore.config.typed import build
from nmtcore.evaluation.scores import score_tests
from nmtcore.files import read_json
from nmtcore.job import job
folder = Path(sys.argv[1])
corpora = {"test": folder / "test.parquet"}
settings = build(ScoringSettings, read_json(folder / "settings.json"), where="test")
outputs = {"scores": folder / "scores.json", "counts": folder / "counts"}
score_tests(settings, hypotheses=folder / "hypotheses", corpora=corpora, trees={}, **outputs)
sys.exit("torch" in sys.modules)
"""


def test_scoring_does_not_import_torch(tmp_path: Path):
    run = run_settings(DiagonalParseSettings(layer=0))
    write_hypotheses(tmp_path, run)
    write_json(tmp_path / "settings.json", plain(ScoringSettings.of_tests(run)))
    assert subprocess.run([sys.executable, "-c", SCORING, str(tmp_path)], check=False).returncode == 0
    assert read_json(tmp_path / "scores.json")["uas"]["test"]["argmax"]["uas"] == 100
