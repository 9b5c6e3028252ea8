"""Tests of heads and of embeddings made from labels, against their equations in loops."""

import math

import numpy as np
import pytest
import torch
from named_components import by_name
from oracles import sinusoid_table

from nmtcore.config.bases import TransformerSettings
from nmtcore.config.components.settings import (
    DepParseSettings,
    LabelHeadSettings,
    RelativePositionsSettings,
    SennrichHaddowSettings,
    TagAttentionSettings,
)
from nmtcore.errors import UserError
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_components
from nmtcore.model.components.base import Context

LABEL_COLUMNS = ["upos", "xpos", "deprel"]


def labels_by_hand(examples, label_column, count, *, prefix=0):
    """Return the label id of every token, sentence by sentence."""
    ids = []
    for row in range(len(examples)):
        word_labels = examples.source.features[label_column][row]
        subword_labels = [int(word_labels[word]) for word in examples.source.word_of_subword[row]]
        ids.append([count + 1] * prefix + subword_labels + [count])
    return ids


def attention_by_hand(model, head, states_SD, labels, claimed, pair=lambda i, j: 0):
    """Compute multi-head attention of one sentence in double loops; the claimed head compares labels.

    `pair(i, j)` is a vector that is added to key j for query i.
    """
    attention = model.encoder[0].attention
    width, heads = model.settings.width, model.settings.heads
    size = width // heads
    packed = attention.queries_keys_values
    projected = states_SD @ packed.weight.detach().numpy().T + packed.bias.detach().numpy()
    table, wq, wk = (m.weight.detach().numpy() for m in (head.embedding, head.queries, head.keys))
    bq, bk = head.queries.bias.detach().numpy(), head.keys.bias.detach().numpy()
    mixed = np.zeros((len(states_SD), width))
    for h in range(heads):
        columns = slice(h * size, (h + 1) * size)
        query, key, value = (part[:, columns] for part in np.split(projected, 3, axis=1))
        for i in range(len(states_SD)):
            scores = []
            for j in range(len(states_SD)):
                q, k = query[i], key[j]
                if h == claimed:
                    q = wq @ (table[labels[i]] * math.sqrt(width)) + bq
                    k = wk @ (table[labels[j]] * math.sqrt(width)) + bk
                scores.append(q @ (k + pair(i, j)) / math.sqrt(size))
            weights = np.exp(np.array(scores) - max(scores))
            mixed[i, columns] = sum(w * v for w, v in zip(weights / weights.sum(), value, strict=True))
    return mixed @ attention.output.weight.detach().numpy().T + attention.output.bias.detach().numpy()


def layer_0(model, batch, seed=0):
    """Run the first attention layer on random states; return states and output."""
    generator = torch.Generator().manual_seed(seed)
    states = torch.randn(*batch.source_BS.shape, model.settings.width, dtype=torch.float64, generator=generator)
    context = Context(mask_BS=batch.source_mask_BS, extra=batch.extra)
    with torch.no_grad():
        return states, model.encoder[0].attention(states, context, mask_B11K=batch.source_mask_BS[:, None, None])


@pytest.mark.parametrize("label_column", LABEL_COLUMNS)
@pytest.mark.parametrize(("head", "prefix"), [(-1, 0), (1, 0), (-1, 1)])
def test_output_equals_the_equation(make, draw, labels, label_column, head, prefix):
    settings = [LabelHeadSettings(labels=label_column, head=head), *[DepParseSettings(layer=1)] * prefix]
    model, examples = make(*settings, seed=3), draw(8, seed=11)
    batch = make_batch(examples, np.arange(8), model.components)
    states, output = layer_0(model, batch)
    by_hand = labels_by_hand(examples, label_column, len(labels["source"][label_column]), prefix=prefix)
    for row, ids in enumerate(by_hand):
        expected = attention_by_hand(model, model.components[0], states[row, : len(ids)].numpy(), ids, head % 4)
        np.testing.assert_allclose(output[row, : len(ids)], expected, atol=1e-12)


