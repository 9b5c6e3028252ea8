import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_files import write_corpus

from nmtcore.annotation.labels import SPECIALS, label_vocabularies
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_batch, annotation_row
from nmtcore.config.datasets import SegmentationSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import load_examples
from nmtcore.features.extract import extract_syntax, extract_tokens, token_batch
from nmtcore.features.schema import LABELS, TOKENS_SCHEMA
from nmtcore.features.syntax import syntax_batch
from nmtcore.files import write_json
from nmtcore.parquet import read_rows, write_rows
from nmtcore.segmentation.learn import learn_segmentation
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import UNK, Vocabulary
from nmtcore.syntax.annotation import Annotation, failed

VOCABULARY = {"deprel": [*SPECIALS, "root", "obj"], "upos": [*SPECIALS, "NOUN"], "xpos": [*SPECIALS]}


@st.composite
def annotated(draw):
    """The subwords of a sentence (how many each word has) and its annotation, sound or null or in parts null."""
    pieces = draw(st.lists(st.integers(1, 3), max_size=6))
    n = len(pieces)
    if not n or draw(st.integers(0, 4)) == 0:
        return pieces, failed("why")
    heads = draw(st.none() | st.lists(st.integers(0, n), min_size=n, max_size=n))
    labels = {
        kind: draw(st.none() | st.lists(st.sampled_from(["root", "obj", "NOUN", "new"]), min_size=n, max_size=n))
        for kind in LABELS
    }
    return pieces, Annotation(head=heads, **labels)


def words_of(pieces):
    return [word for word, count in enumerate(pieces) for _ in range(count)]


def plainly(pieces, annotation):
    """Compute the features of one sentence by double loops."""
    places = [[i for i, w in enumerate(words_of(pieces)) if w == word] for word in range(len(pieces))]
    governor, position = [], []
    for word in range(len(pieces)):
        governor.append(-2 if annotation.head is None else annotation.head[word] - 1)
        parent = governor[-1] if governor[-1] >= 0 else word
        position.append(sum(places[parent]) / len(places[parent]))
    features = {"governor": governor, "parent_position": [float(np.float32(p)) for p in position]}
    for kind in LABELS:
        labels = getattr(annotation, kind) or [SPECIALS[0]] * len(pieces)
        features[kind] = [VOCABULARY[kind].index(x) if x in VOCABULARY[kind] else 1 for x in labels]
    return features


@given(st.lists(annotated(), max_size=8))
def test_features_by_double_loops(sentences):
    tokens = token_batch([([9] * sum(pieces), words_of(pieces)) for pieces, _ in sentences])
    batch = syntax_batch(annotation_batch(a for _, a in sentences), tokens, VOCABULARY, where="file")
    expected = [{"id": k, **plainly(*sentence)} for k, sentence in enumerate(sentences)]
    assert batch.to_pylist() == expected


@given(st.lists(annotated(), min_size=3, max_size=8), st.data())
def test_a_part_of_a_batch_is_read_as_well(sentences, data):
    start = data.draw(st.integers(0, len(sentences) - 1))
    tokens = token_batch([([9] * sum(pieces), words_of(pieces)) for pieces, _ in sentences])
    trees = annotation_batch(a for _, a in sentences)
    whole = syntax_batch(trees, tokens, VOCABULARY, where="file").slice(start, 2)
    part = syntax_batch(trees.slice(start, 2), tokens.slice(start, 2), VOCABULARY, where="file")
    assert part.to_pylist() == whole.to_pylist()


def write_features(folder, sentences, *, ids=None, annotation_ids=None):
    """Write the files that `extract_syntax` reads; `sentences` are (pieces, annotation)."""
    ids = list(range(len(sentences))) if ids is None else ids
    rows = (
        {"id": id, "ids": [5] * sum(pieces), "word_of_subword": words_of(pieces)}
        for id, (pieces, _) in zip(ids, sentences, strict=True)
    )
    write_rows(folder / "train.source.parquet", TOKENS_SCHEMA, rows)
    annotations = [annotation for _, annotation in sentences]
    write_rows(folder / "trees", ANNOTATION_SCHEMA, map(annotation_row, annotation_ids or ids, annotations))
    write_json(folder / "labels", VOCABULARY)


