"""Moses' tokenisation and detokenisation against the output of its scripts, on real text and rule by rule.

The expected texts of the rules below were derived by hand from detokenizer.perl.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.segmentation import WordsSettings
from nmtcore.corpus.detokenise import Detokenizer
from nmtcore.corpus.tokenisation import WordTokenizer

SOURCES = {"cs": ("de-cs", 3000), "en": ("en-de", 1500), "de": ("en-de", 1500), "ru": ("en-ru", 1500),
           "tr": ("en-tr", 1500)}  # fmt: skip
"""The news folder and the number of lines on which Moses' scripts were run, by language."""

STRAY_SPACES = {"en": 2}
"""Lines in which Moses leaves two consecutive spaces or a final space, after ".'"; the words are the same."""
FROM_STRAY_SPACES = ["He said: 'I couldn't save her' . '"]
"""Moses takes two consecutive spaces for an empty word, and so puts a space before the full stop here."""


def make(language: str) -> WordTokenizer:
    return WordTokenizer(WordsSettings(kind="moses"), language)


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
def test_tokenisation_matches_moses_on_real_text(language, shared):
    words = make(language)
    raw, tokenised, _ = moses(shared, language)
    assert [words.split(line) for line in raw] == [line.split() for line in tokenised]
    assert sum(" ".join(line.split()) != line for line in tokenised) == STRAY_SPACES.get(language, 0)


@pytest.mark.parametrize("language", SOURCES)
def test_detokenisation_matches_moses_on_real_text(language, shared):
    words = make(language)
    raw, tokenised, detokenised = moses(shared, language)
    assert [words.join(line.split(" ")) for line in tokenised] == detokenised
    pairs = [(words.join(words.split(line)), text) for line, text in zip(raw, detokenised, strict=True)]
    assert [theirs for ours, theirs in pairs if ours != theirs] == (FROM_STRAY_SPACES if language == "en" else [])


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("cs", "v roce 44 př. n. l.", "v roce 44 př. n. l ."),
        ("cs", "Píše o tom např.", "Píše o tom např ."),
        ("cs", "Píše o tom např. Deník.", "Píše o tom např. Deník ."),
        ("en", "It starts at 10:18 a.m.", "It starts at 10 : 18 a.m ."),
        ("en", "At 10 a.m. it starts.", "At 10 a.m. it starts ."),
        ("en", "I know Mr.", "I know Mr ."),
        ("en", "No.", "No ."),
        ("en", ".", "."),
        ("en", "Well...", "Well ..."),
        ("en", "He called it '10 a.m.'", "He called it ' 10 a.m . '"),
        ("en", "(at 10 a.m.)", "( at 10 a.m. )"),
        ("de", "Das ist so eine Art.", "Das ist so eine Art ."),
    ],
)
def test_a_final_full_stop_is_a_separate_word(language, text, words):
    assert make(language).split(text) == words.split()


def test_letters_unknown_to_sacremoses_are_separate_words():
    """An intended difference: Moses keeps them together."""
    assert make("cs").split("Mao (毛泽东) a 서울.") == ["Mao", "(", "毛", "泽", "东", ")", "a", "서", "울", "."]


