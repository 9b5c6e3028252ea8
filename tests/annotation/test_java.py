"""CoreNLP and EasyCCG, with a program that imitates both and their failures (`fake_java.py`)."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pytest
from annotation.annotating import annotate_words
from fake_java import alive, brackets, category, heads, tag, wait_until

from nmtcore.annotation import corenlp, easyccg
from nmtcore.annotation.base import AnnotationTask, open_annotator
from nmtcore.config.datasets import AnnotatorSettings, CoreNlpSettings, EasyCcgSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation


class Tool(NamedTuple):
    """A tool that is a Java program."""

    settings: AnnotatorSettings
    name: str
    expected: Callable
    """What a sentence without a fault gets."""
    reasons: dict[str, str]
    """The first word of a sentence at fault, and the reason of its null."""


def tree(words):
    labels = tuple("dep" if head else "root" for head in heads(words))
    return Annotation(xpos=tuple(map(tag, words)), head=heads(words), deprel=labels)


OF_CORENLP = {
    "CRASH": "CoreNLP crashed: Exception in thread main: oh dear",
    "KILLED": "CoreNLP was killed (for want of memory?): ",
    "POISON": "CoreNLP failed: java.lang.IllegalStateException: no",
    "SKIP": "CoreNLP failed: 0 analyses for 1 sentences",
    "SPLIT": "CoreNLP failed: 2 analyses for 1 sentences",
    "GARBAGE": "CoreNLP wrote what cannot be read: ",
    "OTHER": "CoreNLP gave other words: 'other is no5' for 'OTHER is No5'",
}
SHARED = ("CRASH", "KILLED", "SKIP", "SPLIT", "OTHER")
"""Faults that both programs have."""
TOOLS = {
    "dependencies": Tool(CoreNlpSettings(), "CoreNLP", tree, {**OF_CORENLP, "CYCLE": "invalid analysis: "}),
    "constituents": Tool(
        CoreNlpSettings(analysis="constituents"), "CoreNLP",
        lambda words: Annotation(constituency=brackets(words)),
        {**OF_CORENLP, "FLAT": "CoreNLP gave up on its constituents"},
    ),
    "supertags": Tool(
        EasyCcgSettings(), "EasyCCG",
        lambda words: Annotation(ccg=list(map(category, words))),
        {
            **{word: OF_CORENLP[word].replace("CoreNLP", "EasyCCG") for word in SHARED},
            "SHORT": "EasyCCG failed: 0 analyses for 1 sentences",
            "GARBAGE": "EasyCCG gave other words: '' for 'GARBAGE is No5'",
            "FAIL": "no CCG parse",
        },
    ),
}  # fmt: skip


def annotate(tool, sentences, models, *, language="en", **settings):
    return annotate_words(replace(tool.settings, **settings), sentences, models, language=language)


def numbered(count):
    return [[f"No{n}", "(", "}", "a|b", ">)", "<L", "." * (n % 5 + 1)] for n in range(count)]


@pytest.fixture(params=TOOLS)
def tool(request):
    return TOOLS[request.param]


def test_every_fault_costs_one_sentence(fake_java, tool):
    words = [[fault, "is", "No5"] for fault in tool.reasons]
    faulty = [["FAIL"] if own[0] == "FAIL" else own[:2] if own[0] == "FLAT" else own for own in words]
    sentences = [own for pair in zip(numbered(len(faulty)), faulty, strict=True) for own in pair]
    annotations = annotate(tool, sentences, fake_java.models, batch_size=8)
    assert annotations[::2] == list(map(tool.expected, sentences[::2]))
    for annotation, reason in zip(annotations[1::2], tool.reasons.values(), strict=True):
        assert annotation.reason[: len(reason)] == reason
        assert annotation.head is annotation.constituency is annotation.ccg is None
    assert not any(map(alive, fake_java.started()))


def test_a_hanging_sentence_costs_the_time_limit_and_one_null(fake_java, tool, monkeypatch):
    for module in (corenlp, easyccg):
        monkeypatch.setattr(module, "START_SECONDS", 2.0)
    sentences = [*numbered(1), ["HANG", "."]]
    first, hanging = annotate(tool, sentences, fake_java.models, seconds_a_sentence=0.001, batch_size=2)
    assert first == tool.expected(sentences[0])
    assert hanging.reason == f"{tool.name} took too long: nothing came for 2 seconds (see seconds_a_sentence)"
    assert wait_until(lambda: not any(map(alive, fake_java.started())))


def test_a_broken_installation_is_an_error_at_once(fake_java, tool, monkeypatch):
    monkeypatch.setenv("FAKE_BROKEN", "1")
    with pytest.raises(UserError, match=rf"(?s){tool.name} fails even on 'Yes \.': .*Caused by: no such"):
        annotate(tool, numbered(300), fake_java.models)
    assert len(fake_java.started()) <= 2


def test_missing_java_models_and_languages_are_errors(fake_java, tmp_path, monkeypatch):
    (annotation,) = annotate(TOOLS["dependencies"], [["Ja", "."]], fake_java.models, language="de")
    assert (annotation.upos, annotation.xpos) == (("T2", "T1"), None)
    (fake_java.models / "easyccg" / "model" / "categories").unlink()
    for name, options, sentence in (
        ("dependencies", {"language": "tr"}, "English and German only, but the target language is 'tr'"),
        ("dependencies", {"model": "nowhere"}, r"no CoreNLP model 'nowhere'.*stanford-corenlp-\*\.jar"),
        ("supertags", {"model": "corenlp"}, r"no EasyCCG model 'corenlp' \(a folder that holds easyccg.jar\)"),
        ("supertags", {}, r"easyccg has easyccg\.jar but no model"),
    ):
        with pytest.raises(UserError, match=sentence):
            annotate(TOOLS[name], [["a"]], fake_java.models, **options)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"CoreNLP needs Java.*install a Java runtime.*default-jre-headless"):
        annotate(TOOLS["dependencies"], [["a"]], fake_java.models)


# CoreNLP


def test_the_server_ends_with_a_process_that_is_killed(fake_java):
    code = (
        "import time; from pathlib import Path; from nmtcore.annotation.base import AnnotationTask, open_annotator; "
        "from nmtcore.config.datasets import CoreNlpSettings as Settings; task = AnnotationTask(side='source', "
        f"language='en', model_folders=(Path({str(fake_java.models)!r}),)); "
        "open_annotator(Settings(), task).__enter__(); print(flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert all(map(alive, fake_java.started()))
        process.kill()
    assert wait_until(lambda: not any(map(alive, fake_java.started())))


def test_words_that_corenlp_would_split_are_refused():
    annotator = open_annotator(CoreNlpSettings(), AnnotationTask(side="target", language="en"))
    for character in "\t\n\v\f\r\x1e\x1f \x85\u1680\u2000\u2006\u2008\u200a\u2028\u2029\u205f\u3000":
        reason = f"a character at which CoreNLP cuts words: U+{ord(character):04X}"
        assert annotator.refuses(["a", f"b{character}"]) == reason
    assert annotator.refuses(["a\u00a0b", "\u202f", "😀", "\ufeff", "#"]) is None


# EasyCCG


# In the format of the comment in ParsePrinter.java and of CCGbank's files.
def test_odd_sentences_do_not_shift_other_rows(fake_java):
    odd = [[], ["#"], ['"'], ["a b"], ["x"] * 71, ["\u2028", "\u3000"], ["#", '"', "\u00a0"], ['"q"'], ["fail"]]
    sentences = [words for pair in zip(numbered(9), odd, strict=True) for words in pair]
    annotations = annotate(TOOLS["supertags"], sentences, fake_java.models, batch_size=5)
    assert annotations[::2] == list(map(TOOLS["supertags"].expected, sentences[::2]))
    assert [annotation.reason for annotation in annotations[1::2]] == [
        *("the sentence has no words", None, "nothing but quotation marks"),
        *("a character at which EasyCCG cuts words: U+0020", "more than 70 words", None, None, None, None),
    ]
    assert annotations[13].ccg == ["N", "LQU", "N"]
    assert annotate(TOOLS["supertags"], [["x"] * 70], fake_java.models) == [Annotation(ccg=["N"] * 70)]
