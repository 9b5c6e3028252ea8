"""How often the host waits for the device, and that results on another device are those of the CPU."""

import copy

import pytest
import torch
from emulated_device import DEVICE, Emulator, emulated_device, move
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from training import tiny

from nmtcore.config.components import COMPONENTS
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.inference import beam, greedy
from nmtcore.inference.hypotheses import Hypothesis, length_limits
from nmtcore.model import base
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import make_batch
from nmtcore.training import update
from nmtcore.training.distributed import World
from nmtcore.training.loop import Trainer
from nmtcore.training.optimiser import Adam, clip_gradient
from nmtcore.training.prefetching import Prefetcher
from nmtcore.training.reporter import Reporter
from nmtcore.training.resume import ActiveRun
from nmtcore.training.schedules import make_schedule
from nmtcore.training.state import TrainingState
from nmtcore.training.training_data import prepare_training_data
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


# Searches of recurrent models need kernels that exist on GPUs only.
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


class InPlaceOfAnLSTM(nn.Module):
    """Reads and returns what an LSTM of both directions does, whose kernels exist on GPUs only."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, packed: PackedSequence) -> tuple[PackedSequence, tuple[Tensor, Tensor]]:
        assert packed.sorted_indices is None
        states = self.linear(packed.data)
        last = states[: packed.batch_sizes[0]].unflatten(-1, (2, -1)).transpose(0, 1)
        return packed._replace(data=states), (last, last)


def trainer_of(run, folder, device: torch.device) -> Trainer:
    """Make a trainer that has planned its first epoch."""
    model = tiny.model_of(run).train()
    if run.base == "recurrent":
        model.encoder = nn.ModuleList(InPlaceOfAnLSTM(run.model.width) for _ in model.encoder)
    model = move(model) if device == DEVICE else model
    world, state, names = World(device=device), TrainingState(), term_names(model.components)
    optimiser = Adam(dict(model.named_parameters()), run.training)
    schedule = make_schedule(run.training.schedule)
    trainer = Trainer(
        run=run,
        data=prepare_training_data(run, model, tiny.examples(60), tiny.examples(5, seed=1), print),
        active=ActiveRun(state=state, model=model, optimiser=optimiser, schedule=schedule),
        checkpoints=None,
        world=world,
        signals=None,
        lock=None,
        reporter=Reporter(folder, names=names, state=state, world=world, log=print),
        prefetcher=Prefetcher(ahead=0, device=device),
        validate=None,
        log=print,
    )
    trainer.plan_epoch_if_new()
    return trainer


@pytest.mark.parametrize(
    "settings", [{}, {"precision": "bf16"}, {"precision": "bf16", "loss_chunk": 8}, {"recurrent": True}], ids=str
)
def test_a_step_of_training_never_waits(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(update, "used_precision", lambda settings, device: settings.precision)
    monkeypatch.setattr(base, "added_entries", lambda entries, device: -entries % 64 if device == DEVICE else 0)
    options = {"parses": "recurrent" not in settings, "dropout": 0.0, "clip_norm": 1.0, "batch": {"device_size": 80}}
    run = tiny.settings(**options | settings)
    on_cpu = trainer_of(run, tmp_path / "cpu", torch.device("cpu"))
    for _ in range(3):
        on_cpu.step()
    with emulated_device() as emulator:
        trainer = trainer_of(run, tmp_path / "device", DEVICE)
        assert (trainer.copies is None) == ("precision" not in settings)
        for _ in range(3):
            emulator.waits.clear()
            trainer.step()
        # Batches come from pinned memory, which the emulator lacks; induced trees are checked.
        files = {where.partition(":")[0] for where in emulator.waits} - {"nmtcore/model/batch.py"}
        assert files == ({"nmtcore/model/matrix_tree.py"} if "recurrent" in settings else set())
    tolerance = {"rtol": 0.05, "atol": 0.01} if "precision" in settings else {}
    pairs = zip(trainer.reporter._updates, on_cpu.reporter._updates, strict=True)
    for own, expected in pairs:
        torch.testing.assert_close(own.sums.values, expected.sums, **tolerance)
        torch.testing.assert_close(own.gradient_norm.values, expected.gradient_norm, **tolerance)


def search(model: TranslationModel, examples, settings, device: str | torch.device) -> list[list[Hypothesis]]:
    encoded = model.encode(make_batch(examples, range(len(examples)), model.components, device))
    limits_B = torch.tensor(length_limits(settings, examples.source.subword_counts.tolist()))
    # The emulator has no inference mode.
    return beam.beam_search.__wrapped__(model, encoded, settings, limits_B=limits_B.to(device))


class Steps:
    """Counts the waits of each step of a search."""

    def __init__(self, emulator: Emulator, step) -> None:
        self.emulator, self.waits, self.step = emulator, [], step

    def __call__(self, search) -> None:
        before = self.emulator.waits.total()
        self.step(search)
        self.waits.append(self.emulator.waits.total() - before)


@pytest.mark.parametrize("width", [1, 4])
@torch.no_grad()
def test_a_step_of_a_search_waits_once(width, model, draw, monkeypatch):
    examples, settings = draw(5, seed=4), DecodingSettings(beam=width, max_length=7)
    expected = search(model, examples, settings, "cpu")
    with emulated_device() as emulator:
        searching = greedy._Search if width == 1 else beam._Search
        steps = Steps(emulator, searching.step)
        monkeypatch.setattr(searching, "step", lambda search: steps(search))
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
