"""Comparisons of a model with loops over one sentence, with the baseline, and with itself in other batches."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from factories import forced_logits, target_mask
from oracles import Oracle, dropout_factors
from torch import Tensor

from nmtcore.features.examples import Examples
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch, make_batch
from nmtcore.segmentation.vocabulary import BOS


@contextmanager
def fixed_dropout() -> Iterator[None]:
    """Replace dropout in models, also that of the fused kernel's weights, by the factors of the oracles."""
    fused = F.scaled_dot_product_attention

    def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        return x * torch.from_numpy(dropout_factors(x.size(-1), p)) if training else x

    def attention(queries: Tensor, keys: Tensor, values: Tensor, *, dropout_p: float = 0.0, **options: Any) -> Tensor:
        # A factor of the weight of a key is a factor of its value.
        return fused(queries, keys, dropout(values.mT, dropout_p).mT, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(F, "dropout", dropout)
        patch.setattr(F, "scaled_dot_product_attention", attention)
        yield


def check_logits(
    model: TranslationModel,
    batch: Batch,
    oracle_of: Callable[[int], Oracle],
    *,
    training: Sequence[bool] = (True, False),
) -> None:
    """Compare the logits of every sentence, in training and in evaluation, with those of the oracle of its row."""
    for mode in training:
        model.train(mode)
        with fixed_dropout():
            logits_BTV = forced_logits(model, batch).detach().numpy()
        for row in range(len(batch)):
            source = batch.source_BS[row][batch.source_mask_BS[row]].tolist()
            target = batch.target_input_BT[row][target_mask(batch)[row]].tolist()
            expected_TV = oracle_of(row).logits(source, target)
            np.testing.assert_allclose(logits_BTV[row, : len(target)], expected_TV, rtol=1e-8, atol=1e-9)


def check_baseline(model: TranslationModel, plain: TranslationModel, batch: Batch) -> None:
    """Give a model without the components the same weights; compare logits, the objective and all gradients."""
    plain.load_state_dict({k: v for k, v in model.state_dict().items() if not k.startswith("components.")})
    torch.testing.assert_close(forced_logits(model, batch), forced_logits(plain, batch))
    objectives = [compared.loss(batch, label_smoothing=0.1).objective() for compared in (model, plain)]
    torch.testing.assert_close(*objectives)
    for objective in objectives:
        objective.backward()
    gradients = dict(model.named_parameters())
    for name, parameter in plain.named_parameters():
        torch.testing.assert_close(gradients[name].grad, parameter.grad)


def check_batching(model: TranslationModel, examples: Examples) -> None:
    """Compare outputs, losses and counts with those of every sentence alone: padding and order change nothing."""
    order = np.random.default_rng(1).permutation(len(examples))
    with torch.no_grad():
        together = make_batch(examples, order, model.components)
        logits_BTV, losses = forced_logits(model, together), model.loss(together, label_smoothing=0.1)
        alone = [make_batch(examples, np.array([row]), model.components) for row in order]
        for together_TV, own in zip(logits_BTV, alone, strict=True):
            alone_TV = forced_logits(model, own)[0]
            torch.testing.assert_close(together_TV[: len(alone_TV)], alone_TV)
        parts = [model.loss(own, label_smoothing=0.1).parts for own in alone]
    for part, *own in zip(losses.parts, *parts, strict=True):
        torch.testing.assert_close(part.sum, sum(each.sum for each in own))
        assert part.count == sum(each.count for each in own) == together.counts[part.name]


def check_steps(model: TranslationModel, examples: Examples) -> None:
    """Compare steps for two beams of three sentences with whole targets."""
    batch = make_batch(examples, np.arange(3), model.components)
    tokens_B2T = torch.randint(5, 23, (3, 2, 4), generator=torch.Generator().manual_seed(0))
    tokens_B2T[:, :, 0] = BOS
    # Sentence 0 swaps its beams, 1 duplicates its second beam, 2 keeps both; then sentence 1 finishes.
    origins_B2, kept = torch.tensor([[1, 0], [1, 1], [0, 1]]), [0, 2]
    with torch.no_grad():
        context = model.encode(batch)
        state = model.start(context)
        first = model.step(tokens_B2T[:, 0, 0], state)
        state.select(torch.zeros(3, 2, dtype=torch.long))
        second, third = (model.step(tokens_B2T[:, :, t].flatten(), state).view(3, 2, -1) for t in (1, 2))
        state.select(origins_B2)
        state.select(torch.tensor([[0, 1], [0, 1]]), torch.tensor(kept))
        last = model.step(tokens_B2T[kept, :, 3].flatten(), state).view(2, 2, -1)
        for beam in range(2):
            whole_BTV = model.logits(model.decode(tokens_B2T[:, beam], context), context)
            stepped = torch.stack([first, second[:, beam], third[:, beam]], dim=1)
            torch.testing.assert_close(stepped, whole_BTV[:, :3])
            tokens_BT = torch.cat([tokens_B2T[range(3), origins_B2[:, beam], :3], tokens_B2T[:, beam, 3:]], dim=1)
            whole_BTV = model.logits(model.decode(tokens_BT, context), context)
            torch.testing.assert_close(last[:, beam], whole_BTV[kept, 3])
