"""The guard around annotators, the halving of failed batches, and the registry of tools."""

from itertools import chain as joined

import pytest
from annotation.annotating import annotate_words
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.annotation.base import Annotator, NumberedSentence, ParsingError, guarded
from nmtcore.config.datasets import ExistingSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation, failed


def chain(words):
    """Make a right-branching tree whose lemmas are the words, so that they identify the sentence."""
    return Annotation(head=list(range(len(words))), deprel=["dep"] * len(words), lemma=list(words))


class Tool(Annotator):
    """A tool that fails on batches with a fault, and refuses sentences with "refuse"."""

    batch_size = 4

    def __init__(self, answer=chain):
        super().__init__()
        self.answer, self.received = answer, []

    def refuses(self, words):
        return "refused: it says so" if "refuse" in words else None

    def parse(self, sentences):
        words = set(joined.from_iterable(sentence.words for sentence in sentences))
        self.received += [sentence.words for sentence in sentences]
        for error in {MemoryError, KeyboardInterrupt, UserError} & words:
            raise error("no")
        if "crash" in words:
            raise RuntimeError("oh dear\nsecond line")
        if "time" in words:
            raise ParsingError("Tool took too long: 5 s")
        lost = [sentence for sentence in sentences if "lose" in sentence.words]
        added = [sentence for sentence in sentences if "add" in sentence.words and not lost]
        return [self.answer(sentence.words) for sentence in [*sentences, *added] if sentence not in lost]


def annotate(tool, sentences, max_words=5):
    numbered = [NumberedSentence(10 * k, words) for k, words in enumerate(sentences)]
    results = list(guarded(tool, iter(numbered), max_words=max_words))
    assert [sentence for sentence, _ in results] == numbered
    return [annotation for _, annotation in results]


REASONS = {
    "refuse": "refused: it says so",
    "": "a word is empty",
    "crash": "Tool failed: RuntimeError: oh dear",
    "time": "Tool took too long: 5 s",
    "lose": "Tool failed: 0 analyses for 1 sentences",
    "add": "Tool failed: 2 analyses for 1 sentences",
}


@given(
    st.lists(st.lists(st.sampled_from(["a", "b"]), max_size=7), max_size=40).flatmap(
        lambda lists: st.tuples(*(st.tuples(st.just(words), st.sampled_from(["b", "b", *REASONS])) for words in lists))
    ),
    st.integers(1, 9),
)
def test_every_sentence_gets_its_own_analysis_or_exactly_one_reason(drawn, batch_size):
    sentences = [[*words, word] if words else [] for words, word in drawn]
    tool = Tool()
    tool.batch_size = batch_size
    for words, annotation in zip(sentences, annotate(tool, sentences), strict=True):
        if not words:
            assert annotation == failed("the sentence has no words")
        elif len(words) > 5:
            assert annotation == failed("more than 5 words")
        elif words[-1] in REASONS:
            assert annotation == failed(REASONS[words[-1]])
        else:
            assert annotation == chain(words)
    assert not any(len(words) > 5 or {"refuse", ""} & set(words) for words in tool.received)


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, UserError])
def test_errors_that_are_not_due_to_a_sentence_are_raised(error):
    with pytest.raises(error):
        annotate(Tool(), [["a"], [error]])


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Annotation(head=[0]), "head has 1 entries for 3 words"),
        (Annotation(head=[2, 1, 0]), "the heads form a cycle at word 1"),
        (Annotation(head=[0, 1, 1], upos=["X"] * 2), "upos has 2 entries for 3 words"),
    ],
)
def test_an_unsound_analysis_is_null(answer, fault):
    (annotation,) = annotate(Tool(lambda words: answer), [["a", "b", "c"]])
    assert annotation == failed(f"invalid analysis: {fault}")


def test_existing_trees_cannot_annotate_new_text():
    with pytest.raises(UserError, match="Name a parser"):
        annotate_words(ExistingSettings(), [["a"]])
