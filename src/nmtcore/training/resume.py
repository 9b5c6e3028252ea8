"""Begin a run, or go on where its newest whole checkpoint stands, on all devices alike."""

from dataclasses import dataclass

from torch import nn

from nmtcore.config.runs import RunSettings
from nmtcore.training.checkpoints import Checkpoints, named_weights
from nmtcore.training.distributed import World
from nmtcore.training.optimiser import Adam
from nmtcore.training.schedules import Schedule, make_schedule
from nmtcore.training.state import TrainingState


@dataclass(frozen=True, kw_only=True)
class Running:
    """What moves while a model is trained."""

    state: TrainingState
    model: nn.Module
    optimiser: Adam
    schedule: Schedule


def resume(run: RunSettings, model: nn.Module, store: Checkpoints, team: World) -> Running:
    """Move the model to the device and load the newest whole checkpoint, if there is one.

    The first process looks for it (and clears away what is damaged); the others read the one it found.
    """
    model.to(team.device)
    parameters = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    optimiser = Adam(parameters, run.training)
    schedule = make_schedule(run.training.schedule)
    found = store.newest() if team.main else None
    update = int(team.total([-1.0 if found is None else float(found)] if team.main else [0.0])[0])
    if update < 0:
        team.share_weights([tensor for _, tensor in named_weights(model)])
        state = TrainingState()
    else:
        state = store.load(update, model, optimiser)
        schedule.restore(state.schedule)
    return Running(state=state, model=model, optimiser=optimiser, schedule=schedule)
