"""What a run reads: a split's examples and label vocabularies."""

from pathlib import Path

import pytest
from factories import run_settings

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.datasets import SIDES, SegmentationSettings
from nmtcore.config.features import LABEL_COLUMNS
from nmtcore.config.runs import SentencesSettings
from nmtcore.experiment.data import load_split, run_labels
from nmtcore.features.schema import TOKENS_SCHEMA
from nmtcore.files import write_json
from nmtcore.parquet import write_rows


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


def test_each_kinds_labels_come_from_its_annotator(tmp_path: Path):
    for name in ("parser", "tagger"):
        entries = {column: [*LABEL_SPECIALS, f"{name} {column}"] for column in LABEL_COLUMNS}
        write_json(tmp_path / name / "source.labels.json", entries)
    syntax = {"source": {"trees": "parser", "pos_tags": "tagger", "dg_a_tags": "parser"}, "target": {}}
    files = {"source": {name: str(tmp_path / name / "source.labels.json") for name in ("parser", "tagger")}}
    labels = run_labels(run_settings(syntax=syntax), files)
    names = {"deprel": "parser", "upos": "tagger", "xpos": "tagger", "dg_a": "parser"}
    expected = {column: [*LABEL_SPECIALS, f"{name} {column}"] for column, name in names.items()}
    assert labels == {"source": expected, "target": {}}
