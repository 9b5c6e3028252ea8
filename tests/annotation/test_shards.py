"""Shards, their concatenation, and the report on an annotation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_files import write_corpus

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row, gather_shards, shard_rows
from nmtcore.errors import UserError
from nmtcore.files import read_json
from nmtcore.parquet import read_rows, write_rows
from nmtcore.syntax.annotation import Annotation, failed


@given(st.integers(0, 200), st.integers(1, 30))
def test_shards_cover_every_row_once(count, shards):
    rows = [row for shard in range(shards) for row in range(*shard_rows(count, shard, shards))]
    assert rows == list(range(count))
    sizes = [stop - start for start, stop in (shard_rows(count, shard, shards) for shard in range(shards))]
    assert max(sizes) - min(sizes) <= 1


def write_shard(path, ids, annotations):
    write_rows(path, ANNOTATION_SCHEMA, map(annotation_row, ids, annotations))
    return path


@pytest.fixture
def corpus(tmp_path):
    return write_corpus(tmp_path / "corpus.parquet", [["a", "b", "c"]] * 4, ids=[2, 3, 5, 8])


def gather(tmp_path, corpus, shards):
    output, report = tmp_path / "out.parquet", tmp_path / "out.json"
    try:
        gather_shards(shards, corpus=corpus, output=output, report=report)
    except UserError:
        assert not output.exists()
        assert not report.exists()
        raise
    return output, report


CHAIN, TWO_ROOTS, CROSSING = Annotation(head=[0, 1, 2]), Annotation(head=[0, 1, 0]), Annotation(head=[3, 0, 2])


def test_gathering_keeps_the_order_and_reports_counts(tmp_path, corpus):
    first = write_shard(tmp_path / "0", [2, 3], [CHAIN, TWO_ROOTS])
    second = write_shard(tmp_path / "1", [5, 8], [failed("the tool failed: why"), CROSSING])
    output, report = gather(tmp_path, corpus, [first, second])
    rows = list(read_rows(output))
    assert [row["id"] for row in rows] == [2, 3, 5, 8]
    assert [row["head"] for row in rows] == [[0, 1, 2], [0, 1, 0], None, [3, 0, 2]]
    assert read_json(report) == {
        "sentences": 4,
        "nulls": {"the tool failed": 1},
        "null_share": 0.25,
        "invalid_share": 0.0,
        "given": {"dependencies": 3, "tags": 0, "ccg": 0, "constituency": 0},
        "trees": 3,
        "several_roots": 1,
        "nonprojective": 1,
        "depth": {"mean": round((3 + 2 + 3) / 3, 3), "max": 3},
        "labels": {"deprel": 0, "upos": 0, "xpos": 0, "ccg": 0},
    }


BAD_SHARDS = {
    "too short": ([[2, 3], [5]], r"1 has 1 rows, but it annotates rows 2 to 3 of .*corpus.parquet, which are 2"),
    "other order": ([[2, 3], [8, 5]], "1, row 0, has pair 8, but .*, row 2, has pair 5"),
    "other pair": ([[2, 3], [5, 9]], "1, row 1, has pair 9, but .*, row 3, has pair 8"),
    "shards swapped": ([[5, 8], [2, 3]], "0, row 0, has pair 5, but"),
}


@pytest.mark.parametrize(("ids", "sentence"), BAD_SHARDS.values(), ids=BAD_SHARDS)
def test_shards_of_other_pairs_are_an_error_that_names_the_row(tmp_path, corpus, ids, sentence):
    shards = [write_shard(tmp_path / f"{k}", own, [CHAIN] * len(own)) for k, own in enumerate(ids)]
    with pytest.raises(UserError, match=sentence):
        gather(tmp_path, corpus, shards)


def test_an_annotation_with_only_nulls_is_an_error(tmp_path, corpus):
    shard = write_shard(tmp_path / "0", [2, 3, 5, 8], [failed("no tree: x")] * 3 + [failed("more than 5 words")])
    sentence = r"none of 4 .*: no tree \(3\); more than 5 words \(1\)\. The first: no tree: x\."
    with pytest.raises(UserError, match=sentence):
        gather(tmp_path, corpus, [shard])
