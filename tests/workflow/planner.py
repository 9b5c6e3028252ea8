"""The rules of the Snakefile, asked for their inputs and parameters in this process: a plan in milliseconds."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import yaml

from nmtcore.config.project import Project
from nmtcore.errors import UserError

CONFIG = Path(__file__).parents[2] / "config"


class PlannedJob(NamedTuple):
    """A job of a plan."""

    rule: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: str
    """As Snakemake compares them: the job runs again when this text changes."""


class Rules:
    """The rules, loaded once; `plan` asks them about any project in the working directory."""

    def __init__(self, snakefile: Path, folder: Path) -> None:
        """Load the Snakefile in a folder, with the settings of the repository."""
        from snakemake.api import SnakemakeApi
        from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

        with undone(folder), SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
            made = api.workflow(
                resource_settings=ResourceSettings(cores=1),
                config_settings=ConfigSettings(config={"device": "cpu", "threads": 1}),
                snakefile=snakefile,
                workdir=folder,
            )
            self.workflow = made._workflow
        self.names = self.workflow.globals
        self.warnings: dict[str, None] = {}
        """The sentences of which the rules warned since the last call of `use`."""

    def use(self, project: Project) -> None:
        """Let the rules ask this project; its folders of results are those of the repository's settings."""
        self.warnings = {}
        self.names |= {"PROJECT": project, "SETTINGS": project.settings, "warn": self.warnings.setdefault}
        self.names["all_runs"].cache_clear()

    def check_target(self, project: Project, target: str) -> None:
        """Do what the Snakefile does with a target of the command line: raise `UserError` if it cannot be made."""
        self.use(project)
        self.names["check_target"](project, target)

    def plan(self, project: Project, *targets: str) -> dict[str, PlannedJob]:
        """Return the jobs that make targets in an empty folder, by their first output."""
        self.use(project)
        jobs: dict[str, PlannedJob] = {}
        for target in targets:
            self._add(target, jobs)
        return jobs

    def _add(self, path: str, jobs: dict[str, PlannedJob]) -> None:
        if self.workflow.is_rule(path):
            rule, wildcards = self.workflow.get_rule(path), {}
        else:
            makers = [rule for rule in self.workflow.rules if rule.is_producer(path)]
            if not makers:
                assert Path(path).exists(), f"no rule makes {path}"
                return
            (rule,) = makers
            wildcards = rule.get_wildcards(path)
        outputs, _ = rule.expand_output(wildcards)
        name = str(outputs[0]) if outputs else path
        if name in jobs:
            return
        inputs, *_ = rule.expand_input(wildcards)
        own = [value(Names(wildcards)) if callable(value) else value for value in rule.params]
        jobs[name] = PlannedJob(rule.name, tuple(map(str, outputs)), tuple(map(str, inputs)), repr(own))
        for file in inputs:
            self._add(str(file), jobs)


class Planner(NamedTuple):
    """Plans in this process, in the working directory, which may have configuration files of the user's own."""

    rules: Rules

    def write(self, name: str, values: dict[str, Any]) -> None:
        """Write a file of the user's own configuration."""
        path = Path(f"config/{name}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")

    def project(self, **settings: Any) -> Project:
        """Return the project with some settings of config.yaml."""
        return Project(["config", CONFIG], settings, where="config.yaml")

    def plan(self, *targets: str, **settings: Any) -> dict[str, PlannedJob]:
        """Return the jobs that make targets, by their first output."""
        return self.rules.plan(self.project(**settings), *targets)

    def rules_of(self, *targets: str, **settings: Any) -> set[str]:
        """Name the rules of the jobs that make targets."""
        return {job.rule for job in self.plan(*targets, **settings).values()}

    def refusal(self, target: str, **settings: Any) -> str:
        """Return the message that ends planning of a target that cannot be made."""
        try:
            self.rules.check_target(self.project(**settings), target)
            self.plan(target, **settings)
        except UserError as error:
            return f"Error: {error}"
        except SystemExit as end:  # in an input or params function
            return str(end)
        raise AssertionError(f"{target} can be planned")


class Names(dict):
    """The wildcards of a job, as its rule's functions see them."""

    __getattr__ = dict.__getitem__


def changed_rules(before: Mapping[str, PlannedJob], after: Mapping[str, PlannedJob]) -> set[str]:
    """Name the rules whose jobs run again: those with other inputs or parameters, and those that read their outputs."""
    again = {name for name, job in after.items() if job != before.get(name)}
    while True:
        made = {output for name in again for output in after[name].outputs}
        more = {name for name, job in after.items() if made.intersection(job.inputs)} - again
        if not more:
            return {after[name].rule for name in again}
        again |= more


@contextmanager
def undone(folder: Path) -> Iterator[None]:
    """Go to a folder; at the end, come back and undo what loading a Snakefile changes in this process."""
    before, path, variables = Path.cwd(), list(sys.path), dict(os.environ)
    os.chdir(folder)
    try:
        with patch.object(sys, "argv", ["snakemake"]):
            yield
    finally:
        os.chdir(before)
        sys.path[:] = path
        os.environ.clear()
        os.environ.update(variables)
