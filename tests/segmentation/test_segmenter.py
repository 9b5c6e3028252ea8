"""Words cut into pieces and joined again, against subword-nmt itself."""

from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from subword_nmt.apply_bpe import BPE

from nmtcore.errors import LineError
from nmtcore.segmentation import segmenter
from nmtcore.segmentation.learn import learn_codes
from nmtcore.segmentation.segmenter import Segmenter, load_codes
from nmtcore.segmentation.vocabulary import TAG_PREFIX

WORDS = st.lists(st.text(st.sampled_from("abcdä漢\u00a0\u2028@.</w>"), min_size=1, max_size=9), max_size=8)


def load(folder, codes: str) -> Segmenter:
    (folder / "codes").write_text(codes, encoding="utf-8", newline="\n")
    return Segmenter(load_codes(folder / "codes"))


@pytest.fixture(scope="module")
def tool(tmp_path_factory) -> Segmenter:
    words = ["abcd", "bcda", "abab", "cdcd", "a.</w>"]
    return load(tmp_path_factory.mktemp("bpe"), learn_codes(dict.fromkeys(words, 2), 30))


@given(WORDS)
def test_joining_undoes_cutting(tool, words):
    words = [word for word in words if not word.endswith("@@")]
    pieces, owners = tool.segment(words)
    assert tool.join(pieces) == words
    assert owners == sorted(owners)
    for number, word in enumerate(words):
        assert tool.join([piece for piece, owner in zip(pieces, owners, strict=True) if owner == number]) == [word]
    assert Segmenter().join([*words, "a@@", "b"]) == [*words, "a@@", "b"]


@pytest.mark.parametrize("cached", [3, 1 << 19])
def test_real_text_is_cut_as_by_subword_nmt(tmp_path, monkeypatch, shared, cached):
    monkeypatch.setattr(segmenter, "CACHED_WORDS", cached)
    lines = (shared / "data" / "multi30k" / "val.cs").read_text("utf-8").split("\n")
    codes = learn_codes({word: 2 for line in lines[:400] for word in line.split(" ") if word}, 300)
    expected = "\n".join(map(BPE(StringIO(codes)).process_line, lines))
    tool = load(tmp_path, codes)
    cut = [tool.segment([word for word in line.split(" ") if word]).pieces for line in lines]
    assert "\n".join(map(" ".join, cut)).encode() == expected.encode()


@given(st.lists(st.sampled_from(["a", "b@@", "@@", "c"]), max_size=9))
def test_the_first_pieces_of_words_are_where_words_begin(tool, pieces):
    """Joining what comes before a first piece gives the words before, joining the rest the words from there on."""
    words, first_pieces = tool.join(pieces), tool.first_pieces(pieces)
    assert len(first_pieces) - len(words) == bool(first_pieces and not tool.join(pieces[first_pieces[-1] :]))
    for number, first in enumerate(first_pieces[: len(words)]):
        assert tool.join(pieces[:first]) == words[:number]
        assert tool.join(pieces[first:]) == words[number:]


@pytest.mark.parametrize("word", ["", "a b", TAG_PREFIX + "N/N"])
def test_invalid_words_are_refused(word):
    with pytest.raises(ValueError, match="is not a word"):
        Segmenter().segment(["fine", word])


@pytest.mark.parametrize(
    ("codes", "sentence"),
    [
        ("a b\n", r"codes, line 1: expected '#version: 0\.2'"),
        (f"#version: 0.2\n{'x' * 5000}\n", r"codes, line 2: 'x{77}\.\.\.' is not a merge"),
        ("#version: 0.2\na \n", r"codes, line 2: 'a ' is not a merge: write two pieces with a space between them"),
    ],
)
def test_invalid_codes_are_sentences(tmp_path, codes, sentence):
    with pytest.raises(LineError, match=sentence):
        load(tmp_path, codes)
