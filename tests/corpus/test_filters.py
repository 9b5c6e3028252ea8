"""Filters against brute force: which pairs are dropped, and under which name they are counted."""

import random

import langdetect
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmtcore.config.corpora import (
    FILTERS,
    DuplicatesSettings,
    EmptySettings,
    HeldOutSettings,
    LangDetectSettings,
    LengthSettings,
    RatioSettings,
)
from nmtcore.corpus import filters
from nmtcore.corpus.filters import count_in_train, detect_language
from nmtcore.corpus.pairs import RAW_SCHEMA
from nmtcore.errors import UserError
from nmtcore.files import read_json
from nmtcore.parquet import write_rows

ALL = (
    EmptySettings(),
    LengthSettings(least=1, most=4),
    RatioSettings(most=2.0),
    DuplicatesSettings(),
    HeldOutSettings(),
)
ODD = (
    "", " ", "1984 , 12.5 %", "🙂🙂 🎉", "a\u2028b", "\u00a0", "!", "http://example.org/a me@example.org", "a",
    "XXXX YYYY", "\u200b\ufeff", "e\u0301a\u0300", "日本語", "中文句子", "𝔘𝔫𝔦", "Ж" * 200, "the " * 3000,
    "ß", "\x00\x01", "Türkçe İIıi",
)  # fmt: skip


def fill(bench, *chosen, origins=None, **splits: list[tuple[str, str]]):
    """Write the raw files of a data set's splits; return the data set with the chosen filters."""
    for split, pairs in splits.items():
        bench.raw(split).parent.mkdir(exist_ok=True)
        rows = [
            {"id": number, "source": source, "target": target, "source_words": source.split(),
             "target_words": target.split(), "origin": origins[number] if origins else f"c:{number + 1}"}
            for number, (source, target) in enumerate(pairs)
        ]  # fmt: skip
        write_rows(bench.raw(split), RAW_SCHEMA, rows)
    return bench.dataset(bench.plain("x\n", "x\n"), filters=chosen)


def kept(bench, dataset, **values):
    rows, report = bench.filter(dataset, **values)
    return [row["id"] for row in rows], report


def brute_force(pairs: list, held_out: list, order: tuple) -> tuple[list[int], dict[str, int]]:
    """Apply the filters one after the other, each to all pairs that the previous filters kept."""
    split = [(tuple(source.split()), tuple(target.split())) for source, target in pairs]
    others = {(tuple(source.split()), tuple(target.split())) for source, target in held_out}
    rows, counts = list(range(len(pairs))), {}
    for filter_settings in order:
        left, seen = [], set()
        for row in rows:
            left += [] if drops(filter_settings, split[row], seen, others) else [row]
            seen.add(split[row])
        counts[FILTERS.name_of(filter_settings)] = len(rows) - len(left)
        rows = left
    return rows, counts


def drops(filter_settings, pair: tuple, seen: set, others: set) -> bool:
    short, long = sorted(map(len, pair))
    match filter_settings:
        case EmptySettings():
            return short == 0
        case LengthSettings():
            return short < filter_settings.least or long > filter_settings.most
        case RatioSettings():
            return long > filter_settings.most * short
        case DuplicatesSettings():
            return pair in seen
        case HeldOutSettings():
            return pair in others


SENTENCES = st.lists(st.sampled_from("ab"), max_size=5).map(" ".join)
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=60)


@given(pairs=PAIRS, others=PAIRS, order=st.permutations(ALL))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_filters_match_brute_force(bench, monkeypatch, pairs, others, order):
    for name in ("nmtcore.parquet.ROWS_PER_GROUP", "nmtcore.corpus.filters.ROWS_PER_TASK"):
        monkeypatch.setattr(name, 7)
    dataset = fill(bench, *order, dev=others, train=pairs)
    rows, counts = brute_force(pairs, others, order)
    if not rows:
        with pytest.raises(UserError, match=f"filters of bench drop all {len(pairs)} training pairs: relax its"):
            bench.filter(dataset)
        return
    left, report = bench.filter(dataset)
    assert [(row["id"], row["source"], row["target"]) for row in left] == [(row, *pairs[row]) for row in rows]
    facts = {"pairs": len(pairs), "kept": len(rows), "dropped": counts}
    assert report == {**facts, "corpora": {"c": facts}}


def test_pairs_of_a_test_that_are_in_train_are_counted_as_held_out_would_drop_them(bench, tmp_path):
    train, test = [("a b", "c"), ("d", "e")], [("a  b", "c"), ("a b", "c"), ("a", "b c"), ("e", "d")]
    fill(bench, train=train, test=test)
    counts = count_in_train(bench.raw("train"), bench.raw("test"), output=tmp_path / "counts.json")
    assert counts == read_json(tmp_path / "counts.json") == {"pairs": 4, "in_train": 2}


