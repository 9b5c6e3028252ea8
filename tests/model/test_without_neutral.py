"""Which components a setting turns off (their own tests prove it), and which none does, and why."""

import numpy as np
import pytest
import torch

from nmtcore.config.components import COMPONENTS
from nmtcore.model.batch import make_batch

ZEROS = "tables of zeros: the baseline without positions, where the labels stand for them"
NEUTRAL = {
    "diagonalparse": "weight 0",
    "pascal": "every parent ignored",
    "relative_positions": ZEROS,
    "tree_distance": ZEROS,
    "tree_traversal": ZEROS,
}
WITHOUT_NEUTRAL = {
    "depparse": "`<ROOT>` stands before the source, also with weight 0",
    "label_head": "the head's queries and keys are replaced: with all parameters 0 it attends to all tokens alike",
    "sennrich_haddow": "the last dimensions are overwritten: with all parameters 0 they lose what the token had there",
    "sisa": "the head's scores are replaced: with all parameters 0 it attends to all tokens alike",
}


def test_every_component_is_listed_once():
    assert sorted([*NEUTRAL, *WITHOUT_NEUTRAL]) == sorted(COMPONENTS)


def logits(model, examples):
    batch = make_batch(examples, np.arange(len(examples)), model.components)
    with torch.no_grad():
        encoded = model.encode(batch)
        return model.logits(model.decode(batch.target_input_BT, encoded), encoded.context)


@pytest.mark.parametrize("name", sorted(WITHOUT_NEUTRAL))
def test_without_strength_it_is_not_the_baseline(name, example, make, draw):
    model, plain, examples = make(example(name)), make(), draw(3, seed=1)
    plain.load_state_dict({k: v for k, v in model.state_dict().items() if not k.startswith("components.")})
    with torch.no_grad():
        for parameter in model.components.parameters():
            parameter.zero_()
    assert not torch.allclose(logits(model, examples), logits(plain, examples), atol=1e-3)
