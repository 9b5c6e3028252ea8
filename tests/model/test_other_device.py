"""An update and a step of a search compute on the device that they are given, without a value of it on the host.

The device is PyTorch's "meta", which has shapes but no values: to mix it with the CPU, or to read a value, is an error.
"""

from contextlib import nullcontext
from dataclasses import replace

import pytest
import torch

from nmtcore.config.components import COMPONENTS
from nmtcore.config.training import TrainingSettings
from nmtcore.inference.search import best_extensions, exclude_never_generated, log_probabilities
from nmtcore.model.batch import make_batch
from nmtcore.training import update

# The recurrent base needs lengths on the host; marginals of trees are checked there.
NAMES = [name for name, settings in COMPONENTS.items() if "transformer" in settings.bases and name != "tree_head"]
DEVICE = torch.device("meta")


@pytest.mark.parametrize("name", [None, *sorted(NAMES)])
def test_nothing_is_mixed_with_the_cpu_or_read(name, make, example, draw, monkeypatch):
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())  # torch has none for this device
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda device_type: False)
    components = [example(name)] if name else []
    if name == "pascal":
        components = [replace(components[0], ignoring=0.5)]
    model, settings = make(*components).train().to(DEVICE), TrainingSettings(max_updates=2)
    batches = [make_batch(draw(6, seed=3), rows, model.components, DEVICE) for rows in ([0, 1, 2], [3, 4, 5])]
    counts = update.count_terms(batches, update.term_names(model.components))
    sums = update.accumulate_gradients(model, batches, counts, settings, DEVICE)
    assert {total.device for total in sums.values()} == {DEVICE}
    assert torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).device == DEVICE
    with torch.inference_mode():
        state = model.eval().start(model.encode(batches[0]))
        next_RV = log_probabilities(model.step(torch.zeros(3, dtype=torch.int64, device=DEVICE), state))
        next_BMV = exclude_never_generated(next_RV)[:, None]
        _, beam_BC, _ = best_extensions(torch.zeros(3, 1, device=DEVICE), next_BMV, count=4)
        state.select(beam_BC)
        state.select(beam_BC[:2], torch.zeros(2, dtype=torch.int64, device=DEVICE))
        assert model.step(torch.zeros(8, dtype=torch.int64, device=DEVICE), state).device == DEVICE
