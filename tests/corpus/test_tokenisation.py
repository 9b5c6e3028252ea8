"""Tokenisation into words: as sacremoses does except for the final full stop, without empty words or white space."""

import pytest
import sacremoses
from hypothesis import example, given
from hypothesis import strategies as st

from nmtcore.config.segmentation import WordsSettings
from nmtcore.config.typed import build
from nmtcore.corpus import moses
from nmtcore.corpus.moses import Normalizer, Tokenizer, required_text
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import UserError

STRAY = "\u2028\u2029\x85\x0b\x0c\r\t\x1c\x00\x01\u00a0\u3000"
TEXTS = st.text(st.sampled_from("abcXYZ áßčЖ漢. ,-'\"&|<>[]@…!?19" + STRAY) | st.characters(codec="utf-8"), max_size=60)
PIECES = [
    *"aAxXßЖıSs漢9,.'\"-–`!?:;()%&@/„“’",
    *["..", "...", ", ", "' '", "''", " ", "  ", "Mr", "No", "např", "tzv", "DOT", "MULTI", "DOTMULTI", "e.g.", "U.S."],
    *["1,000", "l'", "don't", "James'", "«\u00a0", "\u00a0»", "´´", "nº\u00a0", "\u2028", "\x00"],
]
TANGLES = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
"""Texts that trigger Moses' rules."""
LANGUAGES = ["en", "cs", "de", "tr", "ru", "fr", "it", "ja", "xx"]
NEWS = {"en": "en-de", "de": "en-de", "cs": "cs-en", "ru": "en-ru", "tr": "en-tr", "ja": "en-ja"}


def make(words_kind: str, language: str, **values: bool) -> WordTokenizer:
    return WordTokenizer(WordsSettings(kind=words_kind, **values), language)


def oracle(language: str) -> sacremoses.MosesTokenizer:
    """Return sacremoses' tokeniser, changed to separate the final full stop as Moses does."""
    tokenizer = sacremoses.MosesTokenizer(lang=language)
    split_full_stops = tokenizer.handles_nonbreaking_prefixes

    def split_last_too(text: str) -> str:
        words = split_full_stops(text).split()
        if words and len(words[-1]) > 1 and words[-1].endswith("."):
            words[-1:] = [words[-1][:-1], "."]
        return " ".join(words)

    tokenizer.handles_nonbreaking_prefixes = split_last_too
    return tokenizer


def news(shared, language: str, split: str = "test") -> list[str]:
    text = (shared / "data" / "news" / NEWS[language] / f"{split}.{language}").read_text(encoding="utf-8")
    return text.split("\n")[:-1]


@given(
    TEXTS, st.sampled_from(["moses", "spaces", "given", "mecab"]), st.sampled_from(["en", "cs", "fr"]), st.booleans()
)
def test_no_word_is_empty_or_contains_white_space(text, words_kind, language, normalise):
    for word in make(words_kind, "ja" if words_kind == "mecab" else language, normalise=normalise).split(text):
        assert word
        assert word.split() == [word]


@given(TEXTS | TANGLES, st.sampled_from(LANGUAGES))
@example("'' 'x 'y' '5 ' '5'", "en")
@example("x, ,y ,5 5, ,", "fr")
@example("Mr. Smith, No. 5. no. p. 5 e.g. x. A.", "en")
@example("MULTI DOTMULTI. a.m.", "en")
@example("zb. tzv.", "cs")
@example("MULTI DOTMULTI. DOT...MULTI ..MULTI.", "de")
def test_moses_words_match_sacremoses(text, language):
    expected = oracle(language).tokenize(text, escape=False)
    assert make("moses", language).split(text) == expected
    assert Tokenizer(language)(text) == expected, "without a filled cache"


@given(TEXTS | TANGLES, st.sampled_from(["en", "cs", "de", "ru"]))
def test_normalisation_matches_sacremoses(text, language):
    expected = sacremoses.MosesPunctNormalizer(lang=language).normalize(text)
    assert Normalizer(language)(text) == expected


