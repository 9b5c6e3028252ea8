"""One update: its gradient, independent of the number of micro-batches and devices, the step of Adam, its log line."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from nmtcore.config.training import TrainingSettings
from nmtcore.errors import UserError
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import Component
from nmtcore.model.losses import TRANSLATION, Losses
from nmtcore.model.trees import TooLongForTrees
from nmtcore.training.log import TRANSLATION_LOSS
from nmtcore.training.world import World

OPERATIONS = 6
"""Per entry of a weight matrix and token: a multiplication and an addition forward, and twice as many backward."""


def term_names(components: Sequence[Component]) -> tuple[str, ...]:
    """Name the terms of the objective: the translation's, then those of the components that have a loss."""
    return (TRANSLATION, *(c.name for c in components if c.has_loss))


def count_terms(batches: Sequence[Batch], names: Sequence[str]) -> dict[str, int]:
    """Count what each term of the objective is a sum over: target tokens, or the words that a component supervises.

    A batch that does not train a term adds nothing to its count.
    """
    return {name: sum(batch.counts.get(name, 0) for batch in batches) for name in names}


def accumulate_gradients(
    model: nn.Module,
    batches: Sequence[Batch],
    counts: Mapping[str, float],
    settings: TrainingSettings,
    device: torch.device,
    *,
    log: Callable[[str], None] = print,
) -> dict[str, Tensor]:
    """Add up the gradients of this device's batches, each term of the objective divided by its count in the update.

    `counts` are those of all devices. A sentence whose trees do not fit into memory is counted, but adds nothing; `log`
    gets its id. Returns this device's `zero_sums` with the losses added.
    """
    smoothing = {"label_smoothing": settings.label_smoothing, "smoothing_over": settings.smoothing_over}
    sums = zero_sums(tuple(counts), device)
    for batch in batches:
        losses, _ = possible_losses(model, batch, settings, "An update", log, **smoothing)
        if losses is not None:
            objective = losses.objective(counts)
            if objective.requires_grad:  # the weights of all terms of a batch may be 0
                objective.backward()
            sums["objective"].add_(objective.detach())
            add_losses(sums, losses)
    return sums


def possible_losses(
    model: nn.Module, batch: Batch, settings: TrainingSettings, work: str, log: Callable[[str], None], **smoothing: Any
) -> tuple[Losses | None, Batch]:
    """Compute the losses of a batch without the sentences whose trees do not fit into memory.

    Returns the batch of the other sentences, too; the losses are None if there are none. `log` gets the problem of each
    that `work` leaves out.
    """
    while len(batch):
        try:
            with autocast(settings, batch.source_BS.device):
                return model.loss(batch, **smoothing), batch
        except TooLongForTrees as error:
            log(f"{work} leaves out a sentence: {error.problem}.")
            batch = batch.without(error.row)
    return None, batch


def update_operations(model: TranslationModel, batches: Sequence[Batch]) -> int:
    """Count the operations of an update in products with weight matrices of the base, without padding.

    Products within attention, and those of components, are left out: some percent.
    """
    source, target = model.settings.weights
    target += model.target_embedding.weight.numel()
    sources = sum(int(batch.source_lengths_B.sum()) for batch in batches)  # on the CPU: no waiting for a GPU
    return OPERATIONS * (source * sources + target * sum(batch.counts.get(TRANSLATION, 0) for batch in batches))


def zero_sums(names: Sequence[str], device: torch.device) -> dict[str, Tensor]:
    """Return zeros (float64) to add the losses of batches to: "objective", "nll", and "loss/{name}" for each term."""
    keys = ("objective", "nll", *(f"loss/{name}" for name in names))
    return {key: torch.zeros((), dtype=torch.float64, device=device) for key in keys}


def add_losses(sums: Mapping[str, Tensor], losses: Losses) -> None:
    """Add the losses of a batch to sums; a term that the batch does not train adds nothing."""
    sums["nll"].add_(losses.nll_sum)
    for part in losses.parts:
        sums[f"loss/{part.name}"].add_(part.sum.detach())


class Adam:
    """Adam (Kingma and Ba 2015), or AdamW (Loshchilov and Hutter 2019) if the weights decay, with torch's fused kernel.

    All parameters have one device.
    """

    def __init__(self, parameters: Mapping[str, nn.Parameter], settings: TrainingSettings) -> None:
        self.parameters = dict(parameters)
        self._adam = torch.optim.Adam(
            self.parameters.values(),
            betas=settings.betas,
            eps=settings.epsilon,
            weight_decay=settings.weight_decay,
            decoupled_weight_decay=True,
            fused=True,
        )

    def step(self, *, rate: float) -> None:
        """Update the weights with learning rate `rate`, and drop the gradients."""
        self._adam.param_groups[0]["lr"] = rate
        self._adam.step()
        self._adam.zero_grad()

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors of a checkpoint by name: of every parameter both moments and the number of steps."""
        states = {name: self._adam.state[parameter] for name, parameter in self.parameters.items()}
        return {f"{name}/{key}": tensor for name, state in states.items() for key, tensor in state.items()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from the tensors that `tensors` returned."""
        for name, parameter in self.parameters.items():
            state = {key: tensors[f"{name}/{key}"] for key in ("step", "exp_avg", "exp_avg_sq")}
            self._adam.state[parameter] = {key: tensor.to(parameter.device) for key, tensor in state.items()}