RULES = {
    "punctuation attaches to the left, even several marks": ("de", "Was ? ! Ja ... nein ; so : 5 % , gut .",
                                                          "Was?! Ja... nein; so: 5%, gut."),
    "brackets": ("en", "a ( b [ c { d } e ] f ) g", "a (b [c {d} e] f) g"),
    "a bracket closes before a full stop": ("en", "( a . )", "(a.)"),
    "currencies and opening marks attach to the right": ("en", "$ 5 , € 6 , US $ 7 ; ( £ 8 ) ; ¿ qué ? ¡ no !",
                                                    "$5, €6, US $7; (£8); ¿qué? ¡no!"),
    "several opening marks attach to the right": ("en", "a ($ 5 b", "a ($5 b"),
    "a closing mark at the beginning": ("en", ", a", ", a"),
    "an opening mark at the end": ("en", "a (", "a ("),
    "only marks": ("en", "( . )", "(.)"),
    "a backslash attaches to the left, a slash does not": ("en", "a \\ b / c", "a\\ b / c"),
    "other marks stand alone": ("ru", "« Да » – сказал он — & @ # * + = < >", "« Да » – сказал он — & @ # * + = < >"),
    "marks with letters stand alone": ("en", "a .b c) (d", "a .b c) (d"),
    # Quotation marks
    "double quotes open and close in turn": ("en", '" a " b " c "', '"a" b "c"'),
    "different quotes do not affect each other": ("ru", "\" a ' b ' c \"", "\"a 'b' c\""),
    "backquotes are quotes": ("de", "` a ` b `` c ``", "`a` b ``c``"),
    "a word of several marks is one quote": ("de", "'' a '' \" b \"", "''a'' \"b\""),
    "„ and “ are double quotes": ("de", "„ a “ b \" c „", "„a“ b \"c„"),
    "” is not a quote": ("cs", "„ a ” b", "„a ” b"),
    "a quote that is not closed": ("en", '" a . b', '"a. b'),
    "a quote closes after a full stop": ("en", '" a . " b', '"a." b'),
    "Czech „ always opens": ("cs", "„ a „ b “ c", "„a „b“ c"),
    "Czech “ always closes": ("cs", "a “ b “ c", "a“ b“ c"),
    "Czech straight quotes open and close in turn": ("cs", '" a " b', '"a" b'),
    "Czech „ closed by a straight quote": ("cs", '„ a " b', '„a" b'),
    "a bracket before a quote": ("en", '( " a " )', '("a")'),
    "a quote before a currency": ("en", '" $ 5 "', '"$5"'),
    # Apostrophes
    "English contractions": ("en", "it 's I 'm don 't '90s the 1990 's", "it's I'm don't '90s the 1990's"),
    "a contraction attaches only to letters and digits": ("en", ") 's , 's ² 's % 's", ") 's, 's ² 's% 's"),
    "a contraction at the beginning": ("en", "'s a", "'s a"),
    "an English apostrophe after s": ("en", "the Jones ' house", "the Jones' house"),
    "after s, an open quote closes": ("en", "' the Jones ' house '", "'the Jones' house '"),
    "after another letter, an apostrophe opens a quote": ("en", "a man ' house '", "a man 'house'"),
    "other languages have neither contractions nor apostrophes": ("de", "it 's Hans ' Haus '", "it 's Hans 'Haus'"),
    "a Turkish apostrophe opens and closes in turn": ("tr", "Ankara ' da , İzmir ' in", "Ankara 'da, İzmir' in"),
    "French elisions attach to the right": ("fr", "l' eau d' un aujourd' hui l' 5", "l'eau d'un aujourd'hui l' 5"),
    "Italian elisions attach to the right": ("it", "l' acqua : dell' .", "l'acqua: dell'."),
    "no elision in English": ("en", "l' eau", "l' eau"),
    "French marks have a space": ("fr", "quoi ? oui ; 5 % , ( ! ) .", "quoi ? oui ; 5 %, ( !)."),
    "French marks in one word have no space": ("fr", "quoi ?! oui", "quoi?! oui"),
    # Czech numbers and dashes
    "a Czech number at the end": ("cs", "je to kolem 30 .", "je to kolem 30."),
    "a Czech number within": ("cs", "v letech 1914 a 1920 .", "v letech 1914 a 1920."),
    "Czech decimals": ("cs", "asi 2 , 8 mil . a 3 . 5 krát", "asi 2,8 mil. a 3.5 krát"),
    "Czech decimals chain": ("cs", "1 , 2 , 3", "1,2,3"),
    "Czech decimals require a preceding number": ("cs", "Petr , 42 , a 7 : 5 a 6 ; 5", "Petr, 42, a 7: 5 a 6; 5"),
    "Czech decimals consist of digits only": ("cs", "5 , 6a 7 , 8. 1,5 , 5", "5, 6a 7, 8. 1,5, 5"),
    "no decimals in other languages": ("de", "asi 2 , 8 mil .", "asi 2, 8 mil."),
    "Czech -li": ("cs", "bude - li pršet", "bude-li pršet"),
    "Czech -li with an en dash": ("cs", "bude – li pršet", "bude–li pršet"),
    "Czech -li in capitals": ("cs", "BUDE - LI PRŠET", "BUDE-LI PRŠET"),
    "Czech e-mail, in all inflected forms": ("cs", "pošle e - mailem zprávu", "pošle e-mailem zprávu"),
    "Czech e-mail-li": ("cs", "e - mail - li to je", "e-mail-li to je"),
    "no e-mail at the end of a sentence": ("cs", "pošle e - mail", "pošle e - mail"),
    "e-mail before a final full stop": ("cs", "pošle e - mail .", "pošle e-mail."),
    "no -li after a number": ("cs", "5 - li pršet", "5 - li pršet"),
    "no other Czech words attach to a dash": ("cs", "česko - německý slovník a", "česko - německý slovník a"),
    "no other dashes attach": ("cs", "bude — li pršet", "bude — li pršet"),
    "no dashes attach in other languages": ("de", "e - mail lesen bitte", "e - mail lesen bitte"),
    # Chinese, Japanese, Korean
    "Japanese words are joined": ("ja", "これ は 本 です 。", "これは本です。"),
    "Japanese and Latin words are separated": ("ja", "NHK の ニュース 5 本 2", "NHK のニュース 5 本 2"),
    "adjacent characters decide": ("en", "a本 本a a本 b 本", "a本本a a本 b 本"),
    "brackets between Japanese words": ("ja", "本 ( 本 ) 本", "本 (本) 本"),
    "Korean has spaces": ("ko", "한국 사람 입니다", "한국 사람 입니다"),
    # The rest
    "separated hyphens are restored": ("en", "well @-@ known @-@ @-@ a", "well-known-@-@ a"),
    "nothing is unescaped": ("en", "R & amp ; &amp; &quot; a", "R & amp; &amp; &quot; a"),
    "a line like markup is detokenised (an intended difference)": ("en", "< b > a , b < / b >",
                                                                       "< b > a, b < / b >"),
    "an empty word counts as a word": ("en", "a  . b", "a . b"),
    "no words": ("en", "", ""),
    "case is kept": ("en", "hello . World", "hello. World"),
}  # fmt: skip
"""By the rule: a language, words, and the text that Moses makes of them."""


@pytest.mark.parametrize("rule", RULES)
def test_detokenisation_follows_the_rules_of_moses(rule):
    language, words, text = RULES[rule]
    assert make(language).join(words.split(" ")) == text


@given(
    st.lists(st.text(st.sampled_from("aé1Ж漢.,'\"„“(€%-–@"), min_size=1), max_size=9), st.sampled_from([*SOURCES, "fr"])
)
def test_detokenisation_changes_only_spaces(words, language):
    text = Detokenizer(language)([word for word in words if word != "@-@"])
    assert text.replace(" ", "") == "".join(word for word in words if word != "@-@")
    assert text == " ".join(text.split())
