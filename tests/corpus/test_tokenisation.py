"""Words of text, and text of words: equal to what Moses' scripts made of real text, and rule by rule.

The expected texts of the rules below were derived by hand from detokenizer.perl.
"""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.corpora import WordsSettings
from nmtcore.config.typed import build
from nmtcore.corpus import tokenisation
from nmtcore.corpus.tokenisation import WordTokenizer, mecab_text, mecab_words
from nmtcore.errors import UserError

SOURCES = {"cs": ("de-cs", 3000), "en": ("en-de", 1500), "de": ("en-de", 1500), "ru": ("en-ru", 1500),
           "tr": ("en-tr", 1500)}  # fmt: skip
"""The news folder and the number of lines on which Moses' scripts were run, by language."""

STRAY_SPACES = {"en": 2}
"""Lines in which Moses leaves two consecutive spaces or a final space, after ".'"; the words are the same."""
FROM_STRAY_SPACES = {"en": ["He said: 'I couldn't save her' . '"]}
"""Moses takes two consecutive spaces for an empty word, and so puts a space before the full stop here."""
STRAY = "\u2028\u2029\x85\x0b\x0c\r\t\x1c\x00\x01\u00a0\u3000"
TEXTS = st.text(st.sampled_from("abcXYZ áßčЖ漢. ,-'\"&|<>[]@…!?19" + STRAY) | st.characters(codec="utf-8"), max_size=60)


def make(language: str, words_kind: str = "moses", **values: bool | str) -> WordTokenizer:
    return WordTokenizer(WordsSettings(kind=words_kind, **values), language)


