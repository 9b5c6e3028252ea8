"""A run from features to scores, apart from Snakemake; and what stands around it."""

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from inference.tiny import run_settings

from nmtcore import experiment
from nmtcore.annotation.labels import KINDS, SPECIALS
from nmtcore.config.datasets import SIDES, SegmentationSettings
from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.config.runs import SentencesSettings, run_to_json
from nmtcore.config.training import DecodingSettings
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.errors import UserError
from nmtcore.evaluation.summary import write_summary
from nmtcore.experiment import _run_forwarding_signals, load_split, run_labels, score_parses
from nmtcore.features.schema import TOKENS_SCHEMA
from nmtcore.files import read_json, write_json
from nmtcore.inference.parse import Parse
from nmtcore.parquet import write_rows
from nmtcore.reporting.demo import write_demo_table


def write_corpus(path: Path, sentences: list[list[str]]) -> None:
    rows = [
        {"id": i, "source": " ".join(s), "target": "x", "source_words": s, "target_words": ["x"], "origin": f"c:{i}"}
        for i, s in enumerate(sentences)
    ]
    write_rows(path, PAIR_SCHEMA, rows)


@pytest.mark.parametrize(
    ("parsing", "limit", "expected"),
    [
        (True, None, [0, -1, 4, 7, -8, 9]),
        (True, 3, [0, -1, 4, 7, -8]),
        (True, 1, [0, -1]),
        (True, 9, [0, -1, 4, 7, -8, 9]),
        (False, 3, [0, 4, 7]),
    ],
)
def test_a_scale_counts_pairs_also_where_they_stand_for_two_tasks(tmp_path: Path, parsing, limit, expected):
    ids = [0, -1, 4, 7, -8, 9] if parsing else [0, 4, 7, 9]
    rows = [{"id": i, "ids": [5, 6], "word_of_subword": [0, 0]} for i in ids]
    for side in SIDES:
        write_rows(tmp_path / f"dev.{side}.parquet", TOKENS_SCHEMA, rows)
    segmentation = SegmentationSettings(kind="bpe", size=9, parsing=parsing)
    run = run_settings(segmentation=segmentation, sentences=SentencesSettings(dev=limit))
    for target in (True, False):
        examples = load_split(run, tmp_path, "dev", target=target)
        assert examples.id.tolist() == expected
        assert len(examples.source) == len(expected)
        assert (examples.target is not None) == target


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


def seed_scores(seed: int, bleu: float) -> dict:
    split = {"bleu": bleu, "chrf": 2 * bleu, "bleu_signature": "s", "sentences": 3}
    uas = {"argmax": {"uas": 50.0}}
    names = {"dataset": "d", "system": "s", "scale": "smoke", "seed": seed}
    return {**names, "bleu": {"test": split, "dev": split}, "uas": {"test": uas, "dev": uas}}


def test_seeds_are_summarised_and_tabulated(tmp_path: Path):
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
    table = write_demo_table(bleu=[tmp_path / "s.bleu"], uas=[tmp_path / "s.uas"], output=tmp_path / "t.md")
    assert "| s | 12.0 ± 2.8 | 24.0 ± 5.7 | 50.0 ± 0.0 | 12.0 ± 2.8 |" in table
    assert (tmp_path / "t.md").read_text() == table


@pytest.mark.parametrize("asked", [0, 2])
def test_scores_of_another_seed_or_without_the_metric(tmp_path: Path, asked: int):
    path = tmp_path / "1.json"
    write_json(path, seed_scores(1, 10.0))
    with pytest.raises(UserError, match=f"scores of seed 1, not {asked}"):
        write_summary([path], seeds=[asked], score="bleu", output=tmp_path / "out")
    with pytest.raises(UserError, match="has no ribes"):
        write_summary([path], seeds=[1], score="ribes", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_gold_treebanks_are_parsed_as_many_sentences_at_once_as_the_settings_say(tmp_path: Path, monkeypatch):
    asked = []
    for name, result in {"load_bundle": SimpleNamespace(model=None), "load_split": SimpleNamespace(id=[])}.items():
        monkeypatch.setattr(experiment, name, lambda *_, result=result: result)
    monkeypatch.setattr(experiment, "parse_examples", lambda *_, **options: asked.append(options) or [])
    monkeypatch.setattr(experiment, "score_parses", lambda *_, **__: {"argmax": {"uas": 50.0, "sentences": 0}})
    places = {"corpora": {"gold_a": tmp_path}, "trees": {"gold_a": tmp_path}, "parses": tmp_path / "gold"}
    run = run_settings(gold=("gold_a",), decoding=DecodingSettings(batch_sentences=3))
    where = {"model": tmp_path, "features": tmp_path, "scores": tmp_path / "gold.json", "device": "cpu", "threads": 1}
    experiment.evaluate_gold(run, **where, **places)
    assert asked == [{"batch_sentences": 3}]


def test_each_kinds_labels_come_from_its_annotator(tmp_path: Path):
    for name in ("parser", "tagger"):
        entries = {kind: [*SPECIALS, f"{name} {kind}"] for kind in KINDS}
        write_json(tmp_path / name / "source.labels.json", entries)
    syntax = {"source": {"dependencies": "parser", "tags": "tagger", "dg_a": "parser"}, "target": {}}
    files = {"source": {name: str(tmp_path / name / "source.labels.json") for name in ("parser", "tagger")}}
    labels = run_labels(run_settings(syntax=syntax), files)
    names = {"deprel": "parser", "upos": "tagger", "xpos": "tagger", "dg_a": "parser"}
    expected = {kind: [*SPECIALS, f"{name} {kind}"] for kind, name in names.items()}
    assert labels == {"source": expected, "target": {}}


def test_a_broken_job_file_is_a_sentence(tmp_path: Path):
    command = [sys.executable, "-m", "nmtcore.experiment", str(tmp_path / "absent.json")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "absent.json does not exist" in result.stderr
    assert "Traceback" not in result.stderr


FORWARD = """
import sys
from nmtcore.experiment import _run_forwarding_signals
child = '''
import signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7))
print("ready", flush=True)
time.sleep(60)
'''
sys.exit(_run_forwarding_signals([sys.executable, "-c", child]))
"""


def test_signals_reach_the_trainers_behind_torchrun():
    process = subprocess.Popen([sys.executable, "-c", FORWARD], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGUSR1)
    assert process.wait(timeout=30) == 7


def test_the_shipped_components_can_be_told_as_json(root: Path):
    project, told = Project.load(root / "config"), set()
    for dataset, system in product(project.dataset_files, project.system_entries):
        with suppress(MissingAnnotation):
            json.dumps(run_to_json(project.run(dataset, system, "smoke", 1)))
            told.add(system)
    assert told == set(project.system_entries)


def test_trainers_import_nothing_from_the_working_directory():
    looks_here = "import sys; sys.exit('' in sys.path)"
    assert _run_forwarding_signals([sys.executable, "-c", looks_here]) == 0
