"""Metrics that are commands: COMET, and files `config/metrics/NAME.yaml` of the user's own."""

import functools
import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from nmtcore.config.datasets import check_model_name
from nmtcore.config.files import REPOSITORY, read_yaml, yaml_files
from nmtcore.config.registry import has_own, own_config
from nmtcore.config.training import METRIC_NAMES
from nmtcore.config.typed import Amount, Positive, build, settings_class
from nmtcore.layout import NAME, SCORES

MAX_BYTES = 1_000_000
"""The most bytes of a file that counts as part of the command that names it: a program, no model."""


@settings_class
class CommandMetricSettings:
    """A metric that is a command, which scores each sentence."""

    command: str
    """A line for bash, called in the folder `config`. For each sentence, it reads a line with a JSON object (`source`,
    `translation`, `reference`) and writes a line with a number. A line that begins with `#` is no score but the
    signature. {model}, {device} (auto, cpu or cuda) and {repository} (the folder of nmtcore) are replaced."""
    label: str = ""
    """Name in tables; empty: that of the file."""
    environment: str | None = None
    """A conda environment's YAML file, which Snakemake makes, or the folder of an environment that has been made (venv,
    conda), relative to `config`; null: that of Snakemake."""
    model_name: str | None = None
    """Name of a model: a file or folder in one of `models` of config.yaml, whose path replaces {model}."""
    times: Positive = 1.0
    """What scores are multiplied by: 100 shows those between 0 and 1 in percent."""
    digits: Amount = 2
    """Decimals in tables."""
    higher_is_better: bool = True
    """Whether a higher score is a better one."""

    def __post_init__(self) -> None:
        if self.model_name is not None:
            check_model_name(self.model_name)
        if (self.model_name is None) == ("{model}" in self.command):
            raise ValueError("a command with {model} needs model_name, and model_name needs {model} in the command")

    @property
    def made_from(self) -> dict[str, Any]:
        """What its scores depend on: its command, with the content of the files that it names, and its model."""
        files = {}
        for word in re.findall(r"[^\s'\"]+", self.command):
            path = own_config() / word
            if path.is_file() and path.stat().st_size <= MAX_BYTES:
                files[word] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        return {"command": self.command, "model_name": self.model_name, "times": self.times, "files": files}


COMET = {
    "label": "COMET",
    "command": "python {repository}/workflow/scripts/run_comet.py {model} --device {device}",
    "environment": str(REPOSITORY / "envs/comet.yaml"),
    "model_name": "wmt22-comet-da",
    "times": 100.0,
}
"""COMET; a file comet.yaml of the user's own changes some of its keys."""

TAKEN = {"chrf", "length_ratio", "sentences", *METRIC_NAMES, *SCORES} - {"comet"}
"""The names of other scores, and of what stands beside them."""


def metric_file(name: str) -> Path:
    """Return the path of the user's file of a metric that is a command; COMET needs none."""
    return yaml_files(own_config() / "metrics").get(name, own_config() / "metrics" / f"{name}.yaml")


def command_metric_names() -> list[str]:
    """List the names of the metrics that are commands, sorted."""
    names = (name for name in yaml_files(own_config() / "metrics") if re.fullmatch(NAME, name) and name not in TAKEN)
    return sorted({"comet", *(name for name in names if not has_own("metrics", name))})


def command_metric(name: str) -> CommandMetricSettings | None:
    """Return a metric that is a command, with its name in tables and the absolute path of its environment.

    None if there is none of this name. Raises `UserError` if its file is not valid.
    """
    if name not in command_metric_names():
        return None
    path = metric_file(name)
    return _read(name, path, (path.stat().st_mtime_ns, path.stat().st_size) if path.is_file() else None)


@functools.lru_cache
def _read(name: str, path: Path, state: tuple[int, int] | None) -> CommandMetricSettings:
    values = {**(COMET if name == "comet" else {}), **(read_yaml(path) if state else {})}
    metric = build(CommandMetricSettings, values, where=str(path))
    environment = metric.environment and os.path.abspath(path.parents[1] / os.path.expanduser(metric.environment))
    arrow = "" if metric.higher_is_better else " ↓"
    return replace(metric, label=(metric.label or name) + arrow, environment=environment)
