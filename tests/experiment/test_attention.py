"""The attention of a run on the first sentences of a split."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment.tokens import write_tokens
from factories import run_settings
from inference.tiny import write_bundle

from nmtcore.config.bases import RecurrentSettings
from nmtcore.config.components.settings import HeadSelectionSettings
from nmtcore.experiment.measure import ModelOnSplit, measure_attention
from nmtcore.inference.analyse import translate_and_write
from nmtcore.inference.attention import load_observed_bundle
from nmtcore.inference.schemas import ATTENTION_SCHEMA
from nmtcore.parquet import open_file, read_rows

SENTENCES = [["the", "cat", "dog", "."], ["dog"], ["the", "dog", "a", "cat"], ["cat", "."]]
RUNS = {
    "transformer": run_settings(),
    "recurrent": run_settings(HeadSelectionSettings(), base="recurrent", model=RecurrentSettings(width=16)),
}


@pytest.fixture
def features(tmp_path: Path) -> Path:
    """Write the features of the sentences; their ids have gaps, as after a filter."""
    return write_tokens(tmp_path / "features/test.source.parquet", SENTENCES, step=3)


def measured(run, folder, features, sentences):
    output = folder / f"attention/{sentences}.parquet"
    model = folder / "model"
    measured = ModelOnSplit(run=run, model=model, features=features, split="test", device="cpu", threads=1)
    measure_attention(measured, sentences=sentences, output=output)
    with open_file(output) as file:
        assert file.schema_arrow.equals(ATTENTION_SCHEMA)
    return list(read_rows(output))


@pytest.mark.parametrize("name", RUNS)
def test_it_is_the_attention_to_the_text_rounded(tmp_path, features, name):
    run = RUNS[name]
    model = write_bundle(tmp_path / "model", run)
    rows = measured(run, tmp_path, features, 3)
    assert sorted({row["id"] for row in rows}) == [0, 3, 6]
    names = {row["attention"] for row in rows}
    assert names == ({"encoder", "cross"} if name == "transformer" else {"cross", "head_selection"})
    lines = [" ".join(words) for words in SENTENCES[:3]]
    list(translate_and_write(load_observed_bundle(model), lines, attention=tmp_path / "text.parquet"))
    of_text = list(read_rows(tmp_path / "text.parquet"))
    assert len(rows) == len(of_text)
    for row, other in zip(rows, of_text, strict=True):
        weights = np.array(row["weights"])
        assert row == {**other, "id": 3 * other["id"]}
        assert np.array_equal(weights.astype(np.float32), np.round(weights, 4).astype(np.float32))


def test_translations_follow_the_settings_of_the_run(tmp_path, features):
    run = RUNS["transformer"]
    write_bundle(tmp_path / "model", run)
    short = replace(run, decoding=replace(run.decoding, max_length_ratio=0.01, max_length_extra=1))
    rows = measured(short, tmp_path, features, 4)
    assert max(len(row["queries"]) for row in rows if row["attention"] == "cross") == 2


def test_the_limit_of_the_scale_holds(tmp_path, features):
    run = RUNS["transformer"]
    write_bundle(tmp_path / "model", run)
    limited = replace(run, sentences=replace(run.sentences, test=2))
    assert {row["id"] for row in measured(limited, tmp_path, features, 100)} == {0, 3}
