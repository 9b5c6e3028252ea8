"""The workflow and `nmtcore translate` give the same lines, trees, tags and attention for the same source and model."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from experiment.test_inference import model_on
from factories import run_settings
from inference.test_raw import Chain
from inference.tiny import RECURRENT, write_bundle
from pair_files import write_corpus

from nmtcore.annotation.base import NumberedSentence, guarded
from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.components import (
    DepParseSettings,
    DiagonalParseSettings,
    HeadSelectionSettings,
    PascalSettings,
    TagAttentionSettings,
)
from nmtcore.config.datasets import ExistingSettings
from nmtcore.config.features import LABEL_COLUMNS, InterleaveSettings
from nmtcore.config.training import DecodingSettings, EvaluationSettings
from nmtcore.experiment import training
from nmtcore.experiment.inference import parse_gold, translate_split
from nmtcore.features.extract import extract_subwords, extract_syntax
from nmtcore.files import read_lines, write_json
from nmtcore.inference.analyse import translate_and_write
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.parse import make_parser, parse_sentences
from nmtcore.inference.text import read_text
from nmtcore.parquet import read_rows, write_rows

LINES = ["the cat", "", "the dog .", "  ", "a the cab " * 6, "abcdeghabcdegh the", "cat " * 8, "the", "a the cat the"]
LONGEST = 5
PARSED = {"source": {"trees": "parser"}}


def interleaved(*sides):
    """Make the values of a run with tags among the words of some sides."""
    return {
        "transforms": {f"interleave_{side}": InterleaveSettings(side=side, tags="dg_a_tags") for side in sides},
        "features": {side: {"dg_a_tags": "parser"} for side in sides},
    }


SYSTEMS = {
    "plain": ([], {}),
    "depparse": ([DepParseSettings(layer=1)], {}),
    "diagonalparse": ([DiagonalParseSettings(layer=0)], {}),
    "induced": ([HeadSelectionSettings()], RECURRENT),
    "pascal": ([PascalSettings(layers=(0,), heads=1)], {"features": PARSED}),
    "interleaved": ([], interleaved("source", "target")),
    "tags": ([TagAttentionSettings(width=8)], {"features": {"target": {"ccg_tags": "parser"}}}),
}


@pytest.fixture(autouse=True)
def _limits(monkeypatch):
    for module in ("features.sources", "inference.text", "experiment.load_examples"):
        monkeypatch.setattr(f"nmtcore.{module}.MAX_SUBWORDS", LONGEST)
    monkeypatch.setattr("nmtcore.inference.text.open_annotator", lambda settings, task: Chain())


def write_features(folder, run):
    """Write `LINES` as dev, as a test and as a treebank, as the stages of the workflow do, and a model; return it."""
    write_bundle(folder / "model", run, label_names=("x", "x|root", "x|x"))
    bundle = load_bundle(folder / "model")
    words = [line.split() for line in LINES]
    numbered = (NumberedSentence(i, own) for i, own in enumerate(words))
    annotations = [own for _, own in guarded(Chain(), numbered, max_words=ExistingSettings().max_words)]
    write_rows(folder / "trees", ANNOTATION_SCHEMA, map(annotation_row, range(len(words)), annotations))
    names = {column: [*LABEL_SPECIALS, "x", "x|root", "x|x"] for column in LABEL_COLUMNS}
    write_json(folder / "labels", names)
    for split in ("dev", "test", "gold_a"):
        corpus = write_corpus(folder / f"{split}.parquet", words)
        for side in ("source", "target"):
            tokens = folder / f"features/{split}.{side}.parquet"
            extract_subwords(
                words=corpus,
                column=f"{side}_words",
                segmentation=folder / "segmentation",
                settings=run.segmentation,
                side=side,
                output=tokens,
            )
        if "source" in run.features:
            extract_syntax(
                annotation=folder / "trees",
                labels=folder / "labels",
                tokens=folder / f"features/{split}.source.parquet",
                output=folder / f"features/{split}.source.parser.parquet",
                annotation_names=["dependencies"],
                side="source",
            )
    return bundle


@pytest.fixture(params=SYSTEMS)
def name(request):
    return request.param


def run_of(name, **decoding):
    components, values = SYSTEMS[name]
    limits = {"max_length_ratio": 1.0, "max_length_extra": 3, "batch_sentences": 3}
    return run_settings(
        *components,
        annotators={"parser": {"tool": "existing"}},
        decoding=DecodingSettings(**limits, **decoding),
        evaluation=EvaluationSettings(greedy_dev=True),
        tests=("dev", "test"),
        gold=("gold_a",),
        **values,
    )


def translated(folder, run, split="dev"):
    """Translate a split as the workflow does; return the folder of its outputs."""
    hypotheses = folder / f"hypotheses/{split}"
    translate_split(model_on(folder, run, split), corpus=folder / f"{split}.parquet", hypotheses=hypotheses)
    return hypotheses


def test_translations_are_the_same(name, tmp_path, capsys):
    """By beam search and greedily, in batches of three, of one, and in one batch of all."""
    run = run_of(name, beam=3)
    bundle = write_features(tmp_path, run)
    output = translated(tmp_path, run)
    left_out = [f"line {number}: left out, since it has more than {LONGEST} subwords." for number in (5, 6, 7)]
    assert capsys.readouterr().out.splitlines()[:3] == [f"dev, {message}" for message in left_out]
    for beam, file in ((3, "translations.txt"), (1, "greedy.txt")):
        lines = read_lines(output / file)
        assert not any(lines[number] for number in (1, 3, 4, 5, 6))
        for size in (1, 3, 100):
            settings = replace(run.decoding, beam=beam, batch_sentences=size)
            assert list(bundle.translate(LINES, settings)) == lines
            assert list(bundle.translate(LINES, settings)) == [next(bundle.translate([own], settings)) for own in LINES]
    assert len({*lines}) > 1
    assert capsys.readouterr().err.splitlines()[:3] == [f"standard input, {message}" for message in left_out]
    assert len(read_lines(output / "references.txt")) == len(LINES)


def test_validation_translates_alike(name, tmp_path, monkeypatch):
    run = run_of(name, beam=3)
    run = replace(run, training=replace(run.training, validation=replace(run.training.validation, metric="bleu")))
    bundle = write_features(tmp_path, run)
    output = translated(tmp_path, run)
    job = SimpleNamespace(
        segmentation=tmp_path / "segmentation", features=tmp_path / "features", dev_corpus=tmp_path / "dev.parquet"
    )
    messages, scored = [], []
    monkeypatch.setattr(training, "score_translations", lambda *texts: {"bleu": scored.append(texts)})
    validate = training._validator(run, bundle.vocabularies, bundle.transforms, job, log=messages.append)
    validate(bundle.model)
    assert scored == [(*(read_lines(output / f"{file}.txt") for file in ("greedy", "references")), run.evaluation)]
    assert [message.partition(":")[0] for message in messages] == [f"dev, line {n}" for n in (5, 6, 7)]


@pytest.mark.parametrize("name", ["depparse", "diagonalparse", "induced"])
def test_parses_are_the_same(name, tmp_path):
    run = run_of(name, beam=1)
    bundle = write_features(tmp_path, run)
    parse_gold(model_on(tmp_path, run, "gold_a"), parses=tmp_path / "gold")
    for folder in (translated(tmp_path, run), tmp_path / "gold"):
        rows = list(read_rows(folder / "parses.parquet"))
        for method in ("argmax", *["one_root", "many_roots"] * bundle.model.parser.points_to_root):
            parsed = parse_sentences(bundle, read_text(LINES), make_parser(bundle, method))
            assert [row[method] for row in rows] == [heads for _, _, heads in parsed]
        assert [len(row["argmax"]) for row in rows] == [len(line.split()) for line in LINES]
        assert [row["one_root"] is None for row in rows] == [name == "diagonalparse"] * len(LINES)


@pytest.mark.parametrize("name", ["tags", "interleaved"])
def test_tags_are_the_same(name, tmp_path):
    run = run_of(name, beam=2)
    bundle = write_features(tmp_path, run)
    rows = list(read_rows(translated(tmp_path, run) / "tags.parquet"))
    texts = list(translate_and_write(bundle, LINES, tags=tmp_path / "tags"))
    for row, other, ((text, _),) in zip(rows, read_rows(tmp_path / "tags"), texts, strict=True):
        probabilities = [np.array(own.pop("probabilities"), dtype=float) for own in (row, other)]
        np.testing.assert_allclose(*probabilities, rtol=1e-4)
        assert row == other
        assert " ".join(row["words"]) == text
    assert rows[1]["words"] == rows[3]["words"] == []
