"""Warnings about unsegmented text in writing systems without spaces."""

import re
from dataclasses import replace

import pyarrow as pa
import pytest

from nmtcore.corpus import read
from nmtcore.corpus.tokenisation import mecab_words
from nmtcore.corpus.writing_systems import count_unspaced, looks_tokenised, unsegmented_warning

JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n"
CHINESE = "他站在街上，穿着一件红色的夹克。两只狗在草地上奔跑。\n"
THAI = "ผู้ชายในเสื้อแจ็คเก็ตสีแดงยืนอยู่บนถนน\n"


def warning(texts, words, *, words_kind="spaces", language="cs"):
    counts = count_unspaced(pa.array(texts), pa.array(words))
    return unsegmented_warning(counts, "source", words_kind=words_kind, language=language)


@pytest.mark.parametrize(
    ("text", "language", "advice"),
    [
        (JAPANESE, "ja", "did you mean `mecab`?"),
        (CHINESE, "zh", "write `characters`, `{kind: spacy, language: zh}`, or segment it first, with spaces between"),
        (THAI, "th", "write `characters`, or segment it first, with spaces between words."),
    ],
)
def test_unsegmented_text_gets_a_warning(text, language, advice):
    sentence = warning([text] * 3, [text.split()] * 3, language=language)
    assert re.match(r"The source side has `words: spaces`, but the text looks unsegmented \(average \d+ char", sentence)
    assert advice in sentence


def test_segmented_text_and_other_scripts_get_no_warning():
    cut = mecab_words(JAPANESE.strip())
    assert warning([JAPANESE], [cut], language="ja") is None
    assert warning([JAPANESE], [JAPANESE.split()], words_kind="mecab", language="ja") is None
    lines = [
        "Dva psi běží po louce.",
        "Две собаки бегут по лугу",
        "서울에서열린국제영화제에서상을받았다 그리고",
        JAPANESE,
    ]
    assert warning(lines, list(map(str.split, lines))) is None, "a few unsegmented lines are tolerated"


def test_a_split_of_unsegmented_text_is_read_with_a_warning(bench, monkeypatch):
    monkeypatch.setattr(read, "ROWS_PER_CHUNK", 7)
    dataset = bench.dataset(bench.plain(JAPANESE * 40, "x y\n" * 40))
    _, report = bench.read(replace(dataset, source="ja"))
    (sentence,) = report["warnings"]
    assert sentence.endswith(" characters per word): did you mean `mecab`?")


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
