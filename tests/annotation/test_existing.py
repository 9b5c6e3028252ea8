"""The annotator of trees that are part of the corpus."""

from dataclasses import replace

import pytest
from demo_parts import demo_sides
from pair_files import write_corpus, write_raw

from nmtcore import parquet
from nmtcore.annotation.existing import NO_TREE
from nmtcore.annotation.shards import annotate_shard, gather_shards
from nmtcore.config.datasets import ExistingSettings
from nmtcore.errors import UserError
from nmtcore.parquet import read_rows
from nmtcore.syntax.annotation import Annotation


@pytest.fixture
def annotate(tmp_path):
    """Annotate the source side of `corpus` with the trees of `raw` in shards; return the rows."""

    def call(shards=1):
        outputs = [tmp_path / f"{shard}.parquet" for shard in range(shards)]
        files = {"corpus": tmp_path / "corpus", "raw": tmp_path / "raw", "side": "source", "language": "cs"}
        for shard, output in enumerate(outputs):
            annotate_shard(ExistingSettings(), **files, shard=shard, shards=shards, output=output)
        gather_shards(outputs, corpus=tmp_path / "corpus", output=tmp_path / "all", report=tmp_path / "report")
        return list(read_rows(tmp_path / "all"))

    return call


BAD_LINES = {
    "first two": [0, 1],
    "last": [59],
    "whole row groups": [*range(7, 14), *range(40, 49)],
    "everywhere": [0, 1, 13, 14, 15, 30, 31, 44, 58, 59],
}


@pytest.mark.parametrize("position", BAD_LINES)
@pytest.mark.parametrize("shards", [1, 20])
def test_trees_match_their_pairs_after_lines_were_dropped(tmp_path, annotate, monkeypatch, position, shards):
    """Reading leaves out bad lines, and a filter pairs of five words."""
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 7)
    read = [id for id in range(60) if id not in BAD_LINES[position]]
    words = {id: [f"w{id}"] * (1 + id % 5) for id in read}
    trees = [Annotation(head=range(len(own)), deprel=[f"of {own[0]}"] * len(own)) for own in words.values()]
    write_raw(tmp_path / "raw", list(words.values()), trees, ids=read)
    kept = [id for id in read if len(words[id]) < 5]
    write_corpus(tmp_path / "corpus", [words[id] for id in kept], ids=kept)
    rows = annotate(shards)
    assert [row["id"] for row in rows] == kept
    assert [row["deprel"] for row in rows] == [[f"of {word}" for word in words[id]] for id in kept]
    assert [row["head"] for row in rows] == [list(range(len(words[id]))) for id in kept]


def test_a_pair_that_the_raw_file_lacks_is_an_error(tmp_path, annotate):
    write_raw(tmp_path / "raw", [["a"], ["b"]], [Annotation(head=[0])] * 2)
    write_corpus(tmp_path / "corpus", [["a"], ["b"], ["c"]])
    with pytest.raises(UserError, match=r"raw has no pair 2"):
        annotate()
    assert not (tmp_path / "0.parquet").exists()


def test_supertags_and_constituents_of_the_corpus_are_copied(tmp_path, annotate):
    english = demo_sides("train", "en", 60)
    trees = [side.annotation for side in english]
    # An ill-formed category or a broken tree costs only its own sentence.
    trees[7] = replace(trees[7], ccg=["NP", *["(S"] * (len(english[7].words) - 1)])
    trees[6], trees[8] = None, replace(trees[8], constituency="(S (NP")
    trees[9] = replace(trees[9], constituency=f"(S {' '.join(f'(X {word})' for word in english[9].words)})")
    write_raw(tmp_path / "raw", [side.words for side in english], trees)
    write_corpus(tmp_path / "corpus", [side.words for side in english])
    rows = annotate()
    assert [row["reason"] is not None for row in rows] == [k in (6, 7, 8) for k in range(60)]
    assert rows[6]["reason"] == NO_TREE
    assert rows[7]["reason"].startswith("invalid analysis: word 2: ")
    assert rows[8]["reason"].startswith("invalid analysis: the constituency tree is broken")
    sound = [k for k in range(60) if k not in (6, 7, 8)]
    assert [rows[k]["ccg"] for k in sound] == [trees[k].ccg for k in sound]
    assert rows[9]["constituency"] == trees[9].constituency