def autocast(settings: TrainingSettings, device: torch.device) -> AbstractContextManager:
    """Compute in bf16 on a GPU if the settings say so; weights, sums and losses stay fp32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=used_precision(settings, device) == "bf16")


def used_precision(settings: TrainingSettings, device: torch.device) -> str:
    """Return the precision in which a device trains: fp32 on a CPU, and in place of bf16 on a GPU without it."""
    if device.type != "cuda":
        return "fp32"
    if settings.precision == "bf16" and not torch.cuda.is_bf16_supported(including_emulation=False):
        return "fp32"
    return settings.precision


def precision_message(settings: TrainingSettings, device: torch.device) -> str:
    """Say in which precision a GPU trains."""
    used = used_precision(settings, device)
    return f"Training in {used}{'' if used == settings.precision else f': this GPU has no {settings.precision}'}."


@contextmanager
def tf32(settings: TrainingSettings, device: torch.device) -> Iterator[None]:
    """Compute fp32 matrix products with inputs in TF32 on a GPU, within a block, if the settings say so."""
    before = torch.get_float32_matmul_precision()
    if used_precision(settings, device) == "tf32":
        torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def seed_update(seed: int, update: int, rank: int) -> None:
    """Set torch's random state for the dropout of one update on one device.

    The state is a function of (seed, update, rank), so that neither resuming nor anything else that draws random
    numbers, such as validation, changes it.
    """
    torch.manual_seed(int(np.random.SeedSequence((seed, update, rank)).generate_state(1, np.uint64)[0] >> np.uint64(1)))


class FinishedUpdate(NamedTuple):
    """What the log needs of one update: its number and epoch, both from 1, and what follows."""

    number: int
    epoch: int
    rate: float
    weights: dict[str, float]
    """The factor of each component's mean loss in the objective, by the component's name."""
    counts: dict[str, float]
    """The count of each term of the objective, over all devices."""
    sums: dict[str, Tensor]
    """The sums of this device (`accumulate_gradients`)."""
    gradient_norm: Tensor
    """The norm of the gradient over all devices."""
    operations: int
    """The operations of this device (`update_operations`)."""


def training_line(updates: Sequence[FinishedUpdate], world: World) -> dict[str, Any]:
    """Summarise updates as a line of the log (`TrainingLog`), without times; only here are losses read from the device.

    Raises `UserError` if a loss or a gradient is not finite.
    """
    last = updates[-1]
    own_sums = torch.stack([total for update in updates for total in update.sums.values()])
    of_updates = np.reshape(world.sum(own_sums.tolist()), (len(updates), -1)).tolist()
    sums = [dict(zip(last.sums, totals, strict=True)) for totals in of_updates]
    norms = torch.stack([update.gradient_norm for update in updates]).tolist()
    for update, update_sums, norm in zip(updates, sums, norms, strict=True):
        for quantity, value in (("loss", update_sums["objective"]), ("gradient", norm)):
            if not math.isfinite(value):
                raise divergence(f"the {quantity} is not finite", update=update.number, rate=update.rate)
    counts = {name: sum(update.counts[name] for update in updates) for name in last.counts}
    totals = {key: sum(update_sums[key] for update_sums in sums) for key in last.sums}
    losses = {f"loss/{name}": totals[f"loss/{name}"] / max(count, 1) for name, count in counts.items()}
    tokens = counts[TRANSLATION]
    nll = totals["nll"] / tokens if tokens else math.nan
    losses |= {} if tokens else {TRANSLATION_LOSS: math.nan}
    return {
        "update": last.number,
        "updates": len(updates),
        "epoch": last.epoch,
        "loss": totals["objective"] / len(updates),
        "nll": nll,
        "perplexity": perplexity(nll),
        **losses,
        **{f"weight/{name}": weight for name, weight in last.weights.items()},
        "rate": last.rate,
        "gradient": sum(norms) / len(norms),
        "tokens": int(tokens),
    }


def perplexity(nll: float) -> float:
    """Raise e to the mean negative log-likelihood; infinity if the result does not fit into a float."""
    return math.inf if nll > 700 else math.exp(nll)


def divergence(problem: str, *, update: int, rate: float) -> UserError:
    """Make the error that says that training diverged."""
    return UserError(
        f"Training diverged: {problem} at update {update} (learning rate {rate:.3g}). Lower training.schedule.peak, "
        "raise training.schedule.warmup or set training.clip_norm; earlier checkpoints are intact."
    )
