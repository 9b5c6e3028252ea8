"""Words are cut as sacremoses cuts them, and are never empty nor hold white space."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmtcore.corpus.words import Words
from nmtcore.errors import UserError

STRAY = "\u2028\u2029\x85\x0b\x0c\r\t\x1c\x00\u00a0\u3000"
TEXTS = st.text(st.sampled_from("abcXYZ áßčЖ漢. ,-'\"&|<>[]@…!?19" + STRAY) | st.characters(codec="utf-8"), max_size=60)


@settings(deadline=None)
@given(TEXTS, st.sampled_from(["moses", "spaces", "given"]), st.sampled_from(["en", "cs", "ja", "fr"]))
def test_no_word_is_empty_or_holds_white_space(text, kind, language):
    for word in Words(kind, language).split(text):
        assert word
        assert word.split() == [word]


@settings(deadline=None)
@given(TEXTS, st.sampled_from(["en", "cs", "de", "tr"]))
def test_moses_is_sacremoses(text, language):
    import sacremoses

    expected = sacremoses.MosesTokenizer(lang=language).tokenize(text, escape=False)
    assert Words("moses", language).split(text) == expected


@pytest.mark.parametrize(("corpus", "language"), [("cs-en", "cs"), ("en-de", "de"), ("en-tr", "tr"), ("en-ru", "ru")])
def test_moses_is_sacremoses_on_news(corpus, language, shared):
    import sacremoses

    text = (shared / "data" / "news" / corpus / f"test.{language}").read_text(encoding="utf-8")
    tokenizer, words = sacremoses.MosesTokenizer(lang=language), Words("moses", language)
    for line in text.split("\n")[:400]:
        assert words.split(line) == tokenizer.tokenize(line, escape=False)


def test_moses_keeps_what_xml_would_escape():
    assert Words("moses", "en").split("R&D <b> isn't &amp;") == [
        "R",
        "&",
        "D",
        "<",
        "b",
        ">",
        "isn",
        "'t",
        "&",
        "amp",
        ";",
    ]
    assert Words("moses", "en").join(["R", "&", "amp", ";", "isn", "'t", "."]) == "R & amp; isn't."


def test_most_of_multi30k_comes_back_as_it_was(shared):
    lines = (shared / "data" / "multi30k" / "val.en").read_text(encoding="utf-8").split("\n")[:-1]
    words = Words("moses", "en")
    same = sum(words.join(words.split(line)) == line.strip() for line in lines)
    assert same >= 0.95 * len(lines)


@given(st.lists(st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1)))
def test_words_between_spaces_come_back(words):
    for kind in ("spaces", "given"):
        assert Words(kind, "en").split(Words(kind, "en").join(words)) == [
            part for word in words for part in word.split()
        ]


def test_an_unknown_kind_is_a_sentence():
    with pytest.raises(UserError, match=r"unknown kind of words 'mosse'\. Did you mean moses"):
        Words("mosse", "en")
