"""The CoreNLP annotator, with a program that imitates CoreNLP and its failures."""

import pytest
from annotation.annotating import annotate_words
from fake_java import alive, brackets, heads, tag, wait_until
from hypothesis import example, given
from hypothesis import strategies as st
from pair_files import write_corpus

from nmtcore.annotation import java
from nmtcore.annotation.base import AnnotationTask, open_annotator
from nmtcore.annotation.corenlp import CoreNlp, _with_escaped_brackets
from nmtcore.annotation.shards import annotate_shard
from nmtcore.config.annotators import CoreNlpSettings
from nmtcore.errors import UserError
from nmtcore.parquet import read_rows
from nmtcore.syntax.annotation import Annotation


def annotate(sentences, models, *, language="en", **settings):
    task = AnnotationTask(side="source", language=language, model_folders=(models,))
    return list(annotate_words(CoreNlpSettings(**settings), sentences, task))


def expected(words, analysis):
    if analysis == "constituents":
        return Annotation(constituency=brackets(words))
    labels = tuple("dep" if head else "root" for head in heads(words))
    return Annotation(xpos=tuple(map(tag, words)), head=heads(words), deprel=labels)


def numbered(count):
    return [[f"No{n}", "(", "*", "_", "ends", "." * (n % 5 + 1)] for n in range(count)]


def check(sentences, annotations, *, nulls, analysis="dependencies"):
    assert len(annotations) == len(sentences)
    for n, (words, annotation) in enumerate(zip(sentences, annotations, strict=True)):
        if n in nulls:
            assert annotation.reason is not None
            assert annotation.head is annotation.constituency is None
        else:
            assert annotation == expected(words, analysis)


@pytest.fixture
def small_portions(monkeypatch):
    """Make portions of three sentences."""
    monkeypatch.setattr(CoreNlp, "portion", 3)


@pytest.mark.parametrize("analysis", ["dependencies", "constituents"])
def test_every_sentence_gets_its_own_analysis(fake_java, analysis):
    sentences = numbered(250)
    annotations = annotate(sentences, fake_java.models, analysis=analysis, batch_size=240)
    check(sentences, annotations, nulls=(), analysis=analysis)
    assert len(set(fake_java.started())) == 2
    assert list(fake_java.temporary.iterdir()) == []


REASONS = {
    "CRASH": "CoreNLP crashed: Exception in thread main: oh dear",
    "KILLED": "CoreNLP was killed",
    "SKIP": "CoreNLP gave other sentences: 0 for 1",
    "SPLIT": "CoreNLP gave other sentences: 2 for 1",
    "SHORT": "CoreNLP gave other sentences: 0 for 1",
    "GARBAGE": "CoreNLP wrote what cannot be read: ",
    "OTHER": "CoreNLP gave other sentences: 'other is no5' for 'OTHER is No5'",
    "NOTHING": "CoreNLP gave no analysis",
}


@pytest.mark.parametrize("fault", REASONS)
@pytest.mark.parametrize("analysis", ["dependencies", "constituents"])
def test_a_fault_costs_one_sentence(fake_java, small_portions, fault, analysis):
    sentences = numbered(10)
    sentences[5] = [fault, "is", "No5"]
    annotations = annotate(sentences, fake_java.models, analysis=analysis)
    check(sentences, annotations, nulls=(5,), analysis=analysis)
    assert annotations[5].reason.startswith(REASONS[fault])
    assert list(fake_java.temporary.iterdir()) == []


@pytest.mark.parametrize("fault", ["CRASH", "SKIP"])
@pytest.mark.parametrize("at", [(0,), (2,), (9,), (0, 1, 2, 9), (3, 5, 6), tuple(range(10))])
def test_faults_anywhere_cost_only_their_sentences(fake_java, small_portions, fault, at):
    sentences = numbered(10)
    for n in at:
        sentences[n] = [fault, str(n)]
    annotations = annotate(sentences, fake_java.models, batch_size=7)
    check(sentences, annotations, nulls=at)


def test_adjacent_faults_cost_only_their_sentences(fake_java, small_portions):
    sentences = (
        [[fault] for fault in REASONS] + numbered(2) + [["SHORT"], ["CRASH"]] + numbered(3) + [["SKIP", "SPLIT"]]
    )
    annotations = annotate(sentences, fake_java.models)
    check(sentences, annotations, nulls=(*range(8), 10, 11, 15))


