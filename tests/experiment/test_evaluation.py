"""Predicted trees are compared with a corpus and its trees, and gold treebanks are parsed."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from inference.tiny import run_settings

from nmtcore.config.training import DecodingSettings
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.experiment import evaluation
from nmtcore.experiment.evaluation import score_parses
from nmtcore.inference.parse import Parse
from nmtcore.parquet import write_rows


def write_corpus(path: Path, sentences: list[list[str]]) -> None:
    rows = [
        {"id": i, "source": " ".join(s), "target": "x", "source_words": s, "target_words": ["x"], "origin": f"c:{i}"}
        for i, s in enumerate(sentences)
    ]
    write_rows(path, PAIR_SCHEMA, rows)


def test_a_chain_is_the_right_tree_where_there_are_no_trees(tmp_path: Path):
    write_corpus(tmp_path / "c.parquet", [["a", "b", "."], ["a"], []])
    parses = [Parse(argmax=[1, 1, 1]), Parse(argmax=[1]), Parse(argmax=[])]
    scores = score_parses(parses, tmp_path / "c.parquet", None)
    assert set(scores) == {"argmax"}
    assert scores["argmax"]["uas"] == pytest.approx(100 * 3 / 4)
    assert scores["argmax"]["uas_without_punctuation"] == 100
    assert scores["argmax"]["words"] == 4


def test_trees_are_compared_row_by_row_and_nulls_counted(tmp_path: Path):
    import pyarrow as pa

    write_corpus(tmp_path / "c.parquet", [["a", "b"], ["a", "b"], ["c"]])
    schema = pa.schema([("head", pa.list_(pa.int32())), ("upos", pa.list_(pa.string()))])
    trees = [{"head": [2, 0], "upos": ["X", "PUNCT"]}, {"head": None, "upos": None}, {"head": [0], "upos": None}]
    write_rows(tmp_path / "t.parquet", schema, trees)
    parse = Parse(argmax=[0, 0], one_root=[2, 0], many_roots=[0, 0])
    lone = Parse(argmax=[0], one_root=[0], many_roots=[0])
    scores = score_parses([parse, parse, lone], tmp_path / "c.parquet", tmp_path / "t.parquet")
    assert scores["argmax"]["uas"] == pytest.approx(100 * 2 / 3)
    assert scores["argmax"]["uas_without_punctuation"] == pytest.approx(50)
    assert scores["one_root"]["uas"] == 100
    assert scores["many_roots"]["nulls"] == 1
    assert scores["spanning_tree"] == scores["one_root"]
    many = score_parses([parse, parse, lone], tmp_path / "c.parquet", tmp_path / "t.parquet", roots="many")
    assert many["spanning_tree"] == many["many_roots"] != many["one_root"]


def test_gold_treebanks_are_parsed_as_many_sentences_at_once_as_the_settings_say(tmp_path: Path, monkeypatch):
    asked = []
    for name, result in {"load_bundle": SimpleNamespace(model=None), "load_split": SimpleNamespace(id=[])}.items():
        monkeypatch.setattr(evaluation, name, lambda *_, result=result: result)
    monkeypatch.setattr(evaluation, "parse_examples", lambda *_, **options: asked.append(options) or [])
    monkeypatch.setattr(evaluation, "score_parses", lambda *_, **__: {"argmax": {"uas": 50.0, "sentences": 0}})
    places = {"corpora": {"gold_a": tmp_path}, "trees": {"gold_a": tmp_path}, "parses": tmp_path / "gold"}
    run = run_settings(gold=("gold_a",), decoding=DecodingSettings(batch_sentences=3))
    where = {"model": tmp_path, "features": tmp_path, "scores": tmp_path / "gold.json", "device": "cpu", "threads": 1}
    evaluation.evaluate_gold(run, **where, **places)
    assert asked == [{"batch_sentences": 3}]
