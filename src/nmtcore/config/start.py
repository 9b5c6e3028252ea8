"""What must hold where a system starts from another one's model."""

from dataclasses import replace

from nmtcore.config.catalogue import Catalogue
from nmtcore.config.components import COMPONENTS
from nmtcore.config.runs import RunSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.errors import UserError


def check_no_circle(catalogue: Catalogue, system: str, *, where: str) -> None:
    """Raise a sentence when a system starts, over others perhaps, from itself."""
    names, name = [system], catalogue.system(system).start_from
    while name is not None:
        if name in names:
            raise UserError(f"{where}: {' starts from '.join([*names, name])}: a circle.")
        names, name = [*names, name], catalogue.system(name, where=f"{where}: start_from").start_from


def check_start(run: RunSettings, start: RunSettings, *, where: str) -> None:
    """Compare a run with the one whose weights it starts from: they must have the same."""
    for what, shapes in (("model", _shape), ("components", _kinds)):
        if shapes(run) != shapes(start):
            raise UserError(f"{where}: start_from: {start.system} has other {what}, so its weights do not fit.")
    if run.transforms != start.transforms:
        raise UserError(f"{where}: start_from: {start.system} has other transforms, so its vocabularies do not fit.")
    if run.segmentation != start.segmentation:
        raise UserError(f"{where}: start_from: {start.system} cuts words otherwise ({start.segmentation.name}).")


def _kinds(run: RunSettings) -> list[tuple[str, str]]:
    """Give name and kind of each component, in order."""
    return [(name, COMPONENTS.name_of(settings)) for name, settings in run.components.items()]


def _shape(run: RunSettings) -> tuple[str, TransformerSettings]:
    """Give what decides the shape of a model's weights."""
    dropouts = ("dropout", "embedding_dropout", "attention_dropout", "activation_dropout")
    return run.base, replace(run.model, **dict.fromkeys(dropouts, 0.0))
