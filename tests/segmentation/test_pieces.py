"""Pieces of text by SentencePiece: aligned to words, against loops over characters; learned, given, and joined."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.corpora import SIDES, SegmentationSettings, WordsSettings
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.corpus.tokenisation import SPACE, WordTokenizer
from nmtcore.errors import UserError
from nmtcore.parquet import write_rows
from nmtcore.segmentation.learn import learn_pieces, learn_segmentation
from nmtcore.segmentation.segmenter import Segmenter, TextSegmenter, align
from nmtcore.segmentation.vocabulary import SPECIALS, UNK, Vocabulary

pytest.importorskip("sentencepiece")

LINES = ["A man said: «Yes.»", "Ein Mann (30) sagt ... ja!", "彼は「東京に行きました。」と言った", "Two men can't."] * 3
SPACES = [" ", "\u00a0", "\u3000", "  ", "", SPACE]
PARTS = [
    "Man",
    "can't",
    "e\u0301",
    "é",
    "ﬁ",
    "…",
    ".",
    "»",
    "👩‍👩‍👧",
    "東京",
    "ました",
    "ｶﾞ",
    "\u00ad",
    "\u200b",
    "\x00",
    "<s>",
]
TEXTS = st.lists(st.sampled_from(PARTS + SPACES), max_size=12).map("".join)
KINDS = [WordsSettings(kind=name) for name in ("moses", "spaces", "characters")] + [WordsSettings(normalise=True)]


@pytest.fixture(scope="module")
def tool(tmp_path_factory) -> TextSegmenter:
    path = tmp_path_factory.mktemp("pieces") / "source.spm"
    path.write_bytes(learn_pieces(LINES, 120))
    return TextSegmenter(path)


@given(st.sampled_from(KINDS), TEXTS)
def test_a_piece_belongs_to_the_word_of_its_first_letter(tool, settings, text):
    words = WordTokenizer(settings, "en").split(text)
    pieces, owners = tool.segment(words, text)
    assert owners == sorted(owners)
    assert owners[-1:] == [len(words) - 1] * bool(words)
    if not words:
        return
    encoded = tool.model.encode(text, return_type="offset_mapping")
    assert pieces == (encoded["pieces"] or ["<unk>"])
    letters = [character for word in words for character in word if character != SPACE]
    if letters != [character for character in text if not (character.isspace() or character == SPACE)]:
        return  # the next test has words with other letters than the text
    word_of_letter = [number for number, word in enumerate(words) for character in word if character != SPACE]
    for (start, _), owner in zip(encoded["offsets"][:-1], owners, strict=False):
        before = sum(not (character.isspace() or character == SPACE) for character in text[:start])
        assert owner == [*word_of_letter, len(words) - 1][before]


@given(st.text("ab.", max_size=9), st.lists(st.text("ab.", min_size=1, max_size=4), max_size=4))
def test_words_with_other_letters_leave_out_the_fewest(text, words):
    expected = [(letter, number) for number, word in enumerate(words) for letter in word]
    letters, aligned, unaligned = list(enumerate(text)), [], 0
    while letters or expected:
        agree = [(a, b) for a, (_, x) in enumerate(letters) for b, (y, _) in enumerate(expected) if x == y]
        more, fewer = min(agree, key=lambda pair: (sum(pair), pair), default=(len(letters), len(expected)))
        unaligned += more + fewer
        aligned += [(place, expected[0][1]) for place, _ in letters[:more] if fewer]
        letters, expected = letters[more:], expected[fewer:]
        aligned += [(place, number) for (place, _), (_, number) in zip(letters[:1], expected[:1], strict=True)]
        letters, expected = letters[1:], expected[1:]
    places, owners, count = align(text, words)
    assert (list(zip(places, owners, strict=True)), count) == (aligned, unaligned)


def test_where_words_differ_for_long_what_follows_is_aligned_again():
    text, words = "“" * 45 + " end", ['"'] * 47 + ["end"]
    places, owners, unaligned = align(text, words)
    assert (places[-3:], owners[-3:], unaligned) == ([46, 47, 48], [47] * 3, 45 + 47)


@given(st.lists(st.sampled_from(["▁a", "b", "▁", "c▁d", ".", "▁▁"]), max_size=8))
def test_pieces_are_joined_to_text_and_words_begin_where_a_space_does(tool, pieces):
    words, first_pieces = tool.join(pieces), tool.first_pieces(pieces)
    decoded = tool.model.decode_pieces(pieces).replace(SPACE, " ")  # it leaves the spaces of unknown pieces
    assert words == decoded.split()
    assert len(first_pieces) == len(words)
    for number, first in enumerate(first_pieces):
        assert len(tool.join(pieces[:first])) <= number < len(tool.join(pieces[: first + 2]))


def learned(tmp_path, name, pairs, given=()):
    """Learn a segmentation of pairs of lines."""
    tokenizer = WordTokenizer(WordsSettings(kind="spaces"), "en")
    rows = (
        {"id": i, **dict(zip(SIDES, pair, strict=True)), "origin": "c:1"}
        | {f"{side}_words": tokenizer.split(text) for side, text in zip(SIDES, pair, strict=True)}
        for i, pair in enumerate(pairs)
    )
    write_rows(tmp_path / "train.parquet", PAIR_SCHEMA, rows)
    settings = SegmentationSettings.parse(name)
    assert settings.name == name
    return settings, learn_segmentation(tmp_path / "train.parquet", settings, tmp_path / name, given=given)


@pytest.mark.parametrize(("name", "learns_from"), [("sentencepiece_60", (0,)), ("sentencepiece_joint_60", (0, 1))])
def test_pieces_are_learned_from_the_texts_of_one_side_or_both(tmp_path, name, learns_from):
    pairs = list(zip(LINES[0::2], LINES[1::2], strict=True)) * 2
    settings, report = learned(tmp_path, name, pairs)
    model = learn_pieces([pair[side] for side in learns_from for pair in pairs], 60)
    assert (tmp_path / name / "source.spm").read_bytes() == model
    vocabulary = Vocabulary.load(tmp_path / name / "source.vocab")
    source = Segmenter.load(tmp_path / name, settings, "source")
    assert set(vocabulary.entries) == {*SPECIALS, *map(source.model.id_to_piece, range(len(source.model)))}
    assert report["source"]["entries"] == len(vocabulary) - len(SPECIALS)
    assert (len(learns_from) == 2) == ((tmp_path / name / "target.spm").read_bytes() == model)
    for text in (pair[0] for pair in pairs):
        pieces = source.segment(text.split(), text).pieces
        assert UNK not in vocabulary.ids(pieces)


def test_characters_may_need_more_pieces_than_there_should_be(tmp_path):
    _, report = learned(tmp_path, "sentencepiece_9", [("ein Hund bellt laut", "犬が吠える")])
    assert report["source"]["entries"] > 9
    with pytest.raises(UserError, match="SentencePiece cannot learn"):
        learn_pieces(["\u200b"], 9)


@pytest.fixture
def published(tmp_path):
    """The files of a model as `transformers` publishes it; `</s>` and `<unk>` come first, `<pad>` last."""
    entries = {}
    for side, lines in zip(SIDES, (LINES[0::2], LINES[1::2]), strict=True):
        (tmp_path / f"{side}.spm").write_bytes(learn_pieces(lines, 60))
        model = TextSegmenter(tmp_path / f"{side}.spm").model
        entries |= dict.fromkeys(model.id_to_piece(i) for i in range(3, len(model)))
    entries.pop("▁", None)  # a piece that the vocabulary lacks
    names = ["</s>", "<unk>", *entries, "<pad>"]
    (tmp_path / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    return [tmp_path / name for name in ("source.spm", "target.spm", "vocab.json")]


def test_ids_of_a_given_model_are_those_of_its_tokenizer(tmp_path, published, shared):
    """The ids of 1,000 lines and of odd ones, given the places of entries in vocab.json; texts come back, too."""
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.MarianTokenizer(*map(str, published), source_lang="en", target_lang="de")
    place = json.loads(published[-1].read_text())
    settings, _ = learned(tmp_path, f"sentencepiece_joint_{len(place)}_tiny", [("a", "b")], published)
    for side, language in zip(SIDES, ("en", "de"), strict=True):
        vocabulary = Vocabulary.load(tmp_path / settings.name / f"{side}.vocab")
        segmenter = Segmenter.load(tmp_path / settings.name, settings, side)
        lines = (shared / "data" / "multi30k" / f"val.{language}").read_text("utf-8").split("\n")[:1000]
        for line in [*lines, *LINES, "“Hi” – don’t…", " a  b ", "x\u00a0y e\u0301", "👩‍👩‍👧 ﬁ"]:
            for text in (line, tokenizer.normalize(line)):
                expected = tokenizer(**{"text" if side == "source" else "text_target": text})["input_ids"]
                pieces = segmenter.segment(text.split(), text).pieces
                ids = vocabulary.ids(pieces)
                assert [*(place[entry] for entry in vocabulary.tokens(ids)), place["</s>"]] == expected
                decoded = tokenizer.spm_source if side == "source" else tokenizer.spm_target
                assert " ".join(segmenter.join(pieces)) == " ".join(decoded.decode_pieces(pieces).split())


def test_broken_models_are_sentences(tmp_path, published):
    count = len(json.loads(published[-1].read_text()))
    with pytest.raises(UserError, match=f"vocab.json has {count} entries: write `size: {count}` into `segmentation`"):
        learned(tmp_path, "sentencepiece_joint_9_tiny", [("a", "b")], published)
    published[-1].write_text('{"a": 0}')
    with pytest.raises(UserError, match=r"vocab.json has no ids of entries, one of them </s>: copy the model again"):
        learned(tmp_path, "sentencepiece_joint_1_tiny", [("a", "b")], published)
    published[0].write_bytes(b"no model")
    with pytest.raises(UserError, match=rf"{published[0]} is no model of SentencePiece \(.*\): copy or train it again"):
        learned(tmp_path, "sentencepiece_joint_1_tiny", [("a", "b")], published)
