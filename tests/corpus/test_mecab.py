"""Japanese words by MeCab: no text is lost, and joining restores it."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.segmentation import WordsSettings
from nmtcore.corpus import mecab
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import UserError

JAPANESE = "今日は東京でApple社のiPhone１２を買った。、「」ーｶﾞ 9,.%(-😀é\u3000\u00a0\u2028\t\n\u200b\u200d"
TEXTS = st.text(st.sampled_from(JAPANESE) | st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)


@given(TEXTS)
def test_concatenated_words_are_the_text_without_white_space(text):
    words = mecab.split(text)
    assert "".join(words) == "".join(text.split())
    assert all(word.split() == [word] for word in words)


@given(TEXTS)
def test_joining_adds_only_single_spaces(text):
    words = mecab.split(text)
    joined = mecab.join(words)
    assert "".join(joined.split(" ")) == "".join(words)
    assert "  " not in joined
    assert joined == joined.strip()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Apple社のiPhone 12を買った。", ["Apple", "社", "の", "iPhone", "12", "を", "買っ", "た", "。"]),
        ("10,000円(税込)", ["10", ",", "000", "円", "(", "税込", ")"]),
        ("New York Timesは", ["New", "York", "Times", "は"]),
    ],
)
def test_split_and_join_examples(text, words):
    assert mecab.split(text) == words
    assert mecab.join(words) == text


def test_words_match_sacrebleus_mecab(shared):
    from sacrebleu.tokenizers.tokenizer_ja_mecab import TokenizerJaMecab

    expected, words = TokenizerJaMecab(), WordTokenizer(WordsSettings(kind="mecab"), "ja")
    for line in (shared / "data/news/en-ja/test.ja").read_text(encoding="utf-8").split("\n")[:300]:
        assert words.split(line) == expected(line).split()


def test_text_after_nul_and_line_ends_is_kept():
    assert mecab.split("今日は\0東京\nで") == ["今日", "は", "東京", "で"]


def test_very_long_lines_are_cut_without_loss(monkeypatch):
    assert mecab.MAX_CHARACTERS < 100_000, "MeCab fails at about 200,000 letters"
    monkeypatch.setattr(mecab, "MAX_CHARACTERS", 500)
    text = "a" * 2000
    words = mecab.split(text)
    assert "".join(words) == text
    assert all(len(word) <= mecab.MAX_CHARACTERS for word in words)


def test_another_language_raises_user_error():
    with pytest.raises(UserError, match=r"'mecab' are Japanese \(ja\), but this side's language is 'en'"):
        WordTokenizer(WordsSettings(kind="mecab"), "en")


@pytest.mark.parametrize("package", ["MeCab", "ipadic"])
def test_a_missing_package_raises_user_error(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    mecab._tagger.cache_clear()
    with pytest.raises(UserError, match="pip install mecab-python3 ipadic"):
        mecab.split("今日")
