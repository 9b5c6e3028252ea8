"""Metrics that are commands: COMET, and files `config/metrics/NAME.yaml` of the user's own."""

import functools
import hashlib
import os
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.datasets import check_model_name
from nmtcore.config.files import REPOSITORY, read_yaml, yaml_files
from nmtcore.config.registry import has_own, own_config
from nmtcore.config.training import METRIC_NAMES
from nmtcore.config.typed import Amount, Positive, build, plain, settings_class
from nmtcore.errors import UserError
from nmtcore.layout import NAME, SCORES

MAX_BYTES = 1_000_000
"""The most bytes of a file whose content counts as part of the command that names it: a program, no model."""


@settings_class
class CommandMetricSettings:
    """A metric that is a command, which scores each sentence."""

    command: str
    """A line for bash, called in the folder `config`. For each sentence, it reads a line with a JSON object (`source`,
    `translation`, `reference`) and writes a line with a number. A line that begins with `#` is no score but the
    signature. In it, `{model}` is the path of the model, and `{device}` is auto, cpu or cuda."""
    label: str = ""
    """Name in tables; empty: that of the file."""
    environment: str | None = None
    """A conda environment's YAML file, which Snakemake makes, or the folder of an environment that has been made (venv,
    conda), relative to `config`; null: that of Snakemake."""
    model: str | None = None
    """Name of a model: a file or folder in one of `models` of config.yaml."""
    times: Positive = 1.0
    """What scores are multiplied by: 100 shows those between 0 and 1 in percent."""
    digits: Amount = 2
    """Decimals in tables."""
    higher_is_better: bool = True
    """Whether a higher score is a better one."""

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise ValueError("command is empty")
        if self.model is not None:
            check_model_name(self.model)
        if (self.model is None) == ("{model}" in self.command):
            raise ValueError("a command with {model} needs a model, and a model needs {model} in the command")


COMET = CommandMetricSettings(
    label="COMET",
    command="python ../workflow/scripts/run_comet.py {model} --device {device}",
    environment="../envs/comet.yaml",
    model="wmt22-comet-da",
    times=100.0,
)
"""COMET; a file comet.yaml of the user's own changes some of its keys."""

TAKEN = {"chrf", "length_ratio", "sentences", *METRIC_NAMES, *SCORES} - {"comet"}
"""The names of other scores, and of what stands beside them."""


class CommandMetric(NamedTuple):
    """A metric that is a command, and where it is from."""

    settings: CommandMetricSettings
    label: str
    """Name in tables, with an arrow if a lower score is better."""
    where: str
    """The file of the user's own, for messages; of COMET without one, its name."""
    folder: Path
    """The folder in which the command is called."""
    environment: Path | None
    """The YAML file or folder of its environment."""

    @property
    def made_from(self) -> dict[str, Any]:
        """What its scores depend on: its command, with the content of the user's files that it names, and its model."""
        values = {"command": self.settings.command, "model": self.settings.model, "times": self.settings.times}
        return values | {"files": self._checksums()}

    def _checksums(self) -> dict[str, str]:
        if self.folder == REPOSITORY / "config":
            return {}
        paths = {word: self.folder / word for word in dict.fromkeys(shlex.split(self.settings.command, comments=True))}
        return {
            word: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            for word, path in paths.items()
            if path.is_file() and path.stat().st_size <= MAX_BYTES
        }


def command_metric_names() -> list[str]:
    """List the names of the metrics that are commands, sorted."""
    own = (name for name in yaml_files(own_config() / "metrics") if re.fullmatch(NAME, name) and name not in TAKEN)
    return sorted({"comet", *(name for name in own if not has_own("metrics", name))})


def command_metric(name: str) -> CommandMetric | None:
    """Return a metric that is a command; None if there is none of this name.

    Raises `UserError` if its file is not valid.
    """
    if name not in command_metric_names():
        return None
    path = yaml_files(own_config() / "metrics").get(name)
    status = path.stat() if path else None
    return _read(name, own_config(), path, status and (status.st_mtime_ns, status.st_size))


@functools.lru_cache
def _read(name: str, folder: Path, path: Path | None, state: tuple[int, int] | None) -> CommandMetric:
    values = read_yaml(path) if path else {}
    shipped = REPOSITORY / "config"
    settings = build(
        CommandMetricSettings, {**(plain(COMET) if name == "comet" else {}), **values}, where=str(path or name)
    )
    base = folder if "environment" in values else shipped
    environment = settings.environment and Path(os.path.normpath(base / os.path.expanduser(settings.environment)))
    try:
        shlex.split(settings.command, comments=True)
    except ValueError as error:
        raise UserError(f"{path}: command: a quotation mark is not closed: {settings.command}") from error
    return CommandMetric(
        settings=settings,
        label=(settings.label or name) + (" ↓" if not settings.higher_is_better else ""),
        where=str(path or name),
        folder=folder if "command" in values else shipped,
        environment=environment.absolute() if environment else None,
    )
