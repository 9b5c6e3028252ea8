"""The annotator of trees that are part of the corpus."""

from dataclasses import replace
from functools import partial

import pytest
from pair_files import write_corpus, write_raw

from nmtcore.annotation.existing import NO_TREE
from nmtcore.annotation.shards import annotate_shard
from nmtcore.config.annotators import ExistingSettings
from nmtcore.demo import generate
from nmtcore.errors import UserError
from nmtcore.parquet import read_rows
from nmtcore.syntax.annotation import Annotation


@pytest.fixture
def annotate(tmp_path):
    return partial(
        annotate_shard,
        corpus=tmp_path / "corpus.parquet",
        raw=tmp_path / "raw.parquet",
        side="source",
        language="cs",
        model_folders=(),
    )


def tree(words):
    return Annotation(head=[0] * len(words), deprel=[f"of {w}" for w in words], xpos=["X"] * len(words), ccg=None)


def test_a_pair_that_the_raw_file_lacks_is_an_error(tmp_path, annotate):
    write_raw(tmp_path / "raw.parquet", [["a"], ["b"]], [tree(["a"]), tree(["b"])])
    write_corpus(tmp_path / "corpus.parquet", [["a"], ["b"], ["c"]])
    with pytest.raises(UserError, match=r"raw\.parquet has no pair 2"):
        annotate(ExistingSettings(), shard=0, shards=1, output=tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_supertags_and_constituents_of_the_corpus_are_copied(tmp_path, annotate):
    english = [pair.source for pair in generate(split="train", count=60)]
    trees = [side.annotation for side in english]
    # An ill-formed category or a broken tree costs only its own sentence.
    trees[7] = replace(trees[7], ccg=["NP", *["(S"] * (len(english[7].words) - 1)])
    trees[6], trees[8] = None, replace(trees[8], constituency="(S (NP")
    trees[9] = replace(trees[9], constituency=f"(S {' '.join(f'(X {word})' for word in english[9].words)})")
    write_raw(tmp_path / "raw.parquet", [side.words for side in english], trees)
    write_corpus(tmp_path / "corpus.parquet", [side.words for side in english])
    annotate(ExistingSettings(), shard=0, shards=1, output=tmp_path / "out.parquet")
    rows = list(read_rows(tmp_path / "out.parquet"))
    assert [row["reason"] is not None for row in rows] == [k in (6, 7, 8) for k in range(60)]
    assert rows[6]["reason"] == NO_TREE
    assert rows[7]["reason"].startswith("invalid analysis: word 2: ")
    assert rows[8]["reason"].startswith("invalid analysis: the constituency tree is broken")
    sound = [k for k in range(60) if k not in (6, 7, 8)]
    assert [rows[k]["ccg"] for k in sound] == [trees[k].ccg for k in sound]
    assert rows[9]["constituency"] == trees[9].constituency
