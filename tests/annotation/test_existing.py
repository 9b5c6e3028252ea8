"""The annotator of trees that are part of the corpus."""

from dataclasses import replace
from functools import partial

import pytest
from pair_files import write_corpus, write_raw

from nmtcore.annotation.existing import NO_TREE
from nmtcore.annotation.shards import annotate_shard, gather_shards
from nmtcore.config.annotators import ExistingSettings
from nmtcore.demo import generate
from nmtcore.errors import UserError
from nmtcore.files import read_json
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


def test_pairs_keep_their_trees_after_filtering(tmp_path, annotate):
    sentences = [[f"w{k}"] * (k % 6) for k in range(50)]
    trees = [None if k % 7 == 0 else tree(words) for k, words in enumerate(sentences)]
    write_raw(tmp_path / "raw.parquet", sentences, trees)
    kept = [k for k in range(50) if k % 3]
    write_corpus(tmp_path / "corpus.parquet", [sentences[k] for k in kept], ids=kept)
    shards = [tmp_path / f"{k}.parquet" for k in range(4)]
    for k, shard in enumerate(shards):
        annotate(ExistingSettings(max_words=4), shard=k, shards=4, output=shard)
    output, report = tmp_path / "all.parquet", tmp_path / "all.json"
    gather_shards(shards, corpus=tmp_path / "corpus.parquet", output=output, report=report)

    rows = list(read_rows(output))
    assert [row["id"] for row in rows] == kept
    for row in rows:
        words = sentences[row["id"]]
        if not words:
            assert row["reason"] == "the sentence has no words"
        elif len(words) > 4:
            assert row["reason"] == "more than 4 words"
        elif row["id"] % 7 == 0:
            assert row["reason"] == NO_TREE
        else:
            assert row["reason"] is None
            assert row["deprel"] == [f"of {word}" for word in words]
            assert row["ccg"] is None
    reasons = [row["reason"] for row in rows if row["reason"]]
    assert read_json(report)["nulls"] == {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}


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
    trees[8] = replace(trees[8], constituency="(S (NP")
    trees[9] = replace(trees[9], constituency=f"(S {' '.join(f'(X {word})' for word in english[9].words)})")
    write_raw(tmp_path / "raw.parquet", [side.words for side in english], trees)
    write_corpus(tmp_path / "corpus.parquet", [side.words for side in english])
    annotate(ExistingSettings(), shard=0, shards=1, output=tmp_path / "out.parquet")
    rows = list(read_rows(tmp_path / "out.parquet"))
    assert [row["reason"] is not None for row in rows] == [k in (7, 8) for k in range(60)]
    assert rows[7]["reason"].startswith("invalid analysis: word 2: ")
    assert rows[8]["reason"].startswith("invalid analysis: the constituency tree is broken")
    sound = [k for k in range(60) if k not in (7, 8)]
    assert [rows[k]["ccg"] for k in sound] == [trees[k].ccg for k in sound]
    assert rows[9]["constituency"] == trees[9].constituency
