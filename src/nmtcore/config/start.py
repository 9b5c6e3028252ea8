"""Checks of a system that starts from another system's model."""

from dataclasses import fields, replace

from nmtcore.config.bases import BaseSettings
from nmtcore.config.catalogue import Catalogue
from nmtcore.config.components import COMPONENTS
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError


def check_no_circle(catalogue: Catalogue, system: str, *, where: str) -> None:
    """Raise `UserError` if a system starts from itself, directly or through other systems."""
    names, name = [system], catalogue.system(system).start_from
    while name is not None:
        if name in names:
            raise UserError(
                f"{where}: {' starts from '.join([*names, name])}: this is circular, remove one `start_from`."
            )
        names, name = [*names, name], catalogue.system(name, where=f"{where}: start_from").start_from


def check_start(run: RunSettings, start: RunSettings, *, where: str) -> None:
    """Raise `UserError` unless a run has the same model, components, transforms and segmentation as its start."""
    where = f"{where}: start_from: {start.system}"
    if start.external is not None:
        raise UserError(f"{where} is external, so it has no model.")
    if run.base != start.base:
        raise UserError(f"{where} has the base '{start.base}', not '{run.base}', so its weights do not fit.")
    if _model(run) != _model(start):
        raise UserError(f"{where} has another model, so its weights do not fit.")
    if _components(run) != _components(start):
        raise UserError(f"{where} has other components, so its weights do not fit.")
    if run.transforms != start.transforms:
        raise UserError(f"{where} has other transforms, so its vocabularies do not fit.")
    if run.segmentation != start.segmentation:
        raise UserError(
            f"{where} has another segmentation ({start.segmentation.name}), so its vocabularies do not fit."
        )


def _components(run: RunSettings) -> list[tuple[str, str]]:
    """Return the name and the registered class name of each component, in order."""
    return [(name, COMPONENTS.name_of(settings)) for name, settings in run.components.items()]


def _model(run: RunSettings) -> tuple[str, BaseSettings]:
    """Return the settings that determine the shapes of a model's weights."""
    dropouts = [field.name for field in fields(run.model) if field.name.endswith("dropout")]
    return run.base, replace(run.model, **dict.fromkeys(dropouts, 0.0))
