"""What every job of the workflow does around its work: a log, and a user's mistake told as a sentence."""

import logging
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

from nmtcore.config.project_settings import ProjectSettings, read_project_settings
from nmtcore.config.yaml_files import config_file, read_yaml
from nmtcore.errors import UserError, explained
from nmtcore.unfinished import outputs_noted


@contextmanager
def job(snakemake: Any) -> Iterator[TextIO]:
    """Send what the block prints to the rule's log; yield the terminal, for progress.

    A `UserError` ends the process with status 1 and its sentence in the log and on the terminal; anything else is a
    fault of ours, whose trace stands in the log.
    """
    log = str(snakemake.log[0])
    terminal = os.fdopen(os.dup(2), "w", encoding="utf-8")
    with explained(log):
        os.makedirs(os.path.dirname(log) or ".", exist_ok=True)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
    try:
        layout = job_settings(snakemake).layout
        with explained(log), outputs_noted(snakemake.output, layout=layout):
            yield terminal
    except UserError as error:
        print(error, file=sys.stderr)
        print(error, file=terminal, flush=True)
        sys.exit(1)
    except Exception:
        traceback.print_exc()
        sys.exit(1)


_STATUS = re.compile(r"RuleException:\nCalledProcessError in file .*returned non-zero exit status", re.DOTALL)


def hide_exit_statuses(logger: logging.Logger) -> None:
    """Leave out that a script ended with an error, and the rule's place in our files: it has said why itself.

    Snakemake goes on to name the rule and its log, and shows the log.
    """
    logger.addFilter(lambda record: not _STATUS.match(record.getMessage()))


def has_nvidia_driver() -> bool:
    """Say whether this machine has an NVIDIA driver; planning asks, and must not import torch for it."""
    return os.path.exists("/dev/nvidiactl")


def prepare_jobs(folder: str) -> None:
    """Let the jobs that this process starts import the package from `folder`, and share the cores politely."""
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", folder)]
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *others])
    # A thread of torch that waits for its fellows by spinning starves them when the machine has other work: with two
    # jobs of two threads on two cores, an update took six times as long.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def end_planning(mistake: UserError) -> NoReturn:
    """End planning with the sentence of a user's mistake, and status 1.

    Snakemake would print an `Exception` with its place in the workflow's files; `SystemExit` passes through it.
    Planning holds no lock yet.
    """
    sys.exit(f"Error: {mistake}")


def user_config_path() -> str | None:
    """Find the user's config.yaml or config.yml, None where there is none; a broken one, or both, end planning.

    Snakemake, which reads it next, would tell of a mistake in it with a place in the Snakefile.
    """
    try:
        path = config_file("config")
        if path.exists() and not read_yaml(path):
            raise UserError(f"{path}: it holds no settings: write some, or delete it and the repository's own is used.")
    except UserError as error:
        end_planning(error)
    return str(path) if path.exists() else None


def job_settings(snakemake: Any) -> ProjectSettings:
    """Give config.yaml's settings as the plan read them; for what must not make a rule run again (paths, device)."""
    return read_project_settings(snakemake.config, where="config.yaml")
