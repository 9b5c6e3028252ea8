"""Language filters against their libraries, for any order of filters, number of processes and text."""

import os
import signal
from dataclasses import replace
from functools import cache
from pathlib import Path

import langdetect
import lingua
import pytest
from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory

from nmtcore.config.filters import DuplicatesSettings, LangDetectSettings, LengthSettings, LinguaSettings
from nmtcore.corpus import filter as filter_module
from nmtcore.corpus.filters import langdetect as langdetect_filter
from nmtcore.corpus.filters import lingua as lingua_filter
from nmtcore.corpus.filters import make_filter
from nmtcore.corpus.filters.pair_batch import FilterContext
from nmtcore.corpus.pairs import RAW_SCHEMA
from nmtcore.errors import UserError
from nmtcore.parquet import write_rows

ODD = (
    "", " ", "1984 , 12.5 %", "🙂🙂 🎉", "a\u2028b", "\u00a0", "!", "http://example.org/a me@example.org", "a",
    "XXXX YYYY", "\u200b\ufeff", "e\u0301a\u0300", "日本語", "中文句子", "𝔘𝔫𝔦", "Ж" * 200, "the " * 3000,
    "ß", "\x00\x01", "Türkçe İIıi",
)  # fmt: skip
FEW = ("cs", "de", "en", "fr")


def make(settings, tmp_path, source="cs", target="en"):
    languages = {"source": source, "target": target}
    return make_filter(settings, FilterContext(rows=0, others={}, folder=tmp_path, budget_bytes=1, languages=languages))


def lines(shared, pair: str, side: str, count: int) -> list[str]:
    with (shared / "data" / "news" / pair / f"train.{side}").open(encoding="utf-8", newline="\n") as file:
        return [next(file).rstrip("\n") for _ in range(count)]


@pytest.fixture(scope="module")
def czech(shared):
    return lines(shared, "cs-en", "cs", 400)


@pytest.fixture(scope="module")
def english(shared):
    return lines(shared, "cs-en", "en", 400)


@pytest.fixture(scope="module")
def german(shared):
    return lines(shared, "en-de", "de", 100)


@cache
def bare_factory() -> DetectorFactory:
    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    factory.set_seed(0)
    return factory


def bare_langdetect(text: str, factory: DetectorFactory | None = None) -> str | None:
    detector = (factory or bare_factory()).create()
    detector.append(text)
    try:
        return detector.detect()
    except langdetect.LangDetectException:
        return None


def raw_pairs(bench, pairs, origins=None):
    rows = [
        {
            "id": number, "source": source, "target": target, "source_words": source.split(),
            "target_words": target.split(), "origin": origins[number] if origins else f"c:{number + 1}",
        }
        for number, (source, target) in enumerate(pairs)
    ]  # fmt: skip
    bench.raw("train").parent.mkdir(parents=True, exist_ok=True)
    write_rows(bench.raw("train"), RAW_SCHEMA, rows)
    return bench.dataset(bench.plain("x\n", "x\n"))


def kept(bench, dataset, *filters, **values):
    rows, report = bench.filter(replace(dataset, filters=filters), **values)
    return [row["id"] for row in rows], report


def test_langdetect_matches_the_library(tmp_path, czech, english, german):
    texts = [*czech[:100], *english[:100], *german, *ODD]
    language_filter = make(LangDetectSettings(), tmp_path)
    languages = [bare_langdetect(text) for text in texts]
    assert language_filter.accepts("source", texts) == [language == "cs" for language in languages]
    assert language_filter.accepts("target", texts) == [language == "en" for language in languages]
    assert min(languages.count("cs"), languages.count("en")) > 80
    assert languages.count(None) > 3


def test_lingua_matches_the_library(tmp_path, czech, english, german):
    texts = [*czech, *english, *german, *ODD]
    language_filter = make(LinguaSettings(), tmp_path)
    codes = {"cs", "en", *lingua_filter.FREQUENT}
    iso = [lingua.IsoCode639_1.from_str(code) for code in sorted(codes)]
    bare = lingua.LanguageDetectorBuilder.from_iso_codes_639_1(*iso).build()
    languages = bare.detect_languages_in_parallel_of(texts)
    assert language_filter.accepts("source", texts) == [language == lingua.Language.CZECH for language in languages]
    assert language_filter.accepts("target", texts) == [language == lingua.Language.ENGLISH for language in languages]
    assert languages.count(None) > 3


def test_lingua_accepts_texts_with_enough_confidence(tmp_path, czech, german):
    words = [word for text in [*czech, *german] for word in text.split()][:1500]
    strict, mild = (make(LinguaSettings(least_confidence=least), tmp_path) for least in (0.0, 0.2))
    before, after = strict.accepts("source", words), mild.accepts("source", words)
    detector = lingua_filter.load_detector(strict.codes)
    likely = [detector.compute_language_confidence(word, lingua.Language.CZECH) >= 0.2 for word in words]
    assert after == [one or other for one, other in zip(before, likely, strict=True)]
    assert sum(after) > sum(before)


