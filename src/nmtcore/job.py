"""What all jobs of the workflow share: logging, error messages and their environment."""

import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from inspect import signature
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from nmtcore.config.corpora import SegmentationSettings
from nmtcore.config.files import config_file, read_yaml
from nmtcore.config.project import ProjectSettings, read_project_settings
from nmtcore.config.registry import OWN_CONFIG
from nmtcore.config.runs import RunSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.gpus import use_gpus
from nmtcore.memory import keep_freed_memory
from nmtcore.written import Records

if TYPE_CHECKING:
    from nmtcore.config.project import Project


@contextmanager
def job(snakemake: Any) -> Iterator[TextIO]:
    """Redirect what the block prints to the rule's log; yield the terminal, for progress.

    Snakemake deletes the log before a job; of two processes that have one, such as a trainer on a cluster and its
    retry, each appends its lines.

    A `UserError` ends the process with status 1 and its message in the log and on the terminal. Any other exception is
    a bug; its stack trace goes to the log. If the log takes no more, both go to the terminal.
    """
    log = str(snakemake.log[0])
    terminal = screen = os.fdopen(os.dup(2), "w", encoding="utf-8")
    with explain_os_errors(log):
        os.makedirs(os.path.dirname(log) or ".", exist_ok=True)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
    if log_is_shown():
        terminal = sys.stderr
    keep_freed_memory()
    try:
        layout = job_settings(snakemake).layout
        with explain_os_errors(log):
            records = Records(layout)
            for path in snakemake.input:
                records.check(path)
            made_from = records.made_from(snakemake.input, dict(snakemake.params.items()))
            use_gpus(snakemake.resources.get("gpu", 0))
            with advice_on_inputs(snakemake.input, results=layout.results):
                yield terminal
            records.write(snakemake.output, rule=snakemake.rule, made_from=made_from)
    except Exception as error:
        is_explained = isinstance(error, UserError)
        message = str(error) if is_explained else traceback.format_exc().rstrip()
        is_shown = not is_explained or log_is_shown()
        try:
            print(message, file=sys.stderr)
        except OSError:  # the log may be on the disk that is full
            is_shown = False
        if not is_shown:
            with suppress(OSError):  # the terminal may be closed
                print(message, file=screen, flush=True)
        sys.exit(1)
    finally:
        gc.freeze()  # else Python's last garbage collection takes .4 s if the job has imported torch


def run_job(function: Callable[..., Any], snakemake: Any, **others: Any) -> None:
    """Run a job that is one call of a function, with `job_arguments`; sentences that it returns go to the terminal."""
    with job(snakemake) as terminal:
        returned = function(**job_arguments(function, snakemake, **others))
        if isinstance(returned, list):
            print(*returned, sep="\n", file=terminal, flush=True)


def job_arguments(function: Callable[..., Any], snakemake: Any, **others: Any) -> dict[str, Any]:
    """Return the arguments of a function whose parameters have the names of what a job has, or are among `others`.

    A job has inputs, outputs, wildcards and params; `output`, the first one; threads; `device`, `downloads` and
    `layout` of config.yaml; its run or segmentation. They become what the function declares: a `Path | None` is a list
    of at most one file, a `Path` of several files their folder, and a `Mapping[str, Path]` has files by split. A
    dataclass is made of settings, or of what its own fields name.
    """
    settings = job_settings(snakemake)
    values = {"output": snakemake.output[0], "threads": snakemake.threads, "layout": settings.layout}
    values |= {"device": settings.device, "downloads": settings.paths.downloads}
    for part in (snakemake.wildcards, snakemake.params, snakemake.input, snakemake.output):
        values |= dict(part.items())
    arguments = {}
    for name, parameter in signature(function).parameters.items():
        declared = parameter.annotation
        if name in others:
            arguments[name] = others[name]
        elif name in values:
            arguments[name] = _as_declared(values[name], declared)
        elif declared is RunSettings:
            arguments[name] = planned_run(snakemake)
        elif declared is SegmentationSettings:
            arguments[name] = SegmentationSettings.parse(snakemake.wildcards.segmentation)
        elif is_dataclass(declared):
            arguments[name] = declared(**job_arguments(declared, snakemake))
    return arguments


