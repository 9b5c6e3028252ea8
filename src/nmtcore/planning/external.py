"""Inputs of the import of external translations, and the systems that it makes."""

from collections.abc import Sequence

from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.typed import choose
from nmtcore.errors import UserError


def translation_file(*, run: RunSettings, split: str) -> str:
    """Return the file of an external run's translations of a test.

    Raises `UserError` if there is none, or if its path has a brace, which Snakemake would take for a wildcard.
    """
    where = f"{run.dataset}/{run.system}"
    path = run.external[choose(split, run.external, noun="external translations", where=where)]
    if "{" in path:
        raise UserError(f"{where}: Snakemake takes braces in {path} for wildcards: rename the file or folder.")
    return path


def missing_seed_notes(project: Project, *, dataset: str, system: str) -> list[str]:
    """Write a sentence if an external system has no translations of a data set for some of the configured seeds."""
    seeds = project.seeds(dataset, system)
    missing = [seed for seed in project.settings.seeds if seed not in seeds]
    return [missing_seeds_sentence(dataset, system, missing)] if missing else []


def missing_seeds_sentence(dataset: str, system: str, missing: Sequence[int]) -> str:
    """Name the seeds that an external system has no translations of a data set for."""
    seeds = f"seed{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing))}"
    return f"{system} has no external translations of {dataset} for {seeds}: its scores lack them."


def trained_pattern(project: Project) -> str:
    """Return the regular expression of the wildcard `system` for systems that are trained here."""
    names, any_system = "|".join(project.systems.external), project.layout.constraints["system"]
    return f"(?!(?:{names})/){any_system}" if names else any_system


def external_pattern(project: Project) -> str:
    """Return the regular expression of the wildcard `system` for external systems; it matches nothing without any."""
    return f"(?:{'|'.join(project.systems.external) or '(?!)'})"
