"""The CoreNLP annotator, with a program that imitates CoreNLP's server and its failures."""

import os
import signal
import subprocess
import sys

import pytest
from annotation.annotating import annotate_words
from fake_java import alive, brackets, heads, tag, wait_until
from hypothesis import example, given
from hypothesis import strategies as st
from pair_files import write_corpus

from nmtcore.annotation import corenlp
from nmtcore.annotation.base import AnnotationTask, open_annotator
from nmtcore.annotation.corenlp import _with_escaped_brackets
from nmtcore.annotation.shards import annotate_shard
from nmtcore.config.annotators import CoreNlpSettings
from nmtcore.errors import UserError
from nmtcore.parquet import read_rows
from nmtcore.syntax.annotation import Annotation


def task(models, language="en"):
    return AnnotationTask(side="target", language=language, model_folders=(models,))


def annotate(sentences, models, *, language="en", **settings):
    return list(annotate_words(CoreNlpSettings(**settings), sentences, task(models, language)))


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


REASONS = {
    "CRASH": "CoreNLP crashed: Exception in thread main: oh dear",
    "KILLED": "CoreNLP was killed (for want of memory?): ",
    "POISON": "CoreNLP failed: java.lang.IllegalStateException: no",
    "SKIP": "CoreNLP gave other sentences: 0 for 1",
    "SPLIT": "CoreNLP gave other sentences: 2 for 1",
    "GARBAGE": "CoreNLP wrote what cannot be read: ",
    "OTHER": "CoreNLP gave other sentences: 'other is no23' for 'OTHER is No23'",
    "CYCLE": "invalid analysis: ",
}


@pytest.mark.parametrize("analysis", ["dependencies", "constituents"])
def test_every_fault_costs_one_sentence_and_the_server_starts_again(fake_java, analysis):
    sentences, nulls = numbered(40), {}
    for n, (fault, reason) in zip((0, 7, 8, 12, 21, 22, 23, 39), REASONS.items(), strict=True):
        sentences[n], nulls[n] = [*fault.split(), "is", f"No{n}"], reason
    if analysis == "constituents":
        sentences[39], nulls[39] = ["FLAT", "two"], "CoreNLP gave up on its constituents"
    annotations = annotate(sentences, fake_java.models, analysis=analysis, batch_size=16)
    check(sentences, annotations, nulls=nulls, analysis=analysis)
    assert [annotations[n].reason[: len(reason)] for n, reason in nulls.items()] == list(nulls.values())
    # The first batch of 16 ends the server in batches of 16, 8, 4, 2, 1, and of 4, 2, 1.
    assert len(fake_java.started()) == 1 + 8
    assert not any(map(alive, fake_java.started()))


def test_a_server_that_is_killed_between_batches_starts_again(fake_java):
    with open_annotator(CoreNlpSettings(), task(fake_java.models)) as annotator:
        sentences = [corenlp.NumberedSentence(0, ("one", "."))]
        first = annotator.parse(sentences)
        os.kill(fake_java.started()[-1], signal.SIGKILL)
        with pytest.raises(corenlp.ParsingError, match="was killed"):
            annotator.parse(sentences)
        assert annotator.parse(sentences) == first
    assert len(fake_java.started()) == 2


def test_a_hanging_sentence_costs_the_time_limit_and_one_null(fake_java, monkeypatch):
    monkeypatch.setattr(corenlp, "START_SECONDS", 2.0)
    sentences = [*numbered(1), ["HANG", "."], *numbered(2)]
    annotations = annotate(sentences, fake_java.models, seconds_a_sentence=0.001, batch_size=2)
    check(sentences, annotations, nulls=(1,))
    assert annotations[1].reason == "CoreNLP took too long: nothing came for 2 seconds (see seconds_a_sentence)"
    assert wait_until(lambda: not any(map(alive, fake_java.started())))


