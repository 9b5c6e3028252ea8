"""Sequences of transforms, and the vocabularies of runs."""

import numpy as np
from inference.tiny import random_examples, run_settings

from nmtcore.features.examples import Examples
from nmtcore.features.transforms.base import Transform
from nmtcore.features.transforms.chain import Transforms
from nmtcore.segmentation.vocabulary import tag_entry


class AppendDigit(Transform):
    """Appends a digit to ids and words, and removes it again; records the linearised parses that it gets."""

    def __init__(self, digit, recorded):
        self.digit, self.recorded = digit, recorded

    @staticmethod
    def tags(settings, labels):
        return {}

    def _changed(self, examples):
        return Examples(id=examples.id * 10 + self.digit, source=examples.source)

    def for_training(self, pairs, linearised_parses):
        self.recorded.append(linearised_parses)
        return self._changed(pairs)

    def for_translation(self, examples):
        return self._changed(examples)

    def text_words(self, words_BS):
        assert (words_BS % 10 == self.digit).all()
        return words_BS // 10

    def strip(self, entries):
        assert entries[-1] == str(self.digit)
        return entries[:-1]


def test_transforms_are_applied_in_order_and_undone_in_reverse():
    recorded = []
    chain = Transforms([AppendDigit(1, recorded), AppendDigit(2, recorded)])
    examples = random_examples(3)
    for changed in (chain.for_training(examples, "parses"), chain.for_translation(examples)):
        assert changed.id.tolist() == [100 * i + 12 for i in examples.id.tolist()]
    assert recorded == ["parses", None], "linearised parses belong to the stored pairs"
    assert chain.text_words(np.array([[12, 312]])).tolist() == [[0, 3]]
    assert chain.strip(["a", "1", "2"]) == ["a"]
    empty = Transforms.of(run_settings(), {}, {})
    assert empty.for_training(examples) is empty.for_translation(examples) is examples
    assert empty.strip(["a", tag_entry("b")]) == ["a", tag_entry("b")]