def extract(folder):
    extract_syntax(
        annotation=folder / "trees",
        labels=folder / "labels",
        tokens=folder / "train.source.parquet",
        output=folder / "train.source.spacy.parquet",
    )


def test_files_in_and_out_and_loaded(tmp_path):
    sentences = [
        ([1, 2, 1], Annotation(head=[2, 0, 2], deprel=["obj", "root", "x"])),
        ([], failed("empty")),
        ([3], failed("why")),
    ] * 4001
    ids = [2 * k for k in range(len(sentences))]
    write_features(tmp_path, sentences, ids=ids)
    extract(tmp_path)
    rows = list(read_rows(tmp_path / "train.source.spacy.parquet"))
    expected = [plainly(*sentence) for sentence in sentences[:3]]
    assert [row.pop("id") for row in rows] == ids
    assert rows == expected * 4001
    assert rows[0]["parent_position"] == [1.5, 1.5, 1.5]
    examples = load_examples(tmp_path, "train", syntax={"source": "spacy"}, target=False)
    assert examples.source.syntax["governor"][0].tolist() == [1, -1, 1]


def test_a_row_of_another_pair_is_an_error_that_names_it(tmp_path):
    sentences = [([1], failed("why"))] * 3
    write_features(tmp_path, sentences, annotation_ids=[0, 2, 1])
    with pytest.raises(UserError, match=r"trees, row 1: it holds pair 2 where .*, row 1, has pair 1"):
        extract(tmp_path)
    assert not (tmp_path / "train.source.spacy.parquet").exists()


@pytest.mark.parametrize("short", ["trees", "train.source.parquet"])
def test_a_file_that_ends_early_is_an_error(tmp_path, short):
    write_features(tmp_path, [([1], failed("why"))] * 3)
    rows = list(read_rows(tmp_path / short))[:2]
    write_rows(tmp_path / short, ANNOTATION_SCHEMA if short == "trees" else TOKENS_SCHEMA, rows)
    with pytest.raises(UserError, match=rf"{short} ends before row 2, .* goes on"):
        extract(tmp_path)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (Annotation(head=[0, 1]), "row 2: an annotation of 2 words for 3 words"),
        (Annotation(head=[0, 1, 1], upos=["X"]), "row 2: an annotation of 1 words for 3 words"),
        (Annotation(head=[0, 1, 4]), "row 2: head 4 in a sentence of 3 words"),
        (Annotation(head=[0, -2, 1]), "row 2: head -2 in a sentence of 3 words"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_the_row(tmp_path, annotation, message):
    write_features(tmp_path, [([1], Annotation(head=[0])), ([2], failed("why")), ([1, 1, 2], annotation)])
    with pytest.raises(UserError, match=f"trees, {message}"):
        extract(tmp_path)


@pytest.mark.parametrize("words", [[0, 2], [1, 1], [0, 1, 0], [-1, 0]])
def test_a_word_without_subwords_is_an_error(words):
    tokens = token_batch([([5], [0]), ([5] * len(words), words)])
    trees = annotation_batch([failed("why")] * 2)
    with pytest.raises(UserError, match="Row 11 of the subwords beside file skips a word"):
        syntax_batch(trees, tokens, VOCABULARY, where="file", row=10)


@pytest.mark.parametrize("name", ["bpe_joint_12", "bpe_12", "words_4"])
def test_tokens_are_those_of_the_segmenter(tmp_path, name):
    sentences = [["lower", "low"], [], ["lowest", "new", "wide"], ["newer"]] * 20
    corpus = write_corpus(tmp_path / "corpus.parquet", sentences, ids=range(0, 160, 2))
    settings = SegmentationSettings.parse(name)
    learn_segmentation(corpus, settings, tmp_path / "cut")
    extract_tokens(
        corpus=corpus, segmentation=tmp_path / "cut", settings=settings, side="source", output=tmp_path / "tokens"
    )
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


def test_labels_of_a_real_annotation_fit(tmp_path):
    sentences = [([1, 1], Annotation(head=[0, 1], deprel=["root", "obj"], upos=["NOUN", "VERB"]))]
    write_features(tmp_path, sentences)
    label_vocabularies(tmp_path / "trees", tmp_path / "labels")
    extract(tmp_path)
    (row,) = read_rows(tmp_path / "train.source.spacy.parquet")
    assert (row["deprel"], row["upos"], row["xpos"]) == ([3, 2], [2, 3], [0, 0])
