"""Segmentations learned from a corpus file, against plain counting."""

from collections import Counter
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from subword_nmt.learn_bpe import learn_bpe

from nmtcore.annotation.labels import LINEARISED_PARSES_SCHEMA
from nmtcore.config.corpora import SIDES, SegmentationSettings
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.errors import UserError
from nmtcore.files import read_lines
from nmtcore.parquet import write_rows
from nmtcore.segmentation.learn import learn_codes, learn_segmentation
from nmtcore.segmentation.segmenter import VERSION, Segmenter
from nmtcore.segmentation.vocabulary import SPECIALS

NAMES = ["words_7", "words_joint_7", "bpe_20", "bpe_joint_20"]
PAIRS = [("a a b c der Hund", "dog a the"), ("der Hund bellt", "the dog barks <s> <unk>"), ("Hunde b", "dogs b x y z")]


def corpus(tmp_path, pairs: list[tuple[str, str]]):
    path = tmp_path / "train.parquet"
    rows = (
        {"id": i, "source": source, "target": target, "source_words": source.split(), "target_words": target.split(),
         "origin": f"c:{i + 1}"}
        for i, (source, target) in enumerate(pairs)
    )  # fmt: skip
    write_rows(path, PAIR_SCHEMA, rows)
    return path


def sorted_entries(counts: Counter) -> list[str]:
    return [entry for _, entry in sorted((-count, entry) for entry, count in counts.items() if entry not in SPECIALS)]


@pytest.mark.parametrize("name", NAMES)
def test_vocabularies_match_counting(name, tmp_path):
    chosen = SegmentationSettings.parse(name)
    path = corpus(tmp_path, PAIRS)
    learn_segmentation(path, chosen, tmp_path / name)
    cut = {side: Counter() for side in SIDES}
    for pair in PAIRS:
        for side, text in zip(SIDES, pair, strict=True):
            pieces, _ = Segmenter.load(tmp_path / name, chosen, side).segment(text.split())
            cut[side].update(pieces)
    if chosen.joint:
        cut = dict.fromkeys(SIDES, cut["source"] + cut["target"])
    for side in SIDES:
        entries = sorted_entries(cut[side])[: chosen.size if chosen.kind == "words" else None]
        assert read_lines(tmp_path / name / f"{side}.vocab") == [*SPECIALS, *entries]
    if chosen.joint:
        vocabularies = [(tmp_path / name / f"{side}.vocab").read_bytes() for side in SIDES]
        assert vocabularies[0] == vocabularies[1]


def test_learning_writes_the_expected_files(tmp_path):
    """Joint codes are learned from both sides."""
    path = corpus(tmp_path, PAIRS)
    for name, files in (("bpe_20", {"source.codes", "target.codes"}), ("bpe_joint_20", {"codes"}), ("words_7", set())):
        learn_segmentation(path, SegmentationSettings.parse(name), tmp_path / name)
        written = {file.name for file in (tmp_path / name).iterdir()}
        assert written == files | {"source.vocab", "target.vocab", "report.json"}
    text = " ".join(side for pair in zip(*PAIRS, strict=True) for side in pair)
    assert (tmp_path / "bpe_joint_20" / "codes").read_text() == learn_codes(Counter(text.split()), 20)


def test_long_words_are_left_out_of_learning_and_cut_in_parts(tmp_path):
    """A line of a megabyte without a space keeps neither the learner nor the segmenter busy."""
    text = "abcdefg" * 150_000
    chosen = SegmentationSettings.parse("bpe_20")
    learn_segmentation(corpus(tmp_path, [(f"Hund {text} Hund", "dog dog")]), chosen, tmp_path / "bpe")
    assert (tmp_path / "bpe" / "source.codes").read_text() == learn_codes({"Hund": 2}, 20)
    tool = Segmenter.load(tmp_path / "bpe", chosen, "source")
    pieces, owners = tool.segment(["Hund", text, "Hund"])
    assert tool.join(pieces) == ["Hund", text, "Hund"]
    assert (owners.count(0), owners.count(2)) == (1, 1)


@given(st.dictionaries(st.text("ab\u00a0", min_size=1, max_size=9), st.integers(1, 9), min_size=1), st.integers(0, 30))
@example({"a": 2, "b": 5}, 9)
@example({"ab": 1, "bcd": 1}, 9)
@example({"abababab": 3, "ab": 1, "aabb": 5}, 400)
def test_codes_are_those_of_subword_nmts_command(words, merges):
    text = " ".join(word for word, count in words.items() for _ in range(count))
    codes = StringIO()
    if any(len(word) > 1 for word in words):  # else subword-nmt fails
        learn_bpe([text], codes, merges)
    assert learn_codes(words, merges) == (codes.getvalue() or f"{VERSION}\n")


def test_a_side_without_words_is_an_error(tmp_path):
    with pytest.raises(UserError, match="no words on the source side"):
        learn_segmentation(corpus(tmp_path, [("", "")]), SegmentationSettings.parse("words_7"), tmp_path / "x")


PARSES = [["(S", "(NP", ")", ")"], None, ["(NP", ")"]]


def linearised_parses(tmp_path, parses):
    path = tmp_path / "brackets.parquet"
    write_rows(path, LINEARISED_PARSES_SCHEMA, [{"id": i, "brackets": parse} for i, parse in enumerate(parses)])
    return path


@pytest.mark.parametrize("name", ["words_40", "bpe_joint_25"])
def test_linearised_parses_count_as_further_targets_of_their_sources(name, tmp_path):
    """Merges and entries match those of a corpus with additional pairs of sources and parses."""
    chosen = SegmentationSettings.parse(f"{name}_constituency")
    assert chosen.name == f"{name}_constituency"
    files = {"linearised_parses": linearised_parses(tmp_path, PARSES)}
    report = learn_segmentation(corpus(tmp_path, PAIRS), chosen, tmp_path / "two", **files)
    assert report["constituency"] == {"sources": 3, "parsed": 2, "without a parse": 1}
    parsed = [(source, " ".join(parse)) for (source, _), parse in zip(PAIRS, PARSES, strict=True) if parse is not None]
    learn_segmentation(corpus(tmp_path, [*PAIRS, *parsed]), SegmentationSettings.parse(name), tmp_path / "one")
    codes = sorted((tmp_path / "one").glob("*codes"))
    assert bool(codes) == name.startswith("bpe")
    for file in codes:
        assert (tmp_path / "two" / file.name).read_bytes() == file.read_bytes()
    for side in SIDES:
        file = f"{side}.vocab"
        assert read_lines(tmp_path / "two" / file) == read_lines(tmp_path / "one" / file)


def test_a_corpus_without_parses_is_an_error(tmp_path):
    chosen, none = SegmentationSettings.parse("words_9_constituency"), linearised_parses(tmp_path, [None] * 3)
    with pytest.raises(UserError, match="has no parse of any selected source"):
        learn_segmentation(corpus(tmp_path, PAIRS), chosen, tmp_path / "x", linearised_parses=none)
