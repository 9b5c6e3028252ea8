"""Warnings about unsegmented text in writing systems without spaces."""

from dataclasses import replace

import pytest
from corpus.test_read import TEXTS

from nmtcore.config.corpora import WordsSettings
from nmtcore.corpus import read
from nmtcore.corpus.tokenisation import mecab_words
from nmtcore.corpus.writing_systems import looks_tokenised

JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n"
CHINESE = "他站在街上，穿着一件红色的夹克。两只狗在草地上奔跑。\n"
THAI = "ผู้ชายในเสื้อแจ็คเก็ตสีแดงยืนอยู่บนถนน\n"


def warnings(bench, source, *, words="spaces", language=None):
    lines = source.count("\n")
    words_settings = {"source": WordsSettings(kind=words), "target": WordsSettings(kind="spaces")}
    dataset = bench.dataset(bench.plain(source, "x y\n" * lines), words=words_settings)
    _, report = bench.read(replace(dataset, source=language or "cs"))
    return report["warnings"]


@pytest.mark.parametrize("words", ["spaces", "moses"])
def test_unsegmented_japanese_gets_one_warning(words, bench, monkeypatch):
    monkeypatch.setattr(read, "ROWS_PER_CHUNK", 7)
    (warning,) = warnings(bench, JAPANESE * 40, words=words, language="ja")
    start = f"The source side has `words: {words}`, but the text looks unsegmented (average "
    assert warning.startswith(start)
    assert warning.endswith(" characters per word): did you mean `mecab`?")
    assert int(warning.removeprefix(start).split()[0]) > 8


@pytest.mark.parametrize(("text", "language"), [(CHINESE, "zh"), (THAI, "th")])
def test_unsegmented_chinese_and_thai_get_their_own_warning(text, language, bench):
    (warning,) = warnings(bench, text * 3, language=language)
    spacy = ", `{kind: spacy, language: zh}`" if language == "zh" else ""
    advice = f"write `characters`{spacy}, or segment it first, with spaces between words."
    assert warning.endswith(f" characters per word): {advice}")


def test_segmented_text_and_other_scripts_get_no_warning(bench):
    assert warnings(bench, " ".join(mecab_words(JAPANESE.strip())) + "\n", language="ja") == []
    assert warnings(bench, JAPANESE * 20, words="mecab", language="ja") == []
    for text in TEXTS.values():
        assert warnings(bench, text.rstrip("\n") + "\n") == []
    assert warnings(bench, "서울에서열린국제영화제에서상을받았다 그리고\n") == []
    assert warnings(bench, TEXTS["cs"] * 3 + JAPANESE) == [], "a few unsegmented lines are tolerated"


@pytest.mark.parametrize("text", [JAPANESE, CHINESE])
def test_text_that_is_cut_into_words_is_noticed(text):
    """Also without full stops; clauses with spaces between them, as in subtitles, are not cut into words."""
    sentences = [sentence for sentence in text.strip().replace("，", "。").split("。") if sentence]
    cut = [" ".join(mecab_words(sentence)) for sentence in sentences]
    assert looks_tokenised(cut)
    assert looks_tokenised([f"{sentence} 。" for sentence in cut])
    assert not looks_tokenised(sentences)
    assert not looks_tokenised([" ".join(sentences)] * 3)


def test_text_that_is_cut_into_words_has_a_space_before_full_stops():
    assert looks_tokenised(["A dog .", "Who ?", "So be it."])
    assert not looks_tokenised(["A dog.", "Who ?", "So be it."])
