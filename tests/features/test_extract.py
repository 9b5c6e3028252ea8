"""Extraction of feature files: alignment of rows, selections, and errors for files that do not match."""

import pytest
from features.sentences import annotated_words, lists_of, write_features
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pair_files import write_corpus

from nmtcore.annotation.labels import LINEARISED_PARSES_SCHEMA
from nmtcore.annotation.selection import SELECTION_SCHEMA
from nmtcore.config.corpora import SegmentationSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import (
    LINEARISED_TOKENS_SCHEMA,
    TOKENS_SCHEMA,
    features_of,
    load_examples,
    load_linearised_parses,
)
from nmtcore.features.extract import extract_subwords, extract_syntax
from nmtcore.features.syntax import syntax_batch
from nmtcore.files import write_json, write_text
from nmtcore.parquet import read_rows, write_rows
from nmtcore.segmentation.learn import learn_segmentation
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import UNK, Vocabulary
from nmtcore.syntax.annotation import Annotation, failed

ANNOTATION_NAMES = ("dependencies", "tags", "ccg")


def extract(folder, annotation_names=ANNOTATION_NAMES, selection=None):
    files = {"annotation": "trees", "labels": "labels", "tokens": "train.source.parquet"}
    paths = {name: folder / file for name, file in files.items()}
    output = folder / "train.source.spacy.parquet"
    extract_syntax(**paths, annotation_names=annotation_names, side="source", selection=selection, output=output)
    return list(read_rows(output))


def write_selection(path, kept, ids):
    rows = [{"id": id, "kept": keep} for id, keep in zip(ids, kept, strict=True)]
    write_rows(path, SELECTION_SCHEMA, rows)
    return path


def test_features_are_extracted_and_loaded(tmp_path):
    sentences = [
        ([1, 2, 1], Annotation(head=[2, 0, 2], deprel=["obj", "root", "x"], ccg=["new", "obj", "root"])),
        ([], failed("empty")),
        ([3], failed("why")),
    ]
    count = 40
    ids = [2 * k for k in range(3 * count)]
    write_features(tmp_path, sentences * count, ids=ids)
    rows = extract(tmp_path)
    batch = syntax_batch(annotated_words(sentences), features_of(ANNOTATION_NAMES))
    expected = [{k: v for k, v in row.items() if k not in ("id", "random")} for row in batch.to_pylist()]
    assert [row.pop("id") for row in rows] == ids
    assert len({tuple(row.pop("random")) for row in rows[::3]}) > 5
    assert [row.pop("random", []) for row in rows[1::3]] == [[]] * count
    assert [row.pop("random", []) for row in rows[2::3]] == [[0]] * count
    assert rows == expected * count
    assert rows[0]["parent_position"] == [1.5, 1.5, 1.5]
    examples = load_examples(tmp_path, "train", features={"source": {"trees": "spacy"}}, target=False)
    assert examples.source.features["governor"][0].tolist() == [1, -1, 1]
    assert set(examples.source.features) == {"governor", "deprel", "parent_position"}


def test_columns_of_annotations_are_extracted_and_loaded_by_their_names(tmp_path):
    """A feature in `feats` has its label even in strings that training lacks; a column may be that of an annotator."""
    feats = ["Case=Nom|Number=Plur", "Number=Dual", "_"]
    write_features(tmp_path, [([1, 2, 1], Annotation(feats=feats, upos=["new", "obj", "x"])), ([2], failed("why"))])
    vocabularies = {"feats.Number": ["Sing", "Plur", "_"], "upos": ["obj", "x"]}
    for column, labels in vocabularies.items():
        write_json(tmp_path / column, {column: ["<none>", "<unk>", *labels]})
        files = {"annotation": tmp_path / "trees", "labels": tmp_path / column, "side": "source"}
        output = tmp_path / f"train.source.spacy.{column}.parquet"
        extract_syntax(**files, tokens=tmp_path / "train.source.parquet", column=column, output=output)
    features = {"source": {"feats.Number": "spacy", "spacy/upos": "spacy"}}
    examples = load_examples(tmp_path, "train", features=features, target=False)
    columns = {name: lists_of(column) for name, column in examples.source.features.items()}
    assert columns == {"feats.Number": [[3, 1, 4], [0]], "spacy/upos": [[1, 2, 3], [0]]}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(kept=st.lists(st.booleans(), min_size=1, max_size=40).filter(any), group=st.integers(1, 9))
