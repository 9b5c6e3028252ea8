"""Decoding of random tokens, step by step, at all precisions."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from nmtcore.features.examples import Examples
from nmtcore.inference.int8 import use_int8
from nmtcore.model.batch import make_batch
from nmtcore.model.transformer import Transformer


def at_precision(model: Transformer, precision: str) -> Transformer:
    """Convert a model to a type of torch's, or its matrix products to "int8"."""
    if precision == "int8":
        use_int8(model.float())
        return model
    return model.to(getattr(torch, precision))


def step_logits(
    model: Transformer, examples: Examples, *, beams: int = 1, positions: int = 3
) -> tuple[list[Tensor], Sequence[Callable[..., Tensor]]]:
    """Decode random tokens for each beam; beams change their order, and all sentences but 2 and 0 are dropped.

    Returns the logits of each position, and the layers' steps.
    """
    encoded = model.encode(make_batch(examples, range(len(examples)), model.components, "cpu"))
    state, random = model.start(encoded), torch.Generator().manual_seed(1)
    logits = []
    for position in range(positions):
        tokens_R = torch.randint(5, 20, (state.sentences * state.beams,), generator=random)
        logits.append(model.step(tokens_R, state))
        if position == 1:
            state.select(torch.randint(state.beams, (2, beams), generator=random), torch.tensor([2, 0]))
        else:
            state.select(torch.randint(state.beams, (state.sentences, beams), generator=random))
    return logits, state.steps
