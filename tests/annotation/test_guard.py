"""The guard around annotators, and the registry of tools."""

import importlib
import subprocess
import sys

import pytest
from annotation.annotating import annotate_words
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.annotation.base import AnnotationTask, Annotator, NumberedSentence, guarded, open_annotator
from nmtcore.config.annotators import ANNOTATORS, ExistingSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed


def chain(words):
    """Make a right-branching tree whose lemmas are the words, so that they identify the sentence."""
    return Annotation(head=list(range(len(words))), deprel=["dep"] * len(words), lemma=list(words))


class Tool(Annotator):
    """A tool that reads `ahead` sentences before it answers, refuses sentences with "refuse", and records its input."""

    def __init__(self, *, ahead=1, answer=chain, drop=0, extra=0):
        self.ahead, self.answer, self.drop, self.extra, self.received = ahead, answer, drop, extra, []

    def refuses(self, words):
        return "refused: it says so" if "refuse" in words else None

    def annotate(self, sentences):
        read = []
        for sentence in sentences:
            self.received.append(list(sentence.words))
            read.append(sentence.words)
            if len(read) == self.ahead:
                yield from map(self.answer, read)
                read = []
        yield from map(self.answer, read[: len(read) - self.drop])
        for _ in range(self.extra):
            yield chain(["x"])


def annotate(tool, sentences, max_words=5):
    numbered = [NumberedSentence(10 * k, words) for k, words in enumerate(sentences)]
    results = list(guarded(tool, numbered, max_words=max_words))
    assert [sentence for sentence, _ in results] == numbered
    return [annotation for _, annotation in results]


@given(
    st.lists(st.lists(st.sampled_from(["a", "b", "refuse", ""]), max_size=8), max_size=30),
    st.integers(1, 7),
)
def test_every_sentence_gets_its_own_analysis_or_a_reason(sentences, ahead):
    tool = Tool(ahead=ahead)
    annotations = annotate(tool, sentences)
    for words, annotation in zip(sentences, annotations, strict=True):
        unfit = not words or len(words) > 5 or "" in words or "refuse" in words
        assert (annotation.reason is not None) == unfit
        assert annotation.lemma is None if unfit else annotation.lemma == words
    assert tool.received == [w for w, a in zip(sentences, annotations, strict=True) if a.reason is None]


def test_refused_sentences_have_a_reason():
    annotations = annotate(Tool(), [[], ["a"] * 6, ["a", ""], ["refuse"], ["a"] * 5])
    assert [a.reason for a in annotations] == [
        "the sentence has no words",
        "more than 5 words",
        "a word is empty",
        "refused: it says so",
        None,
    ]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (lambda words: Annotation(head=[0]), "head has 1 entries for 3 words"),
        (lambda words: Annotation(head=[2, 1, 0]), "the heads form a cycle at word 1"),
        (lambda words: Annotation(head=[0, 9, 1]), "word 2 has head 9, but the sentence has 3 words"),
        (lambda words: Annotation(head=[2, 3, 1]), "no word is a root (head 0)"),
        (lambda words: Annotation(head=[0, 1, 1], upos=["X"] * 2), "upos has 2 entries for 3 words"),
    ],
)
def test_an_unsound_analysis_is_null(answer, fault):
    (annotation,) = annotate(Tool(answer=answer), [["a", "b", "c"]])
    assert annotation == failed(f"invalid analysis: {fault}")


def test_too_few_analyses_are_an_error():
    with pytest.raises(UserError, match=r"too few analyses: none for pair 20"):
        annotate(Tool(ahead=5, drop=1), [["a"], [], ["b"], []])


def test_a_tool_that_stops_reading_is_an_error():
    class StoppingTool(Tool):
        def annotate(self, sentences):
            yield chain(next(sentences).words)

    with pytest.raises(UserError, match="too few analyses: none for pair 10"):
        annotate(StoppingTool(), [["a"], ["b"], ["c"]])


def test_too_many_analyses_are_an_error():
    with pytest.raises(UserError, match="more analyses than sentences"):
        annotate(Tool(extra=1), [["a"], ["b"]])


@pytest.mark.parametrize("tool", ANNOTATORS)
def test_every_registered_tool_has_its_module(tool):
    assert callable(importlib.import_module(f"nmtcore.annotation.{tool}").open_annotator)


def test_existing_trees_cannot_annotate_new_text():
    with pytest.raises(UserError, match="Name a parser"):
        list(annotate_words(ExistingSettings(), [["a"]], AnnotationTask(side="source", language="en")))


def test_opening_an_annotator_imports_no_parser():
    code = (
        "import sys; import nmtcore.annotation.shards, nmtcore.annotation.spacy, nmtcore.annotation.existing; "
        "sys.exit(any(name in sys.modules for name in ('spacy', 'torch', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_settings_determine_the_annotator(tmp_path):
    task = AnnotationTask(side="source", language="cs", raw=tmp_path / "raw.parquet")
    assert type(open_annotator(ExistingSettings(), task)).__module__ == "nmtcore.annotation.existing"
