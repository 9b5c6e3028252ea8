"""The sentences that two systems translate most differently."""

import pytest
from evaluation.test_metrics import draw
from sacrebleu.metrics import CHRF

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.subsets import differing_sentences, scored_sentences


@pytest.mark.parametrize("lowercase", [False, True])
def test_the_largest_differences_come_first(lowercase):
    first, references = draw(40)
    second, _ = draw(40, wrong=0.4)
    metric = CHRF(lowercase=lowercase)
    scores = [
        tuple(metric.sentence_score(lines[row], [references[row]]).score for lines in (first, second))
        for row in range(40)
    ]
    rows = sorted(
        (row for row in range(40) if first[row] != second[row]), key=lambda row: -abs(scores[row][0] - scores[row][1])
    )
    sentences = differing_sentences(first, second, references, EvaluationSettings(lowercase=lowercase), most=7)
    assert [sentence.row for sentence in sentences] == rows[:7]
    assert [(sentence.chrf, sentence.other_chrf) for sentence in sentences] == [scores[row] for row in rows[:7]]


def test_equal_differences_keep_their_order_and_equal_translations_are_left_out():
    translations = ["x", "b", "same", "x"]
    others = ["y", "x", "same", "b"]
    sentences = differing_sentences(translations, others, ["a", "b", "c", "b"], EvaluationSettings(), most=9)
    assert [sentence.row for sentence in sentences] == [1, 3, 0]
    assert differing_sentences(["a"], ["a"], ["b"], EvaluationSettings(), most=9) == []


def test_sentences_at_given_positions_are_scored_alike():
    first, references = draw(20)
    second, _ = draw(20, wrong=0.4)
    settings = EvaluationSettings()
    differing = differing_sentences(first, second, references, settings, most=20)
    rows = [sentence.row for sentence in differing]
    assert scored_sentences(first, second, references, settings, rows=rows) == differing
