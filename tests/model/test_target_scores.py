"""Log-probabilities of translations by every component, on every base that it fits: against steps of single tokens."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from nmtcore.config.bases import BASES
from nmtcore.config.components import COMPONENTS
from nmtcore.inference.scoring import score_targets
from nmtcore.model.batch import make_batch
from nmtcore.segmentation.vocabulary import BOS, EOS

CASES = [(name, base) for name, cls in sorted(COMPONENTS.items()) for base in cls.bases] + [(None, b) for b in BASES]


@torch.no_grad()
def sum_of_steps(model, examples, row):
    """Add up the log-probabilities of single tokens, each from a step of the search for one sentence."""
    source = replace(examples, target=None)
    state = model.start(model.encode(make_batch(source, np.array([row]), model.components)))
    total, newest = 0.0, BOS
    for token in [*examples.target.ids[row].tolist(), EOS]:
        logits_RV = model.step(torch.tensor([newest]), state)
        total += logits_RV[0].softmax(dim=0)[token].log().item()
        newest = token
    return total


@pytest.mark.parametrize(("name", "base"), CASES)
def test_a_sum_equals_steps_of_single_tokens(name, base, example, make, draw):
    components = () if name is None else (example(name),)
    model, examples = make(*components, base=base, encoder_layers=6), draw(5, seed=7)
    scores = score_targets(model, examples)
    # Given translations, unlike references, come without tags.
    without_tags = replace(examples, target=replace(examples.target, features={}))
    assert score_targets(model, without_tags) == scores
    for row, score in enumerate(scores):
        assert score.log_probability == pytest.approx(sum_of_steps(model, examples, row), abs=1e-9)
