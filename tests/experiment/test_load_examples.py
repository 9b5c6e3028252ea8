"""Loading the examples of a run's splits, and its label vocabularies."""

from pathlib import Path

import numpy as np
import pytest
from factories import run_settings
from inference.tiny import write_segmentation

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.corpora import SIDES
from nmtcore.config.features import LABEL_COLUMNS, ParsingTaskSettings
from nmtcore.config.runs import RunSettings, SentencesSettings
from nmtcore.errors import UserError
from nmtcore.experiment.load_examples import load_run_labels, load_sources, load_training
from nmtcore.features.examples import LINEARISED_TOKENS_SCHEMA, TOKENS_SCHEMA, Examples
from nmtcore.features.transforms.chain import Transforms, run_vocabularies
from nmtcore.files import write_json
from nmtcore.parquet import write_rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The feature files of a dev set with four pairs, two of which have linearised parses."""
    write_segmentation(tmp_path)
    for side in SIDES:
        rows = [{"id": i, "ids": [5, 6], "word_of_subword": [0, 0]} for i in (0, 4, 7, 9)]
        write_rows(tmp_path / f"dev.{side}.parquet", TOKENS_SCHEMA, rows)
    parses = [{"id": i, "ids": ids, "word_of_subword": ids} for i, ids in ((0, [0]), (4, None), (7, [0]), (9, None))]
    write_rows(tmp_path / "dev.source.parser.brackets.parquet", LINEARISED_TOKENS_SCHEMA, parses)
    return tmp_path


def two_tasks(limit: int | None) -> RunSettings:
    return run_settings(
        transforms={"parsing_task": ParsingTaskSettings()},
        linearised_by="parser",
        sentences=SentencesSettings(dev=limit),
    )


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (two_tasks(3), [0, -1, 4, 7, -8]),
        (two_tasks(1), [0, -1]),
        (two_tasks(9), [0, -1, 4, 7, -8, 9]),
        (run_settings(sentences=SentencesSettings(dev=3)), [0, 4, 7]),
    ],
)
def test_a_limit_counts_pairs_even_if_each_yields_two_examples(folder: Path, run, expected):
    examples = load(folder, run)
    assert examples.id.tolist() == expected
    assert len(examples.source) == len(examples.target) == len(expected)
    sources = load_sources(run, transforms_of(folder, run), folder, "dev").examples
    assert sources.id.tolist() == [i for i in expected if i >= 0]
    assert sources.target is None
    assert sources.source.ids.lengths.tolist() == [4 if run.transforms else 2] * len(sources)


def load(folder: Path, run: RunSettings) -> Examples:
    return load_training(run, transforms_of(folder, run), folder, "dev")


def transforms_of(folder: Path, run: RunSettings) -> Transforms:
    return Transforms.of(run, run_vocabularies(run, folder, {}), {})


def lists_of(examples) -> list:
    """Return the ids of examples and all their columns, as batches take them."""
    columns = examples.take(np.arange(len(examples))).columns
    return [examples.id.tolist(), *((name, c.values.dtype, [r.tolist() for r in c]) for name, c in columns.items())]


@pytest.mark.parametrize("limit", [None, 3])
@pytest.mark.parametrize("run_with", [two_tasks, lambda limit: run_settings(sentences=SentencesSettings(dev=limit))])
def test_blocks_of_any_size_give_the_same_examples(folder: Path, monkeypatch, limit, run_with):
    run = run_with(limit)
    whole = load(folder, run)
    monkeypatch.setattr("nmtcore.experiment.load_examples.PAIRS_PER_BLOCK", 2)
    assert lists_of(load(folder, run)) == lists_of(whole)


@pytest.mark.parametrize("size", [10_000, 1])
@pytest.mark.parametrize(
    ("ids", "limit", "sentence"),
    [
        ((0, 4), None, r"dev\.source\.parquet has \d rows, .*brackets\.parquet has 2: delete the"),
        ((0, 4, 8, 9), None, r"brackets\.parquet, row 2, has pair 8, but .*dev\.source\.parquet, row 2, has pair 7"),
    ],
)
def test_fewer_parses_than_pairs_and_those_of_other_pairs_are_errors(folder, monkeypatch, ids, limit, sentence, size):
    monkeypatch.setattr("nmtcore.experiment.load_examples.PAIRS_PER_BLOCK", size)
    write_rows(folder / "dev.source.parser.brackets.parquet", LINEARISED_TOKENS_SCHEMA, [{"id": i} for i in ids])
    with pytest.raises(UserError, match=sentence):
        load(folder, two_tasks(limit))


def test_the_labels_of_each_feature_come_from_its_annotator(tmp_path: Path):
    for name in ("parser", "tagger"):
        entries = {column: [*LABEL_SPECIALS, f"{name} {column}"] for column in LABEL_COLUMNS}
        write_json(tmp_path / name / "source.labels.json", entries)
    features = {"source": {"trees": "parser", "pos_tags": "tagger", "dg_a_tags": "parser"}, "target": {}}
    files = {"source": {name: str(tmp_path / name / "source.labels.json") for name in ("parser", "tagger")}}
    labels = load_run_labels(run_settings(features=features), files)
    names = {"deprel": "parser", "upos": "tagger", "xpos": "tagger", "dg_a": "parser"}
    expected = {column: [*LABEL_SPECIALS, f"{name} {column}"] for column, name in names.items()}
    assert labels == {"source": expected, "target": {}}