def test_selected_rows_match_the_rows_of_the_whole_files(tmp_path, kept, group):
    import nmtcore.parquet

    ids = list(range(5, 5 + 3 * len(kept), 3))
    tags = ["root", "obj", "new"]
    sentences = [([1 + k % 3, 1], Annotation(ccg=[tags[k % 3], "x"], upos=["x", "y"])) for k in range(len(kept))]
    write_features(tmp_path, sentences, ids=ids)
    whole = extract(tmp_path)
    selection = write_selection(tmp_path / "selection", kept, ids)
    rows = list(read_rows(tmp_path / "train.source.parquet"))
    write_rows(tmp_path / "train.source.parquet", TOKENS_SCHEMA, [r for r, k in zip(rows, kept, strict=True) if k])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nmtcore.parquet, "ROWS_PER_GROUP", group)
        assert extract(tmp_path, selection=selection) == [r for r, k in zip(whole, kept, strict=True) if k]


def test_tokens_of_unselected_rows_are_an_error(tmp_path):
    write_features(tmp_path, [([1], failed("why"))] * 3)
    selection = write_selection(tmp_path / "selection", [True, False, True], [0, 1, 2])
    with pytest.raises(UserError, match=r"trees, row 1, has pair 2, but .*source\.parquet, row 1, has pair 1"):
        extract(tmp_path, selection=selection)
    rows = list(read_rows(tmp_path / "train.source.parquet"))
    write_rows(tmp_path / "train.source.parquet", TOKENS_SCHEMA, [rows[0], rows[2]])
    with pytest.raises(UserError, match=r"trees, row 1, has pair 1"):
        extract(tmp_path)
    mismatched = write_selection(tmp_path / "mismatched", [True] * 3, [0, 1, 3])
    with pytest.raises(UserError, match=r"mismatched, row 2, has pair 3"):
        extract(tmp_path, selection=mismatched)
    assert not (tmp_path / "train.source.spacy.parquet").exists()


@pytest.mark.parametrize("name", ["bpe_joint_12", "bpe_12", "words_4"])
def test_tokens_match_the_segmenter(tmp_path, name):
    sentences = [["lower", "low"], [], ["lowest", "new", "wide"], ["newer"]] * 20
    corpus = write_corpus(tmp_path / "corpus.parquet", sentences, ids=range(0, 160, 2))
    settings = SegmentationSettings.parse(name)
    learn_segmentation(corpus, settings, tmp_path / "cut")
    options = {"column": "source_words", "segmentation": tmp_path / "cut", "settings": settings, "side": "source"}
    extract_subwords(words=corpus, output=tmp_path / "tokens", **options)
    vocabulary = Vocabulary.load(tmp_path / "cut" / "source.vocab")
    segmenter = Segmenter.load(tmp_path / "cut", settings, "source")
    rows = list(read_rows(tmp_path / "tokens"))
    assert [row["id"] for row in rows] == list(range(0, 160, 2))
    for row, words in zip(rows, sentences, strict=True):
        pieces, word_of_subword = segmenter.segment(words)
        assert row["ids"] == vocabulary.ids(pieces)
        assert row["word_of_subword"] == word_of_subword
        if name.startswith("bpe"):
            assert segmenter.join(vocabulary.tokens(row["ids"])) == words
        else:
            assert row["ids"].count(UNK) == sum(word not in vocabulary.entries for word in words)


PARSES = [["(S", "(NP", ")", ")"], None, [], ["(NP", "new", ")"], None]


@pytest.fixture
def segmentation(tmp_path):
    write_text(tmp_path / "cuts/codes", "#version: 0.2\n( N\n")
    Vocabulary.of(["(@@", "S", "(N@@", "P", ")", "n@@", "e@@"]).save(tmp_path / "cuts/target.vocab")
    return tmp_path / "cuts"


@pytest.mark.parametrize("kept", [None, [True, False, True, True, False]])
@pytest.mark.parametrize("limit", [None, 0, 2])
@pytest.mark.parametrize("per_group", [10_000, 2])
def test_parses_are_segmented_and_missing_parses_are_marked(
    tmp_path, segmentation, monkeypatch, kept, limit, per_group
):
    monkeypatch.setattr("nmtcore.parquet.ROWS_PER_GROUP", per_group)
    rows = [{"id": 3 * i, "brackets": parse} for i, parse in enumerate(PARSES)]
    write_rows(tmp_path / "brackets", LINEARISED_PARSES_SCHEMA, rows)
    selection = None if kept is None else tmp_path / "selection"
    if kept:
        write_selection(selection, kept, range(0, 15, 3))
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