def _as_declared(value: Any, declared: Any) -> Any:
    if declared is Path and not isinstance(value, str):
        return Path(value[0]).parent
    if declared in (Path, int):
        return declared(value)
    if declared == Path | None:
        return next(map(Path, value), None)
    if declared == Sequence[Path]:
        return list(map(Path, value))
    if declared == Mapping[str, Path]:
        return {Path(path).name.partition(".")[0]: Path(path) for path in value}
    if is_dataclass(declared) and not is_dataclass(value):
        return build(declared, value, where="the workflow")
    return value


def log_is_shown() -> bool:
    """Say whether the workflow shows the end of this job's log (`snakemake_logger_plugin_nmtcore`)."""
    return bool(os.environ.get("NMTCORE_LIVE"))


@contextmanager
def advice_on_inputs(inputs: Iterable[str], *, results: str) -> Iterator[None]:
    """Add to a `UserError` that names an input among the results how to make that again, if it does not say so."""
    try:
        yield
    except UserError as error:
        made = [path for path in map(str, inputs) if path in str(error) and Path(path).is_relative_to(results)]
        if not made or "again" in str(error):
            raise
        raise UserError(f"{error} To make it again, delete {max(made, key=len)} and run the workflow again.") from error


def end_with_terminal() -> None:
    """Let SIGHUP, which a closed terminal sends, end the jobs, and then Snakemake as SIGTERM does, unlocked."""

    def end(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        if os.getpgrp() == os.getpid():  # the terminal may tell the first process alone
            os.killpg(0, number)
        signal.raise_signal(signal.SIGTERM)

    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # not if `nohup` lets it be ignored
        signal.signal(signal.SIGHUP, end)


def prepare_jobs(folder: str) -> None:
    """Set the environment of this process's jobs: the folder of the package, and how torch's threads wait."""
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", folder)]
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *others])
    # By default, torch's threads spin while they wait, and so take cores from the threads that they wait for: with two
    # jobs of two threads on two cores, an update took six times as long.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def check_working_folder() -> None:
    """End planning if Snakemake cannot keep its records in the working folder."""
    records = Path(".snakemake")
    if not os.access(records if records.exists() else ".", os.W_OK):
        end_planning(
            UserError(f"The folder {Path.cwd()} cannot be written: work in another (-d FOLDER), or make it writable.")
        )


def end_planning(error: UserError) -> NoReturn:
    """End planning with an error message and status 1.

    Snakemake would print any other exception than `SystemExit` with a position in the workflow's files. During
    planning, no lock has to be released.
    """
    sys.exit(f"Error: {error}")


def user_config_path(given: Iterable[str | Path] = ()) -> str | None:
    """Return the path of the user's config.yaml or config.yml, or None if there is neither.

    A broken file, or both files, end planning: Snakemake, which reads the file next, would report the mistake with a
    position in the Snakefile. So do broken files among those `given` on the command line, which it has read already.
    """
    try:
        for path in given:
            read_yaml(path)
        path = config_file("config")
        if path.exists() and not read_yaml(path):
            raise UserError(f"{path} has no settings: write some, or delete it to use the repository's own file.")
    except UserError as error:
        end_planning(error)
    return str(path) if path.exists() else None


def call_around(
    function: Callable[..., Any], *, before: Callable[[], None] = lambda: None, after: Callable[[], None] = lambda: None
) -> Callable[..., Any]:
    """Return a function that calls `before`, then does what `function` does, then calls `after`.

    Snakemake shows the lines of workflow files that an error passes through, but none of this module.
    """

    def call(*arguments: Any, **options: Any) -> Any:
        before()
        outcome = function(*arguments, **options)
        after()
        return outcome

    return call


def planned_run(snakemake: Any) -> RunSettings:
    """Return the run of a job, from the configuration as planned; its parameters only say what the job depends on."""
    project, names = planned_project(snakemake), snakemake.wildcards
    return project.run(names.dataset, names.system, project.layout.scale(names.root), int(names.seed))


def planned_project(snakemake: Any) -> "Project":
    """Return the configuration as planned."""
    from nmtcore.config.project import REPOSITORY, Project

    return Project([OWN_CONFIG, REPOSITORY / "config"], snakemake.config)


def job_settings(snakemake: Any) -> ProjectSettings:
    """Return the settings of config.yaml, as planned; for those, like paths, that must not make a rule run again."""
    return read_project_settings(snakemake.config, where="config.yaml")
