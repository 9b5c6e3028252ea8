"""Tests of components that equal the baseline at no setting; all others have a neutral setting in their own tests."""

import numpy as np
import pytest
import torch
from factories import forced_logits

from nmtcore.model.batch import make_batch

WITHOUT_NEUTRAL = {
    "depparse": "`<ROOT>` is added to the source, even with weight 0 (but not with `root: itself`)",
    "label_head": "the head's queries and keys are replaced: with all parameters 0 it attends to all tokens alike",
    "sennrich_haddow": "the last dimensions are overwritten: with all parameters 0 that part of the embedding is lost",
    "tree_head": "no subword attends to `</s>`: with all scores 0 it attends to all subwords alike",
    "sisa": "the head's scores are replaced: with all parameters 0 it attends to all tokens alike",
}


@pytest.mark.parametrize("name", sorted(WITHOUT_NEUTRAL))
def test_parameters_of_zero_do_not_equal_the_baseline(name, example, make, draw):
    model, plain, examples = make(example(name)), make(), draw(3, seed=1)
    plain.load_state_dict({k: v for k, v in model.state_dict().items() if not k.startswith("components.")})
    with torch.no_grad():
        for parameter in model.components.parameters():
            parameter.zero_()
        logits = [forced_logits(own, make_batch(examples, np.arange(3), own.components)) for own in (model, plain)]
    assert not torch.allclose(*logits, atol=1e-3)
