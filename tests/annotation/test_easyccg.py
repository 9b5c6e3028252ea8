r"""The EasyCCG annotator, with a program that imitates EasyCCG (after its README and source) and its failures."""

import pytest
from annotation.annotating import annotate_words
from fake_java import alive, category, wait_until

from nmtcore.annotation import java
from nmtcore.annotation.base import AnnotationTask
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


def test_supertags_are_the_leaves_of_the_derivation():
    tags = ["N", r"(S[dcl]\NP)/NP", "N", "."]
    assert leaf_categories(DERIVATION, ["Lions", "chase", "(", "."]) == tags
    assert leaf_categories(DERIVATION, ["Lions", "chase", "{", "."]) == tags


@pytest.mark.parametrize(
    "words", [["Lions", "chase", "("], ["Lions", "chase", "(", ".", "."], ["Lions", "hunt", "(", "."], ["Lions"]]
)
def test_leaves_of_other_words_are_a_fault(words):
    fault = leaf_categories(DERIVATION, words)
    assert fault == f"EasyCCG gave other sentences: 'Lions chase -LRB- .' for '{' '.join(words)}'"


def test_words_of_quotation_marks_get_categories():
    words = ['"', "Lions", 'cha"se', "(", '"', '"."', '"']
    assert leaf_categories(DERIVATION, words) == ["LQU", "N", r"(S[dcl]\NP)/NP", "N", "RQU", ".", "LQU"]


def test_every_sentence_gets_its_own_tags(fake_java):
    sentences = numbered(30)
    check(sentences, annotate(sentences, fake_java.models, batch_size=20), nulls=())
    assert len(set(fake_java.started())) == 2
    assert list(fake_java.temporary.iterdir()) == []


REASONS = {
    "FAIL": "no CCG parse",
    "CRASH": "EasyCCG crashed: Exception in thread main: oh dear",
    "KILLED": "EasyCCG was killed",
    "SKIP": "EasyCCG gave other sentences: ",
    "SPLIT": "EasyCCG gave other sentences: ",
    "SHORT": "EasyCCG gave no analysis",
    "GARBAGE": "EasyCCG gave other sentences: ",
    "OTHER": "EasyCCG gave other sentences: 'other is no5' for 'OTHER is No5'",
}


@pytest.mark.parametrize(
    ("fault", "at"),
    [
        *((fault, at) for fault in REASONS for at in ((5,), (3, 4, 8))),
        *((fault, at) for fault in ("CRASH", "SKIP") for at in ((0,), (9,), tuple(range(10)))),
    ],
)
def test_a_fault_costs_one_sentence(fake_java, fault, at):
    sentences = numbered(10)
    for n in at:
        sentences[n] = [fault, "is", f"No{n}"]
    annotations = annotate(sentences, fake_java.models)
    check(sentences, annotations, nulls=at)
    if at == (5,):
        assert annotations[5].reason.startswith(REASONS[fault])


def test_a_failed_parse_is_not_confused_with_the_word_fail(fake_java):
    sentences = [["fail"], ["FAIL"], ["fails", "FAIL"]]
    check(sentences, annotate(sentences, fake_java.models), nulls=(1, 2))


def test_a_hanging_sentence_costs_the_time_limit_and_one_null(fake_java, monkeypatch):
    monkeypatch.setattr(java, "START_SECONDS", 3.0)
    sentences = numbered(4)
    sentences[2] = ["HANG", "."]
    annotations = annotate(sentences, fake_java.models, seconds_a_sentence=0.001)
    check(sentences, annotations, nulls=(2,))
    assert annotations[2].reason.startswith("EasyCCG took too long: ")
    assert wait_until(lambda: not any(map(alive, fake_java.started())))


def test_odd_sentences_do_not_shift_other_rows(fake_java):
    odd = [[], ["#", "1"], ['"'], ['"', '""'], ["\u2028", "\x85"], ["a\u00a0b"], ["\t"], ["x\r"], ["y"] * 71, ["😀"]]
    sentences = [words for pair in zip(numbered(10), odd, strict=True) for words in pair]
    annotations = annotate(sentences, fake_java.models)
    check(sentences, annotations, nulls=(1, 5, 7, 13, 15, 17))
    assert annotations[5] == failed("nothing but quotation marks")
    assert annotations[15] == failed("a character at which EasyCCG cuts words: U+000D")


def test_a_sentence_of_max_words_is_parsed(fake_java):
    sentences = [["word"] * 70, ["word"] * 71]
    annotations = annotate(sentences, fake_java.models)
    check(sentences, annotations, nulls=(1,))
    assert annotations[1] == failed("more than 70 words")


def test_a_broken_installation_is_an_error_at_once(fake_java, monkeypatch):
    monkeypatch.setenv("FAKE_BROKEN", "1")
    with pytest.raises(UserError, match=r"EasyCCG fails even on 'Yes \.': .*no such thing"):
        annotate(numbered(3), fake_java.models)


def test_a_missing_jar_and_a_missing_model_are_errors(fake_java):
    with pytest.raises(UserError, match=r"no EasyCCG 'corenlp'.*easyccg\.jar"):
        annotate([["a"]], fake_java.models, model="corenlp")
    (fake_java.models / "easyccg" / "model" / "categories").unlink()
    with pytest.raises(UserError, match=r"has easyccg\.jar but no model"):
        annotate([["a"]], fake_java.models)


def test_missing_java_is_an_error(fake_java, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="EasyCCG needs Java"):
        annotate([["a"]], fake_java.models)
