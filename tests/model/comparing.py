"""Comparisons of a model with loops over one sentence, and with the baseline."""

from collections.abc import Callable

import numpy as np
import torch
from factories import forced_logits, target_mask
from oracles import TransformerOracle

from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch


def check_logits(model: TranslationModel, batch: Batch, oracle_of: Callable[[int], TransformerOracle]) -> None:
    """Compare the logits of every sentence with those that the oracle of its row computes."""
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
