"""langdetect's random walk for many sentences at a time against langdetect: equal to the last bit."""

from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from langdetect import LangDetectException, detector
from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory

from nmtcore.corpus.filters import walk
from nmtcore.corpus.filters.walk import Walker

SEED = 5


@cache
def factory() -> DetectorFactory:
    detectors = DetectorFactory()
    detectors.load_profile(PROFILES_DIRECTORY)
    detectors.set_seed(SEED)
    return detectors


@cache
def walker() -> Walker:
    detectors = DetectorFactory()
    detectors.set_seed(SEED)
    detectors.langlist, detectors.word_lang_prob_map = factory().get_lang_list(), dict(factory().word_lang_prob_map)
    return Walker(detectors)


def probabilities(text: str) -> tuple[list[float], str | None]:
    bare = factory().create()
    bare.append(text)
    try:
        language = bare.detect()
    except LangDetectException:
        return [0.0] * len(factory().langlist), None
    return bare.langprob, None if language == bare.UNKNOWN_LANG else language


def check(texts: list[str]) -> list[str | None]:
    expected = list(map(probabilities, texts))
    assert np.array_equal(walker().probabilities(texts), np.array([row for row, _ in expected]))
    assert walker().languages(texts) == [language for _, language in expected]
    return [language for _, language in expected]


LETTERS = "abcdeEFghijklm ßüéčŘžłşıİ 0123 .,!- жизнь日本語中国の한국 العرب \u2028\u00a0\u1ea1e\u0301🙂"


@given(texts=st.lists(st.text(st.sampled_from(LETTERS), max_size=40), min_size=1, max_size=12))
@settings(max_examples=30)
def test_random_texts_match_langdetect(texts):
    check(texts)


def test_real_sentences_match_langdetect(shared):
    texts = []
    for pair, side in (("cs-en", "cs"), ("en-tr", "tr"), ("en-ja", "ja"), ("en-ru", "ru"), ("en-de", "de")):
        with (shared / "data" / "news" / pair / f"train.{side}").open(encoding="utf-8", newline="\n") as file:
            texts += [next(file).rstrip("\n") for _ in range(60)]
    assert {"cs", "tr", "ja", "ru", "de"} <= set(check(texts))


def test_a_walk_that_does_not_converge_ends_at_the_limit(monkeypatch):
    monkeypatch.setattr(detector.Detector, "ITERATION_LIMIT", 10)
    check(["a", "an", "information", "to je no", "", "problem, problem"])


def test_an_empty_text_has_no_language():
    assert check([""]) == [None]
    assert walker().languages([]) == []


def test_results_do_not_depend_on_the_batch_size(monkeypatch):
    texts = ["Das ist ein Satz.", "", "This is a sentence.", "12", "Toto je věta."]
    languages = check(texts)
    monkeypatch.setattr(walk, "TEXTS_PER_BATCH", 2)
    assert walker().languages(texts) == languages