def test_a_hanging_sentence_costs_the_time_limit_and_one_null(fake_java, small_portions, monkeypatch):
    monkeypatch.setattr(java, "START_SECONDS", 3.0)
    sentences = numbered(7)
    sentences[4] = ["HANG", "."]
    annotations = annotate(sentences, fake_java.models, seconds_a_sentence=0.001)
    check(sentences, annotations, nulls=(4,))
    assert annotations[4].reason.startswith("CoreNLP took too long: ")
    assert wait_until(lambda: not any(map(alive, fake_java.started())))


def test_an_analysis_that_is_no_tree_is_null(fake_java):
    sentences = [["one", "."], ["CYCLE", "two", "three"], ["four"]]
    annotations = annotate(sentences, fake_java.models)
    check(sentences, annotations, nulls=(1,))
    assert annotations[1].reason.startswith("invalid analysis: ")


def test_a_flat_constituent_is_null(fake_java):
    sentences = [["one", "."], ["FLAT", "two"], ["four"]]
    annotations = annotate(sentences, fake_java.models, analysis="constituents")
    check(sentences, annotations, nulls=(1,), analysis="constituents")
    assert annotations[1].reason == "CoreNLP gave up on its constituents"


def test_a_broken_installation_is_an_error_at_once(fake_java, monkeypatch):
    monkeypatch.setenv("FAKE_BROKEN", "1")
    with pytest.raises(UserError, match=r"(?s)CoreNLP fails even on 'Yes \.': .*Caused by: no such"):
        annotate(numbered(500), fake_java.models)


@pytest.mark.parametrize(
    "character", "\t\n\v\f\r\x1e\x1f \x85\u1680\u2000\u2006\u2008\u200a\u2028\u2029\u205f\u3000", ids=ascii
)
def test_words_that_corenlp_would_split_are_refused(fake_java, character):
    sentences = [["one"], ["a" + character + "b", "."], ["two"], [character], ["three", character]]
    annotations = annotate(sentences, fake_java.models)
    check(sentences, annotations, nulls=(1, 3, 4))
    assert annotations[1].reason == f"a character at which CoreNLP cuts words: U+{ord(character):04X}"


def test_every_row_of_the_corpus_has_its_row_in_the_annotation(fake_java, tmp_path):
    odd = [[], ["\u2028"], ["a\u00a0b", "\u202f"], ["x"] * 300, ["\x85", "."], ["😀", "\ufeff"], ["SPLIT", "."], ["#"]]
    sentences = [words for pair in zip(numbered(8), odd, strict=True) for words in pair]
    corpus = write_corpus(tmp_path / "corpus.parquet", sentences)
    annotate_shard(
        CoreNlpSettings(),
        corpus=corpus,
        raw=tmp_path / "none",
        side="source",
        language="en",
        shard=0,
        shards=1,
        output=tmp_path / "annotation.parquet",
        model_folders=(fake_java.models,),
    )
    rows = list(read_rows(tmp_path / "annotation.parquet"))
    ids = [row["id"] for row in read_rows(corpus)]
    assert [row["id"] for row in rows] == ids
    assert [n for n, row in enumerate(rows) if row["head"] is None] == [1, 3, 7, 9, 13]
    assert all(row["head"] == heads(words) for row, words in zip(rows, sentences, strict=True) if row["head"])


@given(st.text(alphabet="()-LRBSa", max_size=12))
@example("-LRB)")
@example("-LRB-RRB-")
def test_escaped_and_restored_brackets_compare_equal(word):
    escaped = word.replace("(", "-LRB-").replace(")", "-RRB-")
    restored = word.replace("-LRB-", "(").replace("-RRB-", ")")
    assert _with_escaped_brackets(escaped) == _with_escaped_brackets(word) == _with_escaped_brackets(restored)


def test_other_languages_are_an_error():
    with pytest.raises(UserError, match="English and German only, but the target language is 'tr'"):
        open_annotator(CoreNlpSettings(), AnnotationTask(side="target", language="tr"))


def test_missing_jars_are_an_error(fake_java, tmp_path, monkeypatch):
    monkeypatch.delenv("CORENLP_HOME", raising=False)
    with pytest.raises(UserError, match=r"no Stanford CoreNLP 'nowhere'.*stanford-corenlp-\*\.jar"):
        annotate([["a"]], fake_java.models, model="nowhere")


def test_corenlp_home_names_the_folder_of_the_jars(fake_java, tmp_path, monkeypatch):
    monkeypatch.setenv("CORENLP_HOME", str(fake_java.models / "corenlp"))
    sentences = numbered(2)
    check(sentences, annotate(sentences, tmp_path / "none"), nulls=())


def test_german_tags_are_universal(fake_java):
    (annotation,) = annotate([["Ja", "."]], fake_java.models, language="de")
    assert annotation.upos == ("T2", "T1")
    assert annotation.xpos is None
