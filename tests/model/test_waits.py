"""How often the host waits for the device, and that results on another device are those of the CPU."""

import copy

import pytest
import torch
from emulated_device import DEVICE, Emulator, emulated_device, move
from torch import Tensor

from nmtcore.config.components import COMPONENTS
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.inference import beam
from nmtcore.inference.beam import Hypothesis
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import make_batch
from nmtcore.training.optimiser import Adam, clip_gradient
from nmtcore.training.update import accumulate_gradients, count_terms, term_names

SETTINGS = TrainingSettings(max_updates=2, clip_norm=1.0)


def second_update(model: TranslationModel, examples, device: str | torch.device, emulator=None) -> list[Tensor]:
    """Do two updates of two batches; return the sums and gradients, and let `emulator` count the second one's waits.

    The first one makes what all others use again, such as the table of positions.
    """
    batches = [make_batch(examples, rows, model.components, device) for rows in ([0, 1, 2], [3, 4, 5])]
    parameters, names = dict(model.named_parameters()), term_names(model.components)
    optimiser = Adam(parameters, SETTINGS)
    for _ in range(2):
        if emulator:
            emulator.waits.clear()
        sums = accumulate_gradients(model, batches, count_terms(batches, names), SETTINGS, torch.device(device))
        clip_gradient(list(parameters.values()), SETTINGS.clip_norm)
        gradients = [parameter.grad for parameter in parameters.values()]
        optimiser.step(rate=0.0)
    return [sums, *gradients]


# Recurrent models need kernels that exist on GPUs only.
TRANSFORMERS = [None, *sorted(name for name, settings in COMPONENTS.items() if "transformer" in settings.bases)]


@pytest.fixture(params=TRANSFORMERS)
def model(request, make, example) -> TranslationModel:
    return make(*([example(request.param)] if request.param else []))


def test_an_update_never_waits(model, draw):
    examples = draw(6, seed=3)
    expected = second_update(copy.deepcopy(model), examples, "cpu")
    with emulated_device() as emulator:
        results = second_update(move(model), examples, DEVICE, emulator)
        # Except for trees: scores that no inverse can be trusted for need another route, and overflow is an error.
        files = {where.partition(":")[0] for where in emulator.waits}
        trees = any(component.name == "tree_head" for component in model.components)
        assert files == ({"nmtcore/model/matrix_tree.py"} if trees else set())
    for result, on_cpu in zip(results, expected, strict=True):
        torch.testing.assert_close(result.values, on_cpu)


def search(model: TranslationModel, examples, settings, device: str | torch.device) -> list[list[Hypothesis]]:
    encoded = model.encode(make_batch(examples, range(len(examples)), model.components, device))
    limits_B = torch.tensor(beam.length_limits(settings, examples.source.subword_counts.tolist()))
    # The emulator has no inference mode.
    return beam.beam_search.__wrapped__(model, encoded, settings, limits_B=limits_B.to(device))


class Steps:
    """Counts the waits of each step of a search."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator, self.waits, self.step = emulator, [], beam._Search.step

    def __call__(self, search) -> None:
        before = self.emulator.waits.total()
        self.step(search)
        self.waits.append(self.emulator.waits.total() - before)


@pytest.mark.parametrize("width", [1, 4])
@torch.no_grad()
def test_a_step_of_a_search_waits_once(width, model, draw, monkeypatch):
    examples, settings = draw(5, seed=4), DecodingSettings(beam=width)
    expected = search(model, examples, settings, "cpu")
    with emulated_device() as emulator:
        steps = Steps(emulator)
        monkeypatch.setattr(beam._Search, "step", lambda search: steps(search))
        hypotheses = search(move(model), examples, settings, DEVICE)
    assert [[h.tokens for h in best] for best in hypotheses] == [[h.tokens for h in best] for best in expected]
    assert set(steps.waits[1:]) == {1}, emulator.waits


def test_waits_are_counted_with_their_line():
    with emulated_device() as emulator:
        values = torch.tensor([0.0, 2.0]).to(DEVICE)
        assert not emulator.waits.pop("outside the package: copy between host and device") - 1
        assert not torch.tensor([1]).to(DEVICE, non_blocking=True).sum().isnan().values
        assert not emulator.waits
        assert (values[values > 1] * 2).tolist() == [4.0]
        assert float(values.sum()) == 2.0
        values.nonzero()
        with pytest.raises(RuntimeError, match="mixes tensors of the device with others"):
            values + torch.ones(2)
    assert sorted(name.partition(": ")[2] for name in emulator.waits) == [
        "_local_scalar_dense", "index by a mask, or by a tensor of the host", "nonzero", "tolist",
    ]  # fmt: skip
