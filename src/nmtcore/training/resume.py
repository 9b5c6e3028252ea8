"""Start a run, or resume it from its newest complete checkpoint, in all processes alike."""

from dataclasses import dataclass

from torch import nn

from nmtcore.config.runs import RunSettings
from nmtcore.training.checkpoints import Checkpoints, named_weights
from nmtcore.training.distributed import World
from nmtcore.training.optimiser import Adam
from nmtcore.training.schedules import Schedule, make_schedule
from nmtcore.training.state import TrainingState


@dataclass(frozen=True, kw_only=True)
class ActiveRun:
    """The objects that training changes and that a checkpoint restores."""

    state: TrainingState
    model: nn.Module
    optimiser: Adam
    schedule: Schedule


def start_or_resume(run: RunSettings, model: nn.Module, checkpoints: Checkpoints, world: World) -> ActiveRun:
    """Move the model to the device and load the newest complete checkpoint, if there is one.

    Only the first process searches for it, since a search deletes damaged checkpoints; the others load the same one.
    """
    model.to(world.device)
    parameters = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    optimiser = Adam(parameters, run.training)
    schedule = make_schedule(run.training.schedule)
    newest = checkpoints.newest() if world.is_main else None
    update = int(world.sum([-1.0 if newest is None else float(newest)] if world.is_main else [0.0])[0])
    if update < 0:
        world.broadcast_weights([tensor for _, tensor in named_weights(model)])
        state = TrainingState()
    else:
        state = checkpoints.load(update, model, optimiser)
        schedule.restore(state.schedule)
        for component in model.components:
            if component.name in state.components:
                component.restore_training_state(state.components[component.name])
    return ActiveRun(state=state, model=model, optimiser=optimiser, schedule=schedule)
