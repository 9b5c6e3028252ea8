"""Tests of heads and of embeddings made from labels, against their equations in loops."""

import math

import numpy as np
import pytest
from model.comparing import check_logits
from model.test_pair_labels import LabelledOracle
from named_components import by_name
from oracles import TransformerOracle

from nmtcore.config.components import (
    DepParseSettings,
    LabelHeadSettings,
    RelativePositionsSettings,
    SennrichHaddowSettings,
    TagAttentionSettings,
)
from nmtcore.config.training import TransformerSettings
from nmtcore.errors import UserError
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_components
from nmtcore.syntax.trees import NO_GOVERNOR


def labels_by_hand(examples, label_column, count, *, prefix=0):
    """Return the label id of every token, sentence by sentence."""
    ids = []
    for row in range(len(examples)):
        word_labels = examples.source.features[label_column][row]
        subword_labels = [int(word_labels[word]) for word in examples.source.word_of_subword[row]]
        ids.append([count + 1] * prefix + subword_labels + [count])
    return ids


class LabelHeadOracle(LabelledOracle):
    """The oracle of one sentence with a head of layer 0 whose queries and keys are made from the tokens' labels."""

    def __init__(self, model, settings, labels):
        super().__init__(model, settings, [], [NO_GOVERNOR])
        self.number, self.labels = next((n, own) for n, own in enumerate(settings) if hasattr(own, "labels")), labels

    def scores(self, name, head, states, queries, keys):
        number, label_head = self.number
        if (name, head) == ("encoder.0.attention", label_head.head % self.settings.heads):
            embedded = self.values[f"components.{number}.embedding.weight"][self.labels] * math.sqrt(
                self.settings.width
            )
            queries, keys = (self.linear(f"components.{number}.{part}", embedded) for part in ("queries", "keys"))
        return super().scores(name, head, states, queries, keys)


@pytest.mark.parametrize(
    "settings",
    [
        [LabelHeadSettings(labels="upos")],
        [LabelHeadSettings(labels="xpos", head=1)],
        [LabelHeadSettings(labels="deprel"), DepParseSettings(layer=1)],
        [LabelHeadSettings(labels="deprel"), RelativePositionsSettings(maximum=2)],
        [RelativePositionsSettings(maximum=2), LabelHeadSettings(labels="deprel")],
    ],
)
def test_logits_equal_those_of_the_oracle(make, draw, labels, settings):
    model, examples = make(*settings, seed=3), draw(6, seed=11, longest=5)
    (column,) = (own.labels for own in settings if isinstance(own, LabelHeadSettings))
    prefix = sum(isinstance(own, DepParseSettings) for own in settings)
    ids = labels_by_hand(examples, column, len(labels["source"][column]), prefix=prefix)
    batch = make_batch(examples, np.arange(6), model.components)
    check_logits(model, batch, lambda row: LabelHeadOracle(model, settings, ids[row]))


@pytest.mark.parametrize(
    ("xpos", "column"), [(["<none>", "<unk>", "NNFS1-----A----"], "xpos"), (["<none>", "<unk>"], "upos")]
)
def test_pos_is_the_language_specific_tag_if_there_is_one(labels, xpos, column):
    changed = {"source": {**labels["source"], "xpos": xpos}}
    (component,) = build_components(by_name(LabelHeadSettings(labels="pos")), TransformerSettings(), changed)
    assert component.label_column == column
    assert component.embedding.num_embeddings == len(changed["source"][column]) + 2


@pytest.mark.parametrize(
    ("settings", "vocabularies", "labels"),
    [
        (LabelHeadSettings(labels="deprel"), {"source": {"deprel": ["<none>", "<unk>"]}}, "deprel of the source"),
        (TagAttentionSettings(), None, "ccg of the target"),
    ],
)
def test_a_missing_or_empty_vocabulary_is_a_user_error(settings, vocabularies, labels):
    with pytest.raises(UserError, match=rf"reads the {labels}'s words, but there are no such labels"):
        build_components(by_name(settings), TransformerSettings(), vocabularies)


class LabelledEmbeddingsOracle(TransformerOracle):
    """The oracle of one sentence where the embeddings of labels replace the last dimensions of those of tokens."""

    def __init__(self, model, labels):
        super().__init__(model)
        self.labels = labels

    def scaled_embeddings(self, name, ids):
        embedded = super().scaled_embeddings(name, ids)
        if name == "source_embedding":
            for row, label in zip(embedded, self.labels, strict=True):
                vector = self.values["components.0.embedding.weight"][label]
                row[-len(vector) :] = vector
        return embedded


@pytest.mark.parametrize(("width", "prefix"), [(10, 0), (3, 0), (10, 1)])
def test_logits_with_labels_in_embeddings_equal_those_of_the_oracle(make, draw, labels, width, prefix):
    model = make(SennrichHaddowSettings(width=width), *[DepParseSettings(layer=1)] * prefix, seed=2)
    examples = draw(6, seed=8)
    ids = labels_by_hand(examples, "deprel", len(labels["source"]["deprel"]), prefix=prefix)
    batch = make_batch(examples, np.arange(6), model.components)
    check_logits(model, batch, lambda row: LabelledEmbeddingsOracle(model, ids[row]))
