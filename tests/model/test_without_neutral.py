"""Components that no setting turns off, and why: a model with one is never the baseline, whatever its parameters."""

import numpy as np
import pytest
import torch

from nmtcore.config.components import COMPONENTS
from nmtcore.model.batch import make_batch

WITHOUT_NEUTRAL = {
    "label_head": "the head's queries and keys are replaced: with all parameters 0 it attends to all tokens alike",
    "sennrich_haddow": "the last dimensions are overwritten: with all parameters 0 they lose what the token had there",
    "sisa": "the head's queries and keys are replaced: with all parameters 0 it attends to all tokens alike",
}
"""Component: why."""


@pytest.mark.parametrize("name", sorted(WITHOUT_NEUTRAL))
def test_without_strength_it_is_not_the_baseline(name, example, make, draw):
    model, plain = make(example(name)), make()
    plain.load_state_dict({k: v for k, v in model.state_dict().items() if not k.startswith("components.")})
    batch = make_batch(draw(3, seed=1), np.arange(3), model.components)
    with torch.no_grad():
        for parameter in model.components.parameters():
            parameter.zero_()
        assert not torch.allclose(model.encode(batch).memory_BSD, plain.encode(batch).memory_BSD, atol=1e-3)


def test_the_list_names_components():
    assert set(WITHOUT_NEUTRAL) <= set(COMPONENTS)
