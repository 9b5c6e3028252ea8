"""What is measured of a run's model on a split: attention, contrastive pairs, and heads as parsers of a treebank."""

from dataclasses import replace

import numpy as np
import pytest
from experiment.test_inference import model_on
from factories import run_settings
from inference.tiny import RECURRENT, write_bundle, write_tokens

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.components import HeadSelectionSettings
from nmtcore.config.runs import SentencesSettings
from nmtcore.corpus.contrasts import CONTRASTS_SCHEMA
from nmtcore.errors import UserError
from nmtcore.experiment.inference import (
    measure_attention,
    measure_contrasts,
    measure_gates,
)
from nmtcore.inference.analyse import translate_and_write
from nmtcore.inference.attention import load_observed_bundle
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.schemas import ATTENTION_SCHEMA, read_contrast_scores
from nmtcore.inference.scoring import score_text_pairs
from nmtcore.inference.text import read_text
from nmtcore.parquet import open_file, read_rows, write_rows
from nmtcore.syntax.annotation import Annotation

SENTENCES = [["the", "cat", "dog", "."], ["dog"], ["the", "dog", "a", "cat"], []]
RUNS = {"transformer": run_settings(), "recurrent": run_settings(HeadSelectionSettings(), **RECURRENT)}


def attention_of(folder, run, sentences):
    """Measure the attention to sentences whose ids have gaps, as after a filter."""
    write_tokens(folder / "features/test.source.parquet", SENTENCES, step=3)
    output = folder / f"attention/{sentences}.parquet"
    measure_attention(model_on(folder, run, "test"), sentences=sentences, output=output)
    with open_file(output) as file:
        assert file.schema_arrow.equals(ATTENTION_SCHEMA)
    return list(read_rows(output))


@pytest.mark.parametrize("name", RUNS)
def test_attention_is_that_to_the_text_rounded(tmp_path, name):
    run = RUNS[name]
    model = write_bundle(tmp_path / "model", run)
    rows = attention_of(tmp_path, run, 3)
    assert sorted({row["id"] for row in rows}) == [0, 3, 6]
    names = {row["attention"] for row in rows}
    assert names == ({"encoder", "cross"} if name == "transformer" else {"cross", "head_selection"})
    lines = [" ".join(words) for words in SENTENCES[:3]]
    list(translate_and_write(load_observed_bundle(model), lines, attention=tmp_path / "text.parquet"))
    for row, other in zip(rows, read_rows(tmp_path / "text.parquet"), strict=True):
        weights = np.array(row["weights"])
        assert row == {**other, "id": 3 * other["id"]}
        assert np.array_equal(weights.astype(np.float32), np.round(weights, 4).astype(np.float32))


def test_attention_follows_the_settings_of_the_run(tmp_path):
    run = RUNS["transformer"]
    write_bundle(tmp_path / "model", run)
    decoding = replace(run.decoding, max_length_ratio=0.01, max_length_extra=1)
    rows = attention_of(tmp_path, replace(run, decoding=decoding, sentences=SentencesSettings(test=2)), 100)
    assert max(len(row["queries"]) for row in rows if row["attention"] == "cross") == 2
    assert {row["id"] for row in rows} == {0, 3}


PAIRS = [("the cat", "a dog"), ("the cat", "a cat"), ("dog", "the"), ("dog", "do@@ do@@"), ("dog", "dog")]
LISTED = [(0, 0, 1, "number", 3), (1, 2, 3, "order", None), (1, 2, 4, "number", 1)]


def contrasts_of(folder, listed=LISTED, **values):
    for side, texts in zip(("source", "target"), zip(*PAIRS, strict=True), strict=True):
        write_tokens(folder / f"features/contrast_x.{side}.parquet", [text.split() for text in texts])
    rows = [{"id": i, **dict(zip(CONTRASTS_SCHEMA.names[1:], own, strict=True))} for i, own in enumerate(listed)]
    write_rows(folder / "list.parquet", CONTRASTS_SCHEMA, rows)
    run = run_settings(**values)
    write_bundle(folder / "model", run)
    measured = model_on(folder, run, "contrast_x")
    measure_contrasts(measured, contrasts=folder / "list.parquet", output=folder / "scores.parquet")
    return list(read_contrast_scores(folder / "scores.parquet"))


def test_contrasts_have_the_scores_of_the_listed_pairs(tmp_path):
    scores = contrasts_of(tmp_path)
    texts = [
        read_text([text.replace("@@ ", "") for text in side], where=name)
        for side, name in zip(zip(*PAIRS[:3], PAIRS[4], strict=True), "st", strict=True)
    ]
    first, second, third, fifth = score_text_pairs(load_bundle(tmp_path / "model"), *texts)
    assert [own[:2] for own in scores] == [("number", 3), ("order", None), ("number", 1)]
    for own, right, wrong in ((scores[0], first, second), (scores[2], third, fifth)):
        assert own.right == pytest.approx(right.log_probability, rel=1e-5)
        assert own.wrong == pytest.approx(wrong.log_probability, rel=1e-5)
    assert scores[1].right == pytest.approx(third.log_probability, rel=1e-5)
    assert (scores[1].right_tokens, scores[1].wrong_tokens) == (2, 3)


def test_a_scale_limits_the_sources_and_a_list_of_other_pairs_is_refused(tmp_path):
    scores = contrasts_of(tmp_path, sentences=SentencesSettings(test=1))
    assert [own.phenomenon for own in scores] == ["number"]
    with pytest.raises(UserError, match=r"list\.parquet lists sentence pairs that the features of contrast_x lack"):
        contrasts_of(tmp_path, [(0, 0, 5, "p", None)])


def test_very_long_contrasts_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("nmtcore.features.sources.MAX_SUBWORDS", 1)
    with pytest.raises(UserError, match=r"contrast_x, sentence pair 0: a side has more than .* subwords: shorten it\."):
        contrasts_of(tmp_path)


def test_gates_leave_out_very_long_pairs_and_name_them(tmp_path, monkeypatch, capsys):
    """The other pairs have the norms that they have without it."""
    run, tags = run_settings(HeadSelectionSettings(), **RECURRENT), tmp_path / "tags"
    write_bundle(tmp_path / "model", run)
    for side in ("source", "target"):
        write_tokens(tmp_path / f"features/test.{side}.parquet", SENTENCES, step=3)
    tagged = [Annotation(upos=[f"T{len(own)}"] * len(own)) for own in SENTENCES]
    write_rows(tags, ANNOTATION_SCHEMA, (annotation_row(3 * i, own) for i, own in enumerate(tagged)))
    measure_gates(model_on(tmp_path, run, "test"), tags=tags, output=tmp_path / "all")
    lengths = [len(own) for own in SENTENCES]
    monkeypatch.setattr("nmtcore.features.sources.MAX_SUBWORDS", 3)
    measure_gates(model_on(tmp_path, run, "test"), tags=tags, output=tmp_path / "short")
    expected = [row for row, length in zip(read_rows(tmp_path / "all"), lengths, strict=True) if length <= 3]
    for row, other in zip(read_rows(tmp_path / "short"), expected, strict=True):
        assert row.pop("norms") == pytest.approx(other.pop("norms"), rel=1e-4)
        assert row == other
    said = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert said == ["test, line 1", "test, line 7"]