def lines_of(path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def moses(shared, language: str) -> tuple[list[str], list[str], list[str]]:
    """Return raw lines, Moses' tokenisation of them, and Moses' detokenisation of that."""
    folder, count = SOURCES[language]
    raw = lines_of(shared / "data" / "news" / folder / f"dev.{language}")[:count]
    tokenised, detokenised = (lines_of(shared / "data" / "moses" / f"{language}.{end}") for end in ("tok", "detok"))
    assert len(raw) == len(tokenised) == len(detokenised) == count
    return raw, tokenised, detokenised


@pytest.mark.parametrize("language", SOURCES)
def test_real_text_is_tokenised_and_detokenised_as_by_moses(language, shared):
    words, stray = make(language), FROM_STRAY_SPACES.get(language, [])
    raw, tokenised, detokenised = moses(shared, language)
    split = list(map(words.split, raw))
    assert split == [line.split() for line in tokenised]
    assert sum(" ".join(line.split()) != line for line in tokenised) == STRAY_SPACES.get(language, 0)
    for texts in (split, (line.split(" ") for line in tokenised)):
        pairs = zip(map(words.join, texts), detokenised, strict=True)
        assert [theirs for ours, theirs in pairs if ours != theirs] == stray


RULES = {
    "punctuation attaches to the left, even several marks": ("de", "Was ? ! Ja ... nein ; so : 5 % , gut .",
                                                          "Was?! Ja... nein; so: 5%, gut."),
    "other marks stand alone": ("ru", "« Да » – сказал он — & @ # * + = < >", "« Да » – сказал он — & @ # * + = < >"),
    "„ and “ are double quotes": ("de", "„ a “ b \" c „", "„a“ b \"c„"),
    "Czech „ always opens": ("cs", "„ a „ b “ c", "„a „b“ c"),
    "Czech “ always closes": ("cs", "a “ b “ c", "a“ b“ c"),
    "English contractions": ("en", "it 's I 'm don 't '90s the 1990 's", "it's I'm don't '90s the 1990's"),
    "other languages have neither contractions nor apostrophes": ("de", "it 's Hans ' Haus '", "it 's Hans 'Haus'"),
    # Czech numbers and dashes
    "Czech decimals": ("cs", "asi 2 , 8 mil . a 3 . 5 krát", "asi 2,8 mil. a 3.5 krát"),
    "Czech decimals require a preceding number": ("cs", "Petr , 42 , a 7 : 5 a 6 ; 5", "Petr, 42, a 7: 5 a 6; 5"),
    "Czech decimals consist of digits only": ("cs", "5 , 6a 7 , 8. 1,5 , 5", "5, 6a 7, 8. 1,5, 5"),
    "Czech -li": ("cs", "bude - li pršet", "bude-li pršet"),
    "Czech e-mail, in all inflected forms": ("cs", "pošle e - mailem zprávu", "pošle e-mailem zprávu"),
    "Czech e-mail at the end (Moses leaves its spaces)": ("cs", "pošle e - mail", "pošle e-mail"),
    "Czech -li after an apostrophe (at which sacremoses fails)": ("cs", "d' - li on", "d'-li on"),
    # Chinese, Japanese, Korean
    "Japanese words are joined": ("ja", "これ は 本 です 。", "これは本です。"),
    # The rest
    "separated hyphens are restored": ("en", "well @-@ known @-@ @-@ a", "well-known-@-@ a"),
    "a line like markup is detokenised (an intended difference)": ("en", "< b > a , b < / b >",
                                                                       "< b > a, b < / b >"),
}  # fmt: skip
"""By the rule: a language, words, and the text that Moses makes of them."""


@pytest.mark.parametrize("rule", RULES)
def test_detokenisation_follows_the_rules_of_moses(rule):
    language, words, text = RULES[rule]
    assert make(language).join(words.split(" ")) == text


WORDS = st.lists(st.text(st.sampled_from("aé1Ж漢.,'\"-–„“(€%@x"), min_size=1), max_size=9)


@given(WORDS, st.sampled_from([*SOURCES, "fr", "ja", "ko"]))
def test_detokenisation_changes_only_spaces(words, language):
    words = [word for word in words if word != "@-@"]
    text = make(language).join(words)
    assert text.replace(" ", "") == "".join(words)
    assert text == " ".join(text.split())


@given(
    TEXTS, st.sampled_from(["moses", "spaces", "given", "mecab"]), st.sampled_from(["en", "cs", "fr"]), st.booleans()
)
def test_no_word_is_empty_or_contains_white_space(text, words_kind, language, normalise):
    for word in make("ja" if words_kind == "mecab" else language, words_kind, normalise=normalise).split(text):
        assert word.split() == [word]


@pytest.mark.parametrize("words_kind", ["spaces", "moses", "mecab", "given"])
@pytest.mark.parametrize("text", ["\u200b", "\ufeff", " \u200b\u2060\t\u00ad", "\u200d\u200e", "", "\u3000"])
def test_a_text_of_characters_without_width_has_no_words(text, words_kind):
    tokenizer = WordTokenizer(WordsSettings(kind=words_kind), "ja")
    assert tokenizer.split(text) == []
    assert tokenizer.split(f"{text}a{text}")


def test_text_is_normalised_before_tokenisation_and_never_escaped():
    text = "„Ahoj“ – řekl (Petr) :\u00a0ano…"
    assert " ".join(make("cs", normalise=True).split(text)) == '" Ahoj " - řekl ( Petr ) : ano ...'
    assert make("cs", "spaces", normalise=True).split(text) == ['"Ahoj"', "-", "řekl", "(Petr):", "ano..."]
    assert make("cs", "spaces").split(text) == ["„Ahoj“", "–", "řekl", "(Petr)", ":", "ano…"]

    words = ["R", "&", "D", "<", "b", ">", "isn", "'t", "&", "amp", ";"]
    assert make("en").split("R&D <b> isn't &amp;") == words
    assert make("en").join(["R", "&", "amp", ";", "isn", "'t", "."]) == "R & amp; isn't."


# Japanese

JAPANESE = "今日は東京でApple社のiPhone１２を買った。、「」ーｶﾞ 9,.%(-😀é\u3000\u00a0\u2028\t\n\0\u200b\u200d"


@given(st.text(st.sampled_from(JAPANESE) | st.characters(codec="utf-8"), max_size=60))
def test_japanese_words_and_their_text_lose_nothing(text):
    words = mecab_words(text)
    assert "".join(words) == "".join(text.replace("\0", "").split())
    assert all(word.split() == [word] for word in words)
    joined = mecab_text(words)
    assert joined == " ".join(joined.split())
    assert joined.replace(" ", "") == "".join(words)


def test_japanese_words_match_sacrebleus_mecab(shared):
    from sacrebleu.tokenizers.tokenizer_ja_mecab import TokenizerJaMecab

    expected, words = TokenizerJaMecab(), make("ja", "mecab")
    for line in (shared / "data/news/en-ja/test.ja").read_text(encoding="utf-8").split("\n")[:300]:
        assert words.split(line) == expected(line).split()


# Marks within words, characters, spaCy

KEPT = {
    "apostrophes": ("tr", "Ankara'da, Ali’nin 'evi' 2015'te.", "Ankara'da , Ali’nin ' evi ' 2015'te ."),
    "a letter for an apostrophe": ("uk", "Пʼять м'ячів «м’яч».", "Пʼять м'ячів « м’яч » ."),
    "a middle dot": ("ca", "L'home col·lecciona · res.", "L'home col·lecciona · res ."),
    "joiners": ("fa", "می\u200cروم، خانه؟", "می\u200cروم ، خانه ؟"),
    "vowel signs, and a full stop of another script": ("hi", "वह क्\u200dया है।", "वह क्\u200dया है ।"),
    "marks after letters": ("de", "Ka\u0308se Kraft\u00adwagen.", "Ka\u0308se Kraft\u00adwagen ."),
    "the letter that stands for them": ("ca", "\ua78ca'b \ua78c l·l", "\ua78ca'b \ua78c l·l"),
}


@pytest.mark.parametrize("rule", KEPT)
def test_marks_within_words_are_kept(rule):
    language, text, words = KEPT[rule]
    kept = make(language, apostrophes="keep")
    assert kept.split(text) == words.split()
    if rule != "apostrophes":  # Moses' quotation marks
        assert make(language, apostrophes="keep").join(words.split()) == text
    assert make(language).split("a b, c.") == kept.split("a b, c.")


def test_guillemets_are_joined_as_they_open_and_close():
    kept = make("uk", apostrophes="keep")
    assert kept.join(["«", "а", "»", "і", "«", "б", "»", "."]) == "«а» і «б»."
    assert kept.join(["»", "а", "«", "і", "»", "б", "«", "."]) == "»а« і »б«."
    assert make("fr", apostrophes="keep").join(["«", "a", "»", "."]) == "« a »."


@given(TEXTS | st.text(st.sampled_from("他在ไทยยืกြမ်។ab 9,\u200b"), max_size=30), st.sampled_from(["zh", "th"]))
def test_characters_are_joined_without_loss(text, language):
    words = make(language, "characters").split(text)
    assert all(word.split() == [word] for word in words)
    is_visible = not re.fullmatch("[\\s\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]*", text)
    assert make(language, "characters").join(words) == " ".join(text.replace("▁", " ").split()) * is_visible


def test_words_of_spacy():
    words = make("de", "spacy").split("Das  ist z.B. (sehr) gut.")
    assert words == ["Das", "ist", "z.B.", "(", "sehr", ")", "gut", "."]
    assert make("de", "spacy").join(words) == "Das ist z.B. (sehr) gut."
    chinese = WordTokenizer(WordsSettings(kind="spacy", language="zh"), "yue")
    assert chinese.split("他买 了。") == ["他", "买", "▁", "了", "。"]
    assert chinese.join(["他", "买", "▁", "了", "。"]) == "他买 了。"
    with pytest.raises(UserError, match="spaCy cannot split 'km' into words: "):
        make("km", "spacy").split("a")


# Mistakes


def test_mistakes_are_sentences(monkeypatch):
    with pytest.raises(UserError, match=r"`apostrophes: keep` is of `kind: moses`, not of `kind: spaces`: delete it"):
        build(WordsSettings, {"kind": "spaces", "apostrophes": "keep"}, where="words")
    with pytest.raises(UserError, match=r"'mecab' are Japanese \(ja\), but this side's language is 'en'"):
        make("en", "mecab")
    monkeypatch.setitem(sys.modules, "ipadic", None)
    tokenisation._tagger.cache_clear()
    with pytest.raises(UserError, match="pip install mecab-python3 ipadic"):
        mecab_words("今日")
