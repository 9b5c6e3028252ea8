"""Segmentation of batches of sentences, and vocabularies with tags."""

import io
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from subword_nmt.apply_bpe import BPE

from nmtcore.segmentation import segmenter
from nmtcore.segmentation.bpe import Codes
from nmtcore.segmentation.learn import learn_codes
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import SPECIALS, TAG_PREFIX, UNK, Vocabulary, tag_entry

TAGS = ["N/N", "(S\\NP)/NP", "<TR>", "conj", "a@@"]
SENTENCES = st.lists(
    st.lists(st.text(st.sampled_from("abcdä漢\u00a0@"), min_size=1, max_size=9), max_size=8), max_size=8
)


def codes_of(words, merges=30):
    text = learn_codes(Counter(words), merges)
    return text, Codes([tuple(line.split(" ")) for line in text.split("\n")[1:-1]])


def as_sentences(cut):
    """Convert a segmented batch to the results of `Segmenter.segment`."""
    sentences, start = [], 0
    for length in cut.subwords_B:
        part = slice(start, start := start + length)
        sentences.append(
            ([cut.pieces[piece] for piece in cut.piece_of_subword_J[part]], cut.word_of_subword_J[part].tolist())
        )
    return sentences


@given(SENTENCES, st.data())
def test_batches_match_single_sentences(sentences, data):
    _, codes = codes_of(["abcd", "bcda", "abab", "cdcd", "ab"])
    for tool in (Segmenter(codes), Segmenter()):
        lists = pa.array(sentences, pa.list_(pa.string()))
        assert as_sentences(tool.segment_batch(lists)) == tool.segment_all(sentences)
        start = data.draw(st.integers(0, len(sentences)))
        assert as_sentences(tool.segment_batch(lists.slice(start, 3))) == tool.segment_all(sentences[start : start + 3])


def test_a_small_cache_does_not_change_results(monkeypatch):
    _, codes = codes_of(["abcd", "bcda"])
    sentences = [[f"ab{i % 7}", f"cd{i % 5}"] for i in range(40)]
    whole = Segmenter(codes).segment_all(sentences)
    monkeypatch.setattr(segmenter, "CACHED_WORDS", 3)
    tool = Segmenter(codes)
    assert as_sentences(tool.segment_batch(pa.array(sentences))) == whole
    assert len(tool._pieces_of) <= 3


def test_batches_of_multi30k_match_subword_nmt(shared):
    lines = (shared / "data" / "multi30k" / "val.cs").read_text("utf-8").split("\n")
    text, codes = codes_of([word for line in lines[:400] for word in line.split(" ") if word], merges=300)
    expected = "\n".join(map(BPE(io.StringIO(text)).process_line, lines))
    cut = Segmenter(codes).segment_batch(pa.array([[word for word in line.split(" ") if word] for line in lines]))
    assert "\n".join(" ".join(pieces) for pieces, _ in as_sentences(cut)).encode() == expected.encode()


@pytest.mark.parametrize("word", ["", "a b", "x\t", TAG_PREFIX + "N/N"])
def test_invalid_words_are_refused_in_batches(word):
    with pytest.raises(ValueError, match="is not a word"):
        Segmenter().segment_batch(pa.array([["fine"], [word]]))


def test_an_extended_vocabulary_is_saved_and_loaded(tmp_path):
    old = Vocabulary.of(["N/N", "dog", "<TR>"])
    new = old.extended(TAGS)
    assert new.entries[: len(old)] == old.entries
    assert new.ids([*old.entries, tag_entry("N/N")])[len(SPECIALS) :] == [5, 6, 7, 8]
    assert new.tokens(new.ids(map(tag_entry, TAGS))) == list(map(tag_entry, TAGS))
    assert new.ids([tag_entry("new")]) == [UNK]
    new.save(tmp_path / "vocab")
    assert Vocabulary.load(tmp_path / "vocab") == new
    assert old.extended([]) == old


@pytest.mark.parametrize("tags", [["a", "a"], [""], ["a", "b", ""]])
def test_invalid_tags_are_refused(tags):
    with pytest.raises(ValueError, match=r"is both entry|a tag is empty"):
        Vocabulary.of(["dog"]).extended(tags)
    with pytest.raises(ValueError, match="is both entry"):
        Vocabulary.of(["dog"]).extended(["a"]).extended(["a"])
