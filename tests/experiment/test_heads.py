"""Attention heads scored as parsers of a treebank."""

from pathlib import Path

import pyarrow as pa
import pytest
from experiment.tokens import write_tokens
from factories import run_settings
from inference.tiny import write_bundle
from pair_files import write_corpus

from nmtcore.config.components.settings import DepParseSettings, PascalSettings
from nmtcore.evaluation.induction import gold_tree, score_induction
from nmtcore.evaluation.scores import output_files, read_gold_trees
from nmtcore.experiment.inference import parse_gold
from nmtcore.experiment.load_examples import load_sources
from nmtcore.experiment.measure import ModelOnSplit, measure_heads
from nmtcore.files import read_json
from nmtcore.inference.attention import load_observed_bundle
from nmtcore.inference.parse import make_parser
from nmtcore.parquet import read_rows, write_rows

SENTENCES = [["the", "cat", "dog", "."], ["dog"], ["the", "dog", "a", "cat"], []]
TREES = [([2, 3, 0, 3], ["DET", "NOUN", "NOUN", "PUNCT"]), (None, None), ([2, 0, 4, 2], None), ([], [])]


@pytest.fixture
def run():
    return run_settings(DepParseSettings(layer=1, head=0), gold=("gold_a",))


@pytest.fixture
def files(tmp_path, run):
    """Write a treebank, its features and a model; return their paths."""
    write_corpus(tmp_path / "corpus.parquet", SENTENCES)
    schema = pa.schema([("head", pa.list_(pa.int32())), ("upos", pa.list_(pa.string()))])
    write_rows(tmp_path / "trees.parquet", schema, [{"head": heads, "upos": upos} for heads, upos in TREES])
    return {
        "model": write_bundle(tmp_path / "model", run),
        "features": write_tokens(tmp_path / "features/gold_a.source.parquet", SENTENCES),
        "corpus": tmp_path / "corpus.parquet",
        "trees": tmp_path / "trees.parquet",
    }


def scores_of_heads(tmp_path, run, files):
    scores = tmp_path / "heads/gold_a.json"
    paths = {name: files[name] for name in ("model", "features")}
    measured = ModelOnSplit(run=run, **paths, split="gold_a", device="cpu", threads=1)
    measure_heads(measured, corpus=files["corpus"], trees=files["trees"], output=scores)
    return read_json(scores)


def test_scores_are_those_of_each_head_as_a_parser(tmp_path: Path, run, files):
    result = scores_of_heads(tmp_path, run, files)
    bundle = load_observed_bundle(files["model"])
    examples = load_sources(run, bundle.transforms, files["features"], "gold_a")
    gold = [
        heads and gold_tree(heads, words, upos) for (heads, upos), words in zip(TREES[:3], SENTENCES[:3], strict=True)
    ]
    assert [result[key] for key in ("system", "seed", "split")] == [run.system, run.seed, "gold_a"]
    assert result["components"] == {"1.0": "depparse"}
    assert list(result["heads"]) == ["0.0", "0.1", "1.0", "1.1"]
    assert list(result["baselines"]) == ["left", "right", "random"]
    for name, values in result["heads"].items():
        layer, head = map(int, name.split("."))
        trees = make_parser(bundle, "one_root", attention=(layer, head))(examples)
        expected = score_induction([*gold, gold_tree([], [], [])], {"mine": trees})
        assert values == expected["mine"]
        assert values["scored_words"] == 5
        assert result["baselines"]["left"] == expected["left"]


def test_the_head_that_parses_has_the_accuracy_of_the_parses_of_the_run(tmp_path: Path, run, files):
    """They are the parses of which `gold.uas` is the score."""
    folder = tmp_path / "gold"
    parse_gold(run, model=files["model"], features=files["features"], parses=folder, device="cpu", threads=1)
    parses = [row["one_root"] for row in read_rows(output_files(folder, "gold_a").parses)]
    gold = read_gold_trees(files["corpus"], files["trees"], len(parses))
    assert scores_of_heads(tmp_path, run, files)["heads"]["1.0"] == score_induction(gold, {"run": parses})["run"]


def test_heads_of_components_are_named():
    run = run_settings(DepParseSettings(layer=0, head=-1), PascalSettings(layers=(1,), heads=2))
    assert run.claimed_heads == {"0.1": "depparse", "1.0": "pascal", "1.1": "pascal"}
    assert run_settings().claimed_heads == {}