def test_a_broken_installation_is_an_error_at_once(fake_java, monkeypatch):
    monkeypatch.setenv("FAKE_BROKEN", "1")
    with pytest.raises(UserError, match=r"(?s)CoreNLP fails even on 'Yes \.': .*Caused by: no such"):
        annotate(numbered(500), fake_java.models)
    assert len(fake_java.started()) == 1


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_the_server_ends_with_the_process_however_it_ends(fake_java, end):
    code = (
        "import time; from pathlib import Path; from nmtcore.annotation.base import AnnotationTask, open_annotator; "
        "from nmtcore.config.annotators import CoreNlpSettings as Settings; task = AnnotationTask(side='source', "
        f"language='en', model_folders=(Path({str(fake_java.models)!r}),)); "
        "open_annotator(Settings(), task).__enter__(); print(flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert all(map(alive, fake_java.started()))
        process.send_signal(end)
    assert wait_until(lambda: not any(map(alive, fake_java.started())))


@pytest.mark.parametrize(
    "character", "\t\n\v\f\r\x1e\x1f \x85\u1680\u2000\u2006\u2008\u200a\u2028\u2029\u205f\u3000", ids=ascii
)
def test_words_that_corenlp_would_split_are_refused(character):
    annotator = open_annotator(CoreNlpSettings(), task("models"))
    assert (
        annotator.refuses(["a", f"b{character}"]) == f"a character at which CoreNLP cuts words: U+{ord(character):04X}"
    )
    assert annotator.refuses(["a\u00a0b", "\u202f", "😀", "\ufeff", "#"]) is None


def test_every_row_of_the_corpus_has_its_row_in_the_annotation(fake_java, tmp_path):
    odd = [[], ["\u2028"], ["a\u00a0b", "\u202f"], ["x"] * 300, ["\x85", "."], ["😀", "\ufeff"], ["SPLIT", "."], ["#"]]
    sentences = [words for pair in zip(numbered(8), odd, strict=True) for words in pair]
    corpus = write_corpus(tmp_path / "corpus.parquet", sentences)
    places = {"corpus": corpus, "raw": tmp_path / "none", "output": tmp_path / "annotation.parquet"}
    shard = {"side": "source", "language": "en", "shard": 0, "shards": 1, "model_folders": (fake_java.models,)}
    annotate_shard(CoreNlpSettings(), **places, **shard)
    rows = list(read_rows(tmp_path / "annotation.parquet"))
    assert [row["id"] for row in rows] == [row["id"] for row in read_rows(corpus)]
    assert [n for n, row in enumerate(rows) if row["head"] is None] == [1, 3, 7, 9, 13]
    assert all(row["head"] == heads(words) for row, words in zip(rows, sentences, strict=True) if row["head"])


@given(st.text(alphabet="()-LRBSa", max_size=12))
@example("-LRB)")
@example("-LRB-RRB-")
def test_escaped_and_restored_brackets_compare_equal(word):
    escaped = word.replace("(", "-LRB-").replace(")", "-RRB-")
    restored = word.replace("-LRB-", "(").replace("-RRB-", ")")
    assert _with_escaped_brackets(escaped) == _with_escaped_brackets(word) == _with_escaped_brackets(restored)


def test_other_languages_missing_jars_and_missing_java_are_errors(fake_java, tmp_path, monkeypatch):
    monkeypatch.delenv("CORENLP_HOME", raising=False)
    with pytest.raises(UserError, match="English and German only, but the target language is 'tr'"):
        annotate([["a"]], fake_java.models, language="tr")
    with pytest.raises(UserError, match=r"no Stanford CoreNLP 'nowhere'.*stanford-corenlp-\*\.jar"):
        annotate([["a"]], fake_java.models, model="nowhere")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"CoreNLP needs Java.*install a Java runtime.*default-jre-headless"):
        annotate([["a"]], fake_java.models)


def test_corenlp_home_names_the_folder_of_the_jars(fake_java, tmp_path, monkeypatch):
    monkeypatch.setenv("CORENLP_HOME", str(fake_java.models / "corenlp"))
    check(numbered(2), annotate(numbered(2), tmp_path / "none"), nulls=())


def test_german_tags_are_universal(fake_java):
    (annotation,) = annotate([["Ja", "."]], fake_java.models, language="de")
    assert annotation.upos == ("T2", "T1")
    assert annotation.xpos is None