@pytest.mark.parametrize("language", NEWS)
def test_moses_words_match_sacremoses_on_news(language, shared):
    tokenizer = oracle(language)
    normaliser = sacremoses.MosesPunctNormalizer(lang=language)
    plain, normalised = make("moses", language), make("moses", language, normalise=True)
    for line in news(shared, language)[:1000]:
        assert plain.split(line) == tokenizer.tokenize(line, escape=False)
        assert normalised.split(line) == tokenizer.tokenize(normaliser.normalize(line), escape=False)


@pytest.mark.parametrize("language", ["en", "de", "cs"])
def test_moses_words_match_sacremoses_on_multi30k(language, shared):
    lines = (shared / "data" / "multi30k" / f"train.{language}").read_text(encoding="utf-8").split("\n")[:5000]
    tokenizer, words = oracle(language), make("moses", language)
    assert [words.split(line) for line in lines] == [tokenizer.tokenize(line, escape=False) for line in lines]


@given(st.lists(TANGLES, max_size=8))
def test_a_full_cache_is_emptied(texts):
    tokenizer = Tokenizer("en")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moses, "CACHED_PARTS", 2)
        for text in texts:
            assert tokenizer(text) == oracle("en").tokenize(text, escape=False)
    assert len(tokenizer._words_of_part) <= 2
    assert len(tokenizer._words_in_context) <= 2


@pytest.mark.parametrize("language", ["en", "de", "cs", "fr"])
def test_all_normalisation_rules_have_a_required_text(language):
    """A rule without a required text would be correct but slow."""
    for pattern, _ in sacremoses.MosesPunctNormalizer(lang=language).substitutions:
        assert required_text(pattern), pattern


def test_text_is_normalised_before_tokenisation():
    text = "„Ahoj“ – řekl (Petr) :\u00a0ano…"
    assert " ".join(make("moses", "cs", normalise=True).split(text)) == '" Ahoj " - řekl ( Petr ) : ano ...'
    assert make("spaces", "cs", normalise=True).split(text) == ['"Ahoj"', "-", "řekl", "(Petr):", "ano..."]
    assert make("spaces", "cs").split(text) == ["„Ahoj“", "–", "řekl", "(Petr)", ":", "ano…"]


def test_moses_words_are_not_escaped():
    words = ["R", "&", "D", "<", "b", ">", "isn", "'t", "&", "amp", ";"]
    assert make("moses", "en").split("R&D <b> isn't &amp;") == words
    assert make("moses", "en").join(["R", "&", "amp", ";", "isn", "'t", "."]) == "R & amp; isn't."


@pytest.mark.parametrize(
    ("language", "share"), [("en", 0.8), ("de", 0.75), ("cs", 0.8), ("ru", 0.75), ("tr", 0.6), ("ja", 0.9)]
)
def test_most_news_sentences_survive_a_round_trip(language, share, shared):
    words = make("mecab" if language == "ja" else "moses", language)
    lines = [" ".join(line.split()) for line in news(shared, language)[:500]]
    same = sum(words.join(words.split(line)) == line for line in lines)
    assert same >= share * len(lines), "Turkish has the lowest share: Moses puts a space before its apostrophes"


def test_most_of_multi30k_survives_a_round_trip(shared):
    lines = (shared / "data" / "multi30k" / "val.en").read_text(encoding="utf-8").split("\n")[:-1]
    words = make("moses", "en")
    same = sum(words.join(words.split(line)) == line.strip() for line in lines)
    assert same >= 0.95 * len(lines)


@given(st.lists(st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1)))
def test_space_separated_words_survive_a_round_trip(words):
    for words_kind in ("spaces", "given"):
        tokenizer = make(words_kind, "en")
        assert tokenizer.split(tokenizer.join(words)) == [part for word in words for part in word.split()]


def test_an_unknown_kind_raises_user_error():
    with pytest.raises(UserError, match=r"'mosse' is not valid\. Did you mean moses"):
        build(WordsSettings, {"kind": "mosse"}, where="words")


def test_a_missing_package_raises_user_error(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sacremoses", None)
    moses.moses_tokenizer.cache_clear()
    with pytest.raises(UserError, match="pip install sacremoses"):
        make("moses", "en").split("a")