@pytest.mark.parametrize("order", [1, -1])
def test_relative_positions_apply_to_the_label_head(make, draw, labels, order):
    settings = [RelativePositionsSettings(maximum=2), LabelHeadSettings(labels="deprel")][::order]
    model, examples = make(*settings, seed=3), draw(8, seed=11)
    relative, head = model.components[::order]
    table = relative.keys["encoder"][0].weight.detach().numpy()
    batch = make_batch(examples, np.arange(8), model.components)
    states, output = layer_0(model, batch)
    for row, ids in enumerate(labels_by_hand(examples, "deprel", len(labels["source"]["deprel"]))):
        expected = attention_by_hand(
            model,
            head,
            states[row, : len(ids)].numpy(),
            ids,
            claimed=3,
            pair=lambda i, j: table[j - i + 2 if abs(j - i) <= 2 else 5],
        )
        np.testing.assert_allclose(output[row, : len(ids)], expected, atol=1e-12)


def test_words_without_annotation_unknown_labels_and_the_end_have_different_ids(make, draw, labels):
    model, examples = make(LabelHeadSettings(labels="deprel")), draw(3, seed=4)
    column = examples.source.features["deprel"]
    column.values[:] = 2
    column.values[: column.offsets[1]] = 0
    column.values[column.offsets[1] : column.offsets[2]] = 1
    ids = make_batch(examples, np.arange(3), model.components).extra["label_head.labels"]
    lengths, end = examples.source.ids.lengths, len(labels["source"]["deprel"])
    for row, label in enumerate([0, 1, 2]):
        assert ids[row].tolist()[: lengths[row] + 1] == [label] * lengths[row] + [end]


@pytest.mark.parametrize(
    ("xpos", "column"), [(["<none>", "<unk>", "NNFS1-----A----"], "xpos"), (["<none>", "<unk>"], "upos")]
)
def test_pos_is_the_language_specific_tag_if_there_is_one(labels, xpos, column):
    changed = {"source": {**labels["source"], "xpos": xpos}}
    (component,) = build_components(by_name(LabelHeadSettings(labels="pos")), TransformerSettings(), changed)
    assert component.label_column == column
    assert component.embedding.num_embeddings == len(changed["source"][column]) + 2


NO_LABELS = ["<none>", "<unk>"]


@pytest.mark.parametrize(
    "vocabularies", [None, {"target": {"deprel": [*NO_LABELS, "x"]}}, {"source": {"deprel": NO_LABELS}}]
)
@pytest.mark.parametrize(
    ("settings", "labels"),
    [
        (LabelHeadSettings(labels="deprel"), "deprel of the source"),
        (SennrichHaddowSettings(), "deprel of the source"),
        (TagAttentionSettings(), "ccg of the target"),
    ],
)
def test_a_missing_or_empty_vocabulary_is_a_user_error(vocabularies, settings, labels):
    with pytest.raises(UserError, match=rf"reads the {labels}'s words, but there are no such labels"):
        build_components(by_name(settings), TransformerSettings(), vocabularies)


@pytest.mark.parametrize(("width", "prefix"), [(10, 0), (3, 0), (10, 1)])
def test_embeddings_equal_the_definition(make, draw, labels, width, prefix):
    model = make(SennrichHaddowSettings(width=width), *[DepParseSettings(layer=1)] * prefix, seed=2)
    examples = draw(6, seed=8)
    batch, inputs = make_batch(examples, np.arange(6), model.components), []
    model.encoder[0].register_forward_pre_hook(lambda _, arguments: inputs.append(arguments[0]))
    with torch.no_grad():
        model.encode(batch)
    token_table, label_table = model.source_embedding.weight.detach(), model.components[0].embedding.weight.detach()
    ((states,), count) = inputs, len(labels["source"]["deprel"])
    positions = sinusoid_table(states.size(1), 16)
    for row, ids in enumerate(labels_by_hand(examples, "deprel", count, prefix=prefix)):
        for column, label in enumerate(ids):
            for i in range(16):
                scaled = token_table[batch.source_BS[row, column], i] * 4
                expected = scaled if i < 16 - width else label_table[label, i - (16 - width)]
                assert abs(states[row, column, i] - expected - positions[column, i]) < 1e-12
