"""Byte pair encoding matches subword-nmt byte for byte, in learning and in segmenting."""

import io
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from nmtcore.errors import LineError
from nmtcore.segmentation import bpe
from nmtcore.segmentation.bpe import Codes, first_pieces_of_words, join_pieces
from nmtcore.segmentation.learn import learn_codes

LETTERS = st.sampled_from("abcä@") | st.sampled_from("漢\u00a0\u2028\u200b<>/w\\.|")
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=1, max_size=30)


def subword_nmt_codes(lines: list[str], merges: int) -> str:
    codes = io.StringIO()
    learn_bpe(lines, codes, merges)
    return codes.getvalue()


def load(codes: str, tmp_path) -> Codes:
    (tmp_path / "codes").write_text(codes, encoding="utf-8", newline="\n")
    return Codes.load(tmp_path / "codes")


@given(WORDS, st.integers(1, 40))
@settings(deadline=None, max_examples=60)
def test_learning_matches_subword_nmt(words, merges):
    if all(len(word) == 1 for word in words):
        assert learn_codes(Counter(words), merges) == "#version: 0.2\n"
    else:
        assert learn_codes(Counter(words), merges) == subword_nmt_codes([" ".join(words)], merges)


@given(st.text(st.sampled_from("abc"), min_size=2), WORDS, st.integers(1, 40))
@settings(deadline=None, max_examples=100)
def test_cutting_matches_subword_nmt(text, words, merges):
    codes = learn_codes(Counter([text[i : i + 5] for i in range(len(text))]), merges)
    assume("\n" in codes.strip())  # subword-nmt rejects codes without a merge
    ours = Codes([tuple(line.split(" ")) for line in codes.split("\n")[1:-1]])
    bpe = BPE(io.StringIO(codes))
    words = [*words, text, text * 3]
    assert [piece for word in words for piece in ours.cut(word)] == bpe.segment_tokens(words)


PIECES = st.text("ab", min_size=1, max_size=3)


@given(st.lists(st.tuples(PIECES, PIECES | PIECES.map(lambda piece: piece + bpe.WORD_END))), st.text("ab", min_size=1))
@settings(deadline=None, max_examples=500)
def test_long_words_are_cut_like_short_ones(merges, word):
    """Also with merges in an order in which no learner gives them."""
    codes = Codes(merges)
    expected = codes.cut(word)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bpe, "LONG_WORD", 0)
        assert codes.cut(word) == expected


def test_a_word_of_100_000_characters_is_cut():
    codes = Codes([("a" * n, "a" * n) for n in (2**i for i in range(9))])
    pieces = codes.cut("a" * 100_000 + "b")
    assert [len(piece) for piece in pieces] == [512 + 2] * 195 + [128 + 2, 32 + 2, 1]


@given(WORDS, WORDS, st.integers(1, 40))
@settings(deadline=None)
def test_joining_undoes_cutting(learned, words, merges):
    codes = learn_codes(Counter(learned), merges)
    ours = Codes([tuple(line.split(" ")) for line in codes.split("\n")[1:-1]])
    words = [word for word in words if not word.endswith("@@")]
    assert join_pieces([piece for word in words for piece in ours.cut(word)]) == words


@pytest.mark.parametrize(("source", "target", "merges"), [("cs", "en", 800), ("de", "en", 300)])
def test_multi30k_matches_subword_nmt(source, target, merges, shared, tmp_path):
    folder = shared / "data" / "multi30k"
    lines = [line for side in (source, target) for line in (folder / f"val.{side}").read_text("utf-8").split("\n")]
    words = Counter(word for line in lines for word in line.split(" ") if word)
    codes = learn_codes(words, merges)
    assert codes == subword_nmt_codes(lines, merges)
    ours, bpe = load(codes, tmp_path), BPE(io.StringIO(codes))
    test = (folder / f"test_2016_flickr.{target}").read_text("utf-8").split("\n")
    for line in lines + test:
        cut = [piece for word in line.split(" ") if word for piece in ours.cut(word)]
        assert " ".join(cut) == bpe.segment(line)


def test_a_truncated_translation_is_joined():
    assert join_pieces(["a@@", "b", "c@@"]) == ["ab", "c"]
    assert join_pieces([]) == []


@given(st.lists(st.sampled_from(["a", "b@@", "@@", "c"]), max_size=9))
def test_the_first_pieces_of_words_are_where_words_begin(pieces):
    """Joining what comes before a first piece gives the words before, joining the rest the words from there on."""
    words, first_pieces = join_pieces(pieces), first_pieces_of_words(pieces)
    assert len(first_pieces) - len(words) == bool(first_pieces and not join_pieces(pieces[first_pieces[-1] :]))
    for number, first in enumerate(first_pieces[: len(words)]):
        assert join_pieces(pieces[:first]) == words[:number]
        assert join_pieces(pieces[first:]) == words[number:]


def test_invalid_codes_are_an_error(tmp_path):
    with pytest.raises(LineError, match=r"codes, line 1: expected '#version: 0\.2'"):
        load("a b\n", tmp_path)
    with pytest.raises(LineError, match=r"codes, line 3: 'a b c' is not a merge"):
        load("#version: 0.2\na b\na b c\n", tmp_path)
    with pytest.raises(LineError, match=r"codes, line 2: 'x{77}\.\.\.' is not a merge"):
        load(f"#version: 0.2\n{'x' * 5000}\n", tmp_path)
    with pytest.raises(LineError, match=r"codes, line 2"):
        load("#version: 0.2\na \n", tmp_path)
