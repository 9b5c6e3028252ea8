"""Linearised parses as subwords, against segmenting each by itself."""

import pytest

from nmtcore.annotation.labels import LINEARISED_PARSES_SCHEMA
from nmtcore.annotation.selection import SELECTION_SCHEMA
from nmtcore.config.corpora import SegmentationSettings
from nmtcore.features.examples import LINEARISED_TOKENS_SCHEMA, load_linearised_parses
from nmtcore.features.extract import extract_subwords
from nmtcore.files import write_text
from nmtcore.parquet import write_rows
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary

PARSES = [["(S", "(NP", ")", ")"], None, [], ["(NP", "new", ")"], None]


@pytest.fixture
def segmentation(tmp_path):
    write_text(tmp_path / "cuts/codes", "#version: 0.2\n( N\n")
    Vocabulary.of(["(@@", "S", "(N@@", "P", ")", "n@@", "e@@"]).save(tmp_path / "cuts/target.vocab")
    return tmp_path / "cuts"


@pytest.mark.parametrize("kept", [None, [True, False, True, True, False], [True] * 5])
@pytest.mark.parametrize("limit", [None, 0, 2, 9])
@pytest.mark.parametrize("per_group", [10_000, 2])
def test_parses_are_segmented_and_missing_parses_are_marked(
    tmp_path, segmentation, monkeypatch, kept, limit, per_group
):
    monkeypatch.setattr("nmtcore.parquet.ROWS_PER_GROUP", per_group)
    rows = [{"id": 3 * i, "brackets": parse} for i, parse in enumerate(PARSES)]
    write_rows(tmp_path / "brackets", LINEARISED_PARSES_SCHEMA, rows)
    selection = None if kept is None else tmp_path / "selection"
    if kept:
        write_rows(selection, SELECTION_SCHEMA, [{"id": 3 * i, "kept": keep} for i, keep in enumerate(kept)])
    settings, output = SegmentationSettings.parse("bpe_joint_1_constituency"), tmp_path / "out"
    options = {"column": "brackets", "side": "target", "schema": LINEARISED_TOKENS_SCHEMA, "selection": selection}
    options |= {"segmentation": segmentation, "settings": settings}
    extract_subwords(words=tmp_path / "brackets", output=output, **options)
    ids, parses = load_linearised_parses(output, stop=limit)
    expected = [(3 * i, p) for i, p in enumerate(PARSES) if kept is None or kept[i]][:limit]
    assert ids.tolist() == [i for i, _ in expected]
    assert parses.available.tolist() == [parse is not None for _, parse in expected]
    segmenter = Segmenter.load(segmentation, settings, "target")
    vocabulary = Vocabulary.load(segmentation / "target.vocab")
    cut = [segmenter.segment(parse or []) for _, parse in expected]
    assert [row.tolist() for row in parses.target.ids] == [vocabulary.ids(pieces) for pieces, _ in cut]
    assert [row.tolist() for row in parses.target.word_of_subword] == [owners for _, owners in cut]
