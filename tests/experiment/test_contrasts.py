"""Contrastive pairs scored by the model of a run, from files."""

import pytest
from experiment.tokens import write_tokens
from factories import run_settings
from inference.tiny import write_bundle

from nmtcore.config.runs import SentencesSettings
from nmtcore.corpus.contrasts import CONTRASTS_SCHEMA, read_contrast_list
from nmtcore.errors import UserError
from nmtcore.experiment.measure import ModelOnSplit, measure_contrasts
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.schemas import read_contrast_scores
from nmtcore.inference.scoring import score_text_pairs
from nmtcore.inference.text import read_text
from nmtcore.parquet import write_rows

PAIRS = [("the cat", "a dog"), ("the cat", "a cat"), ("dog", "the"), ("dog", "do@@ do@@"), ("dog", "dog")]
LISTED = [(0, 0, 1, "number", 3), (1, 2, 3, "order", None), (1, 2, 4, "number", 1)]


@pytest.fixture
def files(tmp_path):
    for side, texts in zip(("source", "target"), zip(*PAIRS, strict=True), strict=True):
        write_tokens(tmp_path / f"features/contrast_x.{side}.parquet", [text.split() for text in texts])
    rows = [{"id": i, **dict(zip(CONTRASTS_SCHEMA.names[1:], values, strict=True))} for i, values in enumerate(LISTED)]
    write_rows(tmp_path / "list.parquet", CONTRASTS_SCHEMA, rows)
    return tmp_path


def scored(files, **values):
    run = run_settings(**values)
    model = write_bundle(files / "model", run)
    output = files / "scores.parquet"
    folders = {"model": model, "features": files / "features"}
    measured = ModelOnSplit(run=run, **folders, split="contrast_x", device="cpu", threads=1)
    measure_contrasts(measured, contrasts=files / "list.parquet", output=output)
    return load_bundle(model), list(read_contrast_scores(output))


def test_scores_are_those_of_the_listed_pairs(files):
    bundle, scores = scored(files)
    texts = [
        read_text([text.replace("@@ ", "") for text in side], where=name)
        for side, name in zip(zip(*PAIRS[:3], PAIRS[4], strict=True), "st", strict=True)
    ]
    first, second, third, fifth = score_text_pairs(bundle, *texts)
    assert [own[:2] for own in scores] == [("number", 3), ("order", None), ("number", 1)]
    for own, right, wrong in ((scores[0], first, second), (scores[2], third, fifth)):
        assert own.right == pytest.approx(right.log_probability, rel=1e-5)
        assert own.wrong == pytest.approx(wrong.log_probability, rel=1e-5)
    assert scores[1].right == pytest.approx(third.log_probability, rel=1e-5)
    assert (scores[1].right_tokens, scores[1].wrong_tokens) == (2, 3)


def test_a_scale_limits_the_sources(files):
    _, scores = scored(files, sentences=SentencesSettings(test=1))
    assert [own.phenomenon for own in scores] == ["number"]


def test_a_list_of_other_pairs_is_refused(files):
    rows = [{"id": 0, "entry": 0, "right": 0, "wrong": 5, "phenomenon": "p"}]
    write_rows(files / "list.parquet", CONTRASTS_SCHEMA, rows)
    assert read_contrast_list(files / "list.parquet")[0].wrong == 5
    with pytest.raises(UserError, match=r"list\.parquet lists sentence pairs that the features of contrast_x lack"):
        scored(files)