@pytest.mark.parametrize("settings", [LangDetectSettings(), LangDetectSettings(profiles=FEW, seed=7), LinguaSettings()])
def test_a_verdict_does_not_depend_on_other_sentences(tmp_path, settings, czech, german):
    texts = [*czech[:40], *german[:20], *ODD, "to je", "no", "a do"]
    language_filter = make(settings, tmp_path)
    verdicts = language_filter.accepts("source", texts)
    assert language_filter.accepts("source", texts[::-1])[::-1] == verdicts
    assert [language_filter.accepts("source", [text])[0] for text in texts] == verdicts


def test_only_configured_profiles_are_loaded(tmp_path, czech, english):
    language_filter = make(LangDetectSettings(profiles=FEW), tmp_path)
    language_filter.prepare()
    loaded = langdetect_filter.load_walker(language_filter.profiles, 0)
    assert sorted(loaded.names) == sorted(FEW)
    texts = [*czech[:60], *english[:60]]
    assert language_filter.accepts("source", texts) == [bare_langdetect(text, few_profiles()) == "cs" for text in texts]


@cache
def few_profiles() -> DetectorFactory:
    factory = DetectorFactory()
    factory.load_json_profile([Path(PROFILES_DIRECTORY, code).read_text(encoding="utf-8") for code in FEW])
    factory.set_seed(0)
    return factory


def test_simplified_and_traditional_chinese_are_chinese(tmp_path):
    language_filter = make(LangDetectSettings(), tmp_path, source="zh")
    texts = ["这是一个用简体中文写的句子，说的是语言。", "這是一個用繁體中文寫的句子，說的是語言。", "This is English."]
    assert {bare_langdetect(text) for text in texts[:2]} == {"zh-cn", "zh-tw"}
    assert language_filter.accepts("source", texts) == [True, True, False]
    assert make(LangDetectSettings(profiles=("zh", "en")), tmp_path, source="zh").profiles == ("en", "zh-cn", "zh-tw")


def test_bokmal_and_nynorsk_are_norwegian(tmp_path):
    language_filter = make(LinguaSettings(), tmp_path, source="no")
    assert {"nb", "nn"} <= set(language_filter.codes)
    texts = ["Jeg vet ikke hva hun heter, men hun bor her.", "Eg veit ikkje kva ho heiter, men ho bur her."]
    assert language_filter.accepts("source", texts) == [True, True]


@pytest.mark.parametrize(
    ("settings", "languages", "message"),
    [
        (
            LangDetectSettings(),
            ("xx", "en"),
            "support 'xx', the language of the source side. It supports af, ar",
        ),
        (LangDetectSettings(), ("cs", "zz"), "does not support 'zz', the language of the target"),
        (LangDetectSettings(profiles=("cs", "en", "qq")), ("cs", "en"), "does not support 'qq', one of its `profiles`"),
        (LangDetectSettings(profiles=("de", "en")), ("cs", "en"), "lack 'cs'"),
        (LangDetectSettings(profiles=("cs",), sides=("source",)), ("cs", "en"), "at least two"),
        (LangDetectSettings(sides=()), ("cs", "en"), "no side"),
        (LinguaSettings(), ("cs", "xx"), "does not support 'xx', the language of the target side. It supports af, ar"),
        (LinguaSettings(languages=("e",)), ("cs", "en"), "does not support 'e', one of its `languages`"),
    ],
)
def test_an_unsupported_language_raises_user_error(tmp_path, settings, languages, message):
    with pytest.raises(UserError, match=message):
        make(settings, tmp_path, *languages)


def test_a_side_that_is_not_checked_may_have_any_language(tmp_path):
    assert make(LangDetectSettings(sides=("target",)), tmp_path, source="xx").columns == ("target",)


@pytest.mark.parametrize("settings", [LangDetectSettings(profiles=FEW), LinguaSettings()], ids=["langdetect", "lingua"])
def test_planted_sentences_are_dropped(bench, settings, czech, english, german):
    pairs = list(zip(czech, english, strict=True))
    dataset = raw_pairs(bench, pairs)
    clean, _ = kept(bench, dataset, settings)
    planted = {7: (german[0], english[7]), 50: (czech[50], german[1]), 200: (english[200], czech[200])}
    for row, pair in planted.items():
        pairs[row] = pair
    rows, report = kept(bench, raw_pairs(bench, pairs), settings)
    assert set(planted) <= set(clean)
    assert rows == [row for row in clean if row not in planted]
    assert len(rows) > 370
    assert sum(report["dropped"].values()) == 400 - len(rows)


