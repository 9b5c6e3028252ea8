"""Tests of batches against lists written out by hand."""

from dataclasses import replace

import numpy as np
import torch
from factories import target_mask
from hypothesis import given, settings
from hypothesis import strategies as st

from nmtcore.config.components.settings import DepParseSettings
from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import make_batch


@given(seed=st.integers(0, 1000), rows=st.lists(st.integers(0, 5), min_size=1, max_size=6), prefixed=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_batch_is_its_rows_padded_on_the_right(make, draw, seed, rows, prefixed):
    examples = draw(6, seed=seed)
    components = make(DepParseSettings(layer=0)).components if prefixed else ()
    batch = make_batch(examples, np.array(rows), components)
    sources = [[4] * prefixed + examples.source.ids[r].tolist() + [3] for r in rows]
    targets = [examples.target.ids[r].tolist() for r in rows]
    words = [[NO_WORD] * prefixed + examples.source.word_of_subword[r].tolist() + [NO_WORD] for r in rows]
    assert batch.source_words_BS.tolist() == [w + [NO_WORD] * (batch.source_BS.size(1) - len(w)) for w in words]
    assert batch.source_lengths_B.tolist() == [len(s) for s in sources]
    assert batch.ids_B.tolist() == rows
    _check_ids_and_mask(batch.source_BS, batch.source_mask_BS, sources)
    _check_ids_and_mask(batch.target_input_BT, target_mask(batch), [[2, *t] for t in targets])
    _check_ids_and_mask(batch.target_output_BT, target_mask(batch), [[*t, 3] for t in targets])
    assert batch.tokens == batch.counts["translation"] == sum(len(t) + 1 for t in targets)
    real = batch.target_output_BT.flatten()[batch.target_positions_N]
    assert real.tolist() == [i for t in targets for i in [*t, 3]]


def _check_ids_and_mask(ids, mask, expected):
    width = max(map(len, expected))
    assert ids.dtype == torch.int64
    assert ids.tolist() == [row + [0] * (width - len(row)) for row in expected]
    assert mask.tolist() == [[True] * len(row) + [False] * (width - len(row)) for row in expected]


def test_a_batch_has_losses_and_counts_only_for_the_requested_terms(make, draw):
    model, examples = make(DepParseSettings(layer=0)), draw(6, seed=1)
    whole = model.loss(make_batch(examples, np.arange(6), model.components))
    assert model.parser_terms == {"depparse"}
    for number, name in enumerate(("translation", "depparse")):
        batch = make_batch(examples, np.arange(6), model.components, terms=frozenset([name]))
        assert set(batch.counts) == {name}
        (part,) = model.loss(batch).parts
        assert (part.name, part.count) == (name, whole.parts[number].count)
        torch.testing.assert_close(part.sum, whole.parts[number].sum)


def test_without_targets_there_is_no_translation_loss(make, draw):
    model, examples = make(DepParseSettings(layer=0)), draw(6, seed=1)
    whole = model.loss(make_batch(examples, np.arange(6), model.components))
    losses = model.loss(make_batch(replace(examples, target=None), np.arange(6), model.components))
    assert [part.name for part in losses.parts] == ["depparse"]
    torch.testing.assert_close(losses.parts[0].sum, whole.parts[1].sum)
    assert losses.nll_sum.item() == 0
    losses.objective().backward()
    assert model.target_embedding.weight.grad is None or model.source_embedding is model.target_embedding