# The language filter


def language_of(text: str) -> str | None:
    """Call the library itself, as its documentation says."""
    langdetect.DetectorFactory.seed = 0
    try:
        return langdetect.detect(text)
    except langdetect.LangDetectException:
        return None


def lines(shared, *files: str) -> list[str]:
    return [line for file in files for line in (shared / "data/news" / file).read_text("utf-8").split("\n")[:25]]


def test_languages_are_those_of_the_library_whatever_the_order(shared):
    texts = [*lines(shared, "cs-en/dev.cs", "en-tr/dev.tr", "en-ru/dev.ru", "en-ja/dev.ja"), *ODD]
    expected = {text: language_of(text) for text in texts}
    random.Random(0).shuffle(texts)
    assert {text: detect_language(text) for text in texts} == {
        text: language and language.split("-")[0] for text, language in expected.items()
    }
    assert len(set(expected.values())) > 8


@pytest.mark.parametrize("processes", [1, 2])
def test_pairs_in_other_languages_are_dropped(bench, shared, monkeypatch, processes):
    monkeypatch.setattr(filters, "ROWS_PER_TASK", 37)
    czech, english = lines(shared, "cs-en/dev.cs"), lines(shared, "cs-en/dev.en")
    pairs = list(zip([*czech, *ODD, *english], [*english, *ODD, *czech], strict=True))
    order = (LengthSettings(least=0, most=30), LangDetectSettings(), DuplicatesSettings())
    passed = [row for row, pair in enumerate(pairs) if max(len(text.split()) for text in pair) <= 30]
    expected = [row for row in passed if (language_of(pairs[row][0]), language_of(pairs[row][1])) == ("cs", "en")]
    ids, report = kept(bench, fill(bench, *order, train=pairs), processes=processes)
    assert ids == expected
    assert report["dropped"] == {
        "length": len(pairs) - len(passed), "langdetect": len(passed) - len(expected), "duplicates": 0
    }  # fmt: skip
    assert len(expected) > 15


# Mistakes


OWN = '''
import os, signal
import numpy as np
from nmtcore.config.corpora import FilterSettings
from nmtcore.config.typed import settings_class

@settings_class
class OddSettings(FilterSettings):
    """Drop pairs."""

def drops(settings, pairs, languages):
    return {body}
'''
SOURCE_IS_A = "np.array([text == 'a' for text in pairs.column('source').to_pylist()], bool)"


@pytest.fixture
def own(tmp_path, monkeypatch):
    def make(body: str):
        (tmp_path / "config/filters").mkdir(parents=True, exist_ok=True)
        (tmp_path / "config/filters/odd.py").write_text(OWN.format(body=body))
        return FILTERS.build({"name": "odd"}, where="f")

    monkeypatch.chdir(tmp_path)
    return make


@pytest.mark.parametrize("processes", [1, 2])
def test_a_filter_of_ones_own_sees_what_is_left(bench, own, processes):
    pairs = [("", "b"), ("a", "b"), ("b", "b")]
    ids, report = kept(bench, fill(bench, EmptySettings(), own(SOURCE_IS_A), train=pairs), processes=processes)
    assert ids == [2]
    assert report["dropped"] == {"empty": 1, "odd": 1}


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("[0]", r"The filter odd returned an array of int64 of shape \(1,\) for 5 pairs: return a boolean for each"),
        ("np.zeros(len(pairs), bool) if not len(pairs) else os.kill(os.getpid(), signal.SIGKILL)", "was killed"),
    ],
)
def test_mistakes_in_a_filter_of_ones_own_are_sentences(bench, own, monkeypatch, body, sentence):
    monkeypatch.setattr(filters, "ROWS_PER_TASK", 5)
    dataset = fill(bench, own(body), train=[("a", "b")] * 20)
    with pytest.raises(UserError, match=sentence):
        bench.filter(dataset, processes=2)
    assert not (bench.folder / "corpus" / "train.parquet").exists()


def test_an_unknown_language_is_a_sentence():
    pairs = pa.RecordBatch.from_pydict({"source": ["a"], "target": ["b"]})
    with pytest.raises(UserError, match=r"does not know 'hsb', the language of the target side\. It knows af, ar, bg"):
        filters.FUNCTIONS["langdetect"](LangDetectSettings(), pairs, {"source": "en", "target": "hsb"})