@pytest.mark.parametrize("settings", [LangDetectSettings(profiles=FEW), LinguaSettings()], ids=["langdetect", "lingua"])
def test_the_number_of_processes_does_not_change_the_result(bench, monkeypatch, settings, czech, english):
    monkeypatch.setattr(filter_module, "ROWS_PER_TASK", 37)
    pairs = list(zip([*czech[:150], *ODD, *english[:150]], [*english[:150], *ODD, *czech[:150]], strict=True))
    dataset = raw_pairs(bench, pairs)
    filters = (LengthSettings(least=0, most=30), settings, DuplicatesSettings())
    one, two, three = (kept(bench, dataset, *filters, processes=number) for number in (1, 2, 3))
    assert one == two == three
    assert 100 < len(one[0]) < 150


def test_only_pairs_that_passed_so_far_are_checked(bench, monkeypatch):
    seen = []

    def accepts(self, side, texts):
        seen.append((side, list(texts)))
        return [text.startswith("good") for text in texts]

    monkeypatch.setattr(langdetect_filter.Filter, "accepts", accepts)
    pairs = [("good 1", "bad 1"), ("bad 2", "good 2"), ("good 3 3 3", "good 3"), ("good 4", "good 4")]
    settings = LangDetectSettings(profiles=FEW)
    rows, report = kept(bench, raw_pairs(bench, pairs), LengthSettings(most=3), settings, processes=1)
    assert rows == [3]
    assert seen == [("source", ["good 1", "bad 2", "good 4"]), ("target", ["bad 1", "good 4"])]
    assert report["dropped"] == {"length": 1, "langdetect": 2}


def test_late_drops_work_before_and_after_a_costly_filter(bench, german, czech, english):
    right, wrong = (czech[0], english[0]), (german[0], english[0])
    pairs = [wrong, right, wrong, right, (czech[1], english[1])]
    dataset, settings = raw_pairs(bench, pairs), LangDetectSettings(profiles=FEW)
    for order, dropped in (
        ((settings, DuplicatesSettings()), {"langdetect": 2, "duplicates": 1}),
        ((DuplicatesSettings(), settings), {"duplicates": 2, "langdetect": 1}),
    ):
        rows, report = kept(bench, dataset, *order, processes=2)
        assert rows == [1, 4]
        assert report["dropped"] == dropped


def test_consecutive_costly_filters_match_separate_filters(bench, monkeypatch, czech, english, german):
    monkeypatch.setattr(filter_module, "ROWS_PER_TASK", 10)
    pairs = [*zip(czech[:40], english[:40], strict=True), *zip(czech[:20], german[:20], strict=True)]
    dataset = raw_pairs(bench, pairs)
    filters = (LangDetectSettings(profiles=FEW, sides=("source",)), LinguaSettings(sides=("target",)))
    together, report = kept(bench, dataset, *filters, processes=2)
    alone = [set(kept(bench, dataset, each)[0]) for each in filters]
    assert together == sorted(alone[0] & alone[1])
    assert report["dropped"]["langdetect"] == 60 - len(alone[0])
    assert report["dropped"]["lingua"] >= 15


def test_counts_per_corpus_add_up(bench, czech, english, german):
    pairs = [*zip(czech[:30], english[:30], strict=True), *zip(german[:12], english[:12], strict=True)]
    origins = ["big:x:" + str(row) if row % 3 else f"small:{row}" for row in range(42)]
    dataset = raw_pairs(bench, pairs, origins)
    rows, report = kept(bench, dataset, LengthSettings(most=25), LangDetectSettings(profiles=FEW))
    assert list(report["corpora"]) == ["small", "big:x"]
    for corpus, facts in report["corpora"].items():
        own = [row for row in range(42) if origins[row].startswith(corpus)]
        assert facts["pairs"] == len(own)
        assert facts["kept"] == len(set(own) & set(rows))
        assert facts["pairs"] == facts["kept"] + sum(facts["dropped"].values())
    for name, count in report["dropped"].items():
        assert count == sum(facts["dropped"][name] for facts in report["corpora"].values()) > 0


def test_a_killed_worker_raises_user_error(bench, monkeypatch, czech, english):
    def die(self, texts):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(filter_module, "ROWS_PER_TASK", 5)
    monkeypatch.setattr(lingua_filter.Filter, "drops_texts", die)
    dataset = raw_pairs(bench, list(zip(czech[:20], english[:20], strict=True)))
    with pytest.raises(UserError, match="processes was killed"):
        kept(bench, dataset, LinguaSettings(), processes=2)
    assert not (bench.folder / "corpus" / "train.parquet").exists()
