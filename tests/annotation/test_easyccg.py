r"""The EasyCCG annotator, with a program that imitates EasyCCG (after its README and source) and its failures."""

import pytest
from annotation.annotating import annotate_words
from fake_java import alive, category, wait_until

from nmtcore.annotation import easyccg
from nmtcore.annotation.base import AnnotationTask, ParsingError
from nmtcore.annotation.easyccg import leaf_categories
from nmtcore.config.annotators import EasyCcgSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed

# In the format of the comment in ParsePrinter.java and of CCGbank's files.
DERIVATION = (
    r"(<T S[dcl] 1 2> (<T NP 0 1> (<L N POS POS Lions N>) ) (<T S[dcl]\NP 0 2> (<L (S[dcl]\NP)/NP POS POS chase "
    r"(S[dcl]\NP)/NP>) (<T NP 0 2> (<T NP 0 1> (<L N POS POS -LRB- N>) ) (<L . POS POS . .>) ) ) )"
)


def annotate(sentences, models, **settings):
    task = AnnotationTask(side="target", language="en", model_folders=(models,))
    return list(annotate_words(EasyCcgSettings(**settings), sentences, task))


def numbered(count):
    return [[f"No{n}", "(", "}", "a|b", ">)", "<L", "." * (n % 5 + 1)] for n in range(count)]


def check(sentences, annotations, *, nulls):
    assert len(annotations) == len(sentences)
    for n, (words, annotation) in enumerate(zip(sentences, annotations, strict=True)):
        if n in nulls:
            assert annotation.reason is not None
            assert annotation.ccg is None
        else:
            assert annotation == Annotation(ccg=[category(word) for word in words])


@pytest.mark.parametrize("bracket", ["(", "{"])
def test_supertags_are_the_leaves_of_the_derivation(bracket):
    tags = ["N", r"(S[dcl]\NP)/NP", "N", "."]
    assert leaf_categories(DERIVATION, ["Lions", "chase", bracket, "."]) == tags


@pytest.mark.parametrize(
    "words", [["Lions", "chase", "("], ["Lions", "chase", "(", ".", "."], ["Lions", "hunt", "(", "."], ["Lions"]]
)
def test_leaves_of_other_words_are_a_fault(words):
    with pytest.raises(ParsingError) as error:
        leaf_categories(DERIVATION, words)
    assert str(error.value) == f"EasyCCG gave other sentences: 'Lions chase -LRB- .' for '{' '.join(words)}'"


def test_words_of_quotation_marks_get_categories():
    words = ['"', "Lions", 'cha"se', "(", '"', '"."', '"']
    assert leaf_categories(DERIVATION, words) == ["LQU", "N", r"(S[dcl]\NP)/NP", "N", "RQU", ".", "LQU"]


def test_easyccg_starts_once_per_batch(fake_java):
    sentences = numbered(30)
    check(sentences, annotate(sentences, fake_java.models, batch_size=20), nulls=())
    assert len(fake_java.started()) == 2


REASONS = {
    "CRASH": "EasyCCG crashed: Exception in thread main: oh dear",
    "KILLED": "EasyCCG was killed (for want of memory?): ",
    "SKIP": "EasyCCG gave other sentences: 0 for 1",
    "SPLIT": "EasyCCG gave other sentences: 2 for 1",
    "SHORT": "EasyCCG gave other sentences: 0 for 1",
    "GARBAGE": "EasyCCG gave other sentences: '' for 'GARBAGE is No5'",
    "OTHER": "EasyCCG gave other sentences: 'other is no5' for 'OTHER is No5'",
    "FAIL": "no CCG parse",
}


@pytest.mark.parametrize("fault", REASONS)
def test_a_fault_costs_one_sentence(fake_java, fault):
    sentences = numbered(10)
    sentences[5] = [fault, "is", "No5"]
    annotations = annotate(sentences, fake_java.models)
    check(sentences, annotations, nulls=(5,))
    assert annotations[5].reason.startswith(REASONS[fault])


def test_a_hanging_sentence_costs_the_time_limit_and_one_null(fake_java, monkeypatch):
    monkeypatch.setattr(easyccg, "START_SECONDS", 2.0)
    sentences = [*numbered(1), ["HANG", "."]]
    annotations = annotate(sentences, fake_java.models, seconds_a_sentence=0.001)
    check(sentences, annotations, nulls=(1,))
    assert annotations[1].reason.startswith("EasyCCG took too long: nothing came for 2 seconds")
    assert wait_until(lambda: not any(map(alive, fake_java.started())))


def test_odd_sentences_do_not_shift_other_rows(fake_java):
    odd = [[], ["#"], ['"'], ["a b"], ["x"] * 71, ["\u2028", "\u3000"], ["#", '"', "\u00a0"], ['"q"'], ["fail"]]
    sentences = [words for pair in zip(numbered(9), odd, strict=True) for words in pair]
    annotations = annotate(sentences, fake_java.models)
    check(sentences[:10:2], annotations[:10:2], nulls=())
    assert [annotation.reason for annotation in annotations[1::2]] == [
        *("the sentence has no words", None, "nothing but quotation marks"),
        *("a character at which EasyCCG cuts words: U+0020", "more than 70 words", None, None, None, None),
    ]
    assert annotations[13].ccg == ["N", "LQU", "N"]
    assert annotate([["x"] * 70], fake_java.models) == [Annotation(ccg=["N"] * 70)]


def test_a_failed_parse_is_not_confused_with_the_word_fail(fake_java):
    assert annotate([["fail"], ["FAIL"]], fake_java.models) == [
        Annotation(ccg=[category("fail")]),
        failed("no CCG parse"),
    ]


def test_a_broken_installation_is_an_error_at_once(fake_java, monkeypatch):
    monkeypatch.setenv("FAKE_BROKEN", "1")
    with pytest.raises(UserError, match=r"(?s)EasyCCG fails even on 'Yes \.': .*Caused by: no such"):
        annotate(numbered(3), fake_java.models)
    assert len(fake_java.started()) == 2


def test_a_missing_jar_and_a_missing_model_are_errors(fake_java):
    with pytest.raises(UserError, match=r"no EasyCCG 'corenlp' \(a folder that holds easyccg.jar\)"):
        annotate([["a"]], fake_java.models, model="corenlp")
    (fake_java.models / "easyccg" / "model" / "categories").unlink()
    with pytest.raises(UserError, match=r"easyccg has easyccg\.jar but no model"):
        annotate([["a"]], fake_java.models)
