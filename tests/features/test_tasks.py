"""Every source twice, against the obvious loop over pairs."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_files import pair_row

from nmtcore.annotation.brackets import BRACKETS_SCHEMA
from nmtcore.config.datasets import SegmentationSettings
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.errors import UserError
from nmtcore.features.extract import extract_tokens
from nmtcore.features.tasks import ROWS_OF_A_PAIR, both_tasks, rows_of_first, to_translate, translations, wrapped
from nmtcore.parquet import read_rows, write_rows
from nmtcore.segmentation.learn import learn_segmentation
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary, unsplit

TR, PA = unsplit("<TR>"), unsplit("<PA>")
LISTS = pa.list_(pa.string())
words = st.lists(st.sampled_from(["a", "b", "c", ")"]), max_size=4)
pairs = st.lists(st.tuples(words, words, st.none() | words), max_size=6)


def doubled(rows):
    """The corpus of both tasks as one would write it down: (id, source, target)."""
    found = []
    for i, (source, target, parse) in enumerate(rows):
        found.append((3 * i, [TR, *source, TR], target))
        if parse is not None:
            found.append((-1 - 3 * i, [PA, *source, PA], parse))
    return found


@given(pairs)
def test_every_source_with_a_parse_stands_twice(rows):
    ids = pa.array(range(0, 3 * len(rows), 3), pa.int64())
    columns = [pa.array([row[k] for row in rows], LISTS) for k in range(3)]
    numbers, sources = both_tasks(ids, columns[0], columns[2], "source")
    others, targets = both_tasks(ids, columns[1], columns[2], "target")
    assert numbers.equals(others)
    rows_of_both = list(zip(numbers.to_pylist(), sources.to_pylist(), targets.to_pylist(), strict=True))
    assert rows_of_both == doubled(rows)
    kept = translations(numbers.to_numpy())
    assert numbers.take(pa.array(kept)).equals(ids)


@given(st.lists(words, max_size=5), st.integers(0, 2))
def test_sentences_are_wrapped(sentences, skipped):
    array = pa.array(sentences, LISTS).slice(min(skipped, len(sentences)))
    assert wrapped(array, "<TR>").to_pylist() == [[TR, *sentence, TR] for sentence in sentences[skipped:]]


@given(pairs, st.integers(0, 7))
def test_the_first_pairs_have_all_their_rows(rows, count):
    ids = np.array([i for i, *_ in doubled(rows)], np.int64)
    expected = len(doubled(rows[:count]))
    assert rows_of_first(count, ids) == expected <= ROWS_OF_A_PAIR * count
    assert rows_of_first(count, ids[: ROWS_OF_A_PAIR * count]) == expected


def test_what_is_only_translated_stands_once():
    ids, lists = pa.array([4]), pa.array([["a"]], LISTS)
    assert to_translate(ids, lists, "source")[1].to_pylist() == [[TR, "a", TR]]
    assert to_translate(ids, lists, "target")[1] is lists


ROWS = [
    (["the", "cat", "sees"], ["die", "Katze", "sieht"], ["(S", "(NP", ")", ")"]),
    (["the", "dog"], ["der", "Hund"], None),
    (["cats"], ["Katzen"], ["(NP", ")"]),
]


@pytest.fixture
def files(tmp_path):
    corpus, brackets = tmp_path / "corpus.parquet", tmp_path / "brackets.parquet"
    rows = [{**pair_row(3 * i, source), "target_words": target} for i, (source, target, _) in enumerate(ROWS)]
    write_rows(corpus, PAIR_SCHEMA, rows)
    write_rows(brackets, BRACKETS_SCHEMA, [{"id": 3 * i, "brackets": row[2]} for i, row in enumerate(ROWS)])
    return corpus, brackets


@pytest.mark.parametrize(
    "name", ["words_40_parsing", "words_joint_60_parsing", "bpe_20_parsing", "bpe_joint_20_parsing"]
)
def test_files_hold_both_tasks_and_tests_only_the_translation(name, files, tmp_path):
    corpus, brackets = files
    settings = SegmentationSettings.parse(name)
    assert settings.name == name
    folder = tmp_path / name
    report = learn_segmentation(corpus, settings, folder, brackets=brackets)
    assert report["parsing"] == {"sources": 3, "parsed": 2, "without a parse": 1}
    read = {}
    for side in ("source", "target"):
        vocabulary, segmenter = Vocabulary.load(folder / f"{side}.vocab"), Segmenter.load(folder, settings, side)
        for what, parses in (("both", brackets), ("test", None)):
            output = tmp_path / f"{what}.{side}"
            extract_tokens(
                corpus=corpus, segmentation=folder, settings=settings, side=side, output=output, brackets=parses
            )
            rows = list(read_rows(output))
            for row in rows:
                assert sorted(set(row["word_of_subword"])) == list(range(max(row["word_of_subword"]) + 1))
            pieces = [vocabulary.tokens(row["ids"]) for row in rows]
            read[what, side] = [(row["id"], segmenter.join(each)) for row, each in zip(rows, pieces, strict=True)]
    expected = doubled(ROWS)
    assert read["both", "source"] == [(i, source) for i, source, _ in expected]
    assert read["both", "target"] == [(i, target) for i, _, target in expected]
    assert read["test", "source"] == [(i, source) for i, source, _ in expected if i >= 0]
    assert read["test", "target"] == [(i, target) for i, _, target in expected if i >= 0]


def test_merges_are_learned_of_what_is_trained_on(files, tmp_path):
    """The same codes as from the doubled corpus, written out."""
    corpus, brackets = files
    learn_segmentation(corpus, SegmentationSettings.parse("bpe_joint_25_parsing"), tmp_path / "two", brackets=brackets)
    written = [
        {**pair_row(i, [word for word in source if word not in (TR, PA)]), "target_words": target}
        for i, (_, source, target) in enumerate(doubled(ROWS))
    ]
    write_rows(tmp_path / "written.parquet", PAIR_SCHEMA, written)
    learn_segmentation(tmp_path / "written.parquet", SegmentationSettings.parse("bpe_joint_25"), tmp_path / "one")
    assert sorted((tmp_path / "two/codes").read_text().split("\n")) == sorted(
        (tmp_path / "one/codes").read_text().split("\n")
    )
    entries = Vocabulary.load(tmp_path / "two/source.vocab").entries
    assert entries[-2:] == (TR, PA)
    assert set(entries[:-2]) == set(Vocabulary.load(tmp_path / "one/source.vocab").entries)


def test_sources_without_any_parse_are_an_error(files, tmp_path):
    corpus, brackets = files
    write_rows(brackets, BRACKETS_SCHEMA, [{"id": 3 * i, "brackets": None} for i in range(3)])
    with pytest.raises(UserError, match="has no parse of a source that is used"):
        learn_segmentation(corpus, SegmentationSettings.parse("words_9_parsing"), tmp_path / "x", brackets=brackets)


def test_tags_are_no_words_of_a_text():
    segmenter = Segmenter(unsplit=[TR, PA])
    assert segmenter.words(["a", TR, "b", PA]) == ["a", "b"]
    assert np.array_equal(translations(np.array([0, -1, 3, -4])), [0, 2])
