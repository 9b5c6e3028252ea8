"""Workflows that are killed in any of their stages: run again, they end as if nothing had happened."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from campaigns.reference import RUN, SETTINGS, TARGETS, Job, content, reference
from campaigns.run import WrongOutput
from workflow.calling import Workplace

SECONDS = 60
"""The limit of a case, which calls Snakemake up to four times."""
TO_THE_END = 0.15
"""The share of cases in which everything after the killed stage is made, too."""
STARTING = 1.0
"""Seconds that a script takes until it does something."""


def prepare() -> None:
    """Make the reference, once, before processes are forked."""
    reference()


def attempt(random: Random, folder: Path) -> str:
    """Delete what a job made, kill the workflow that makes it again, once or twice, then let it finish."""
    workplace = reference().copy(folder)
    jobs = [job for job in reference().jobs if all((workplace.folder / output).exists() for output in job.outputs)]
    rule = random.choice(sorted({job.rule for job in jobs}))
    first = random.choice([number for number, job in enumerate(jobs) if job.rule == rule])
    again = jobs[first:] if random.random() < TO_THE_END else jobs[first : first + 1]
    for output in (workplace.folder / output for job in again for output in job.outputs):
        shutil.rmtree(output) if output.is_dir() else output.unlink()
    if rule == "train_model":
        shutil.rmtree(workplace.folder / RUN / "checkpoints")
    targets = TARGETS if len(again) > 1 else again[0].outputs[:1]
    for _ in range(random.choice((1, 1, 2))):
        _kill(workplace, random.choice(again), targets, random)
        if half := _differing(workplace, again):
            raise WrongOutput(f"killed in {rule}: {half} are there, but not as they should be")
    finished = workplace.call("--cores", "1", *targets, settings=SETTINGS)
    if finished.code:
        raise WrongOutput(f"killed in {rule}: not made afterwards: {finished.output[-1500:]}")
    missing = [output for job in again for output in job.outputs if not (workplace.folder / output).exists()]
    if wrong := missing + _differing(workplace, again) + list(map(str, workplace.partial_files())):
        raise WrongOutput(f"killed in {rule}, and made again: {wrong}")
    return "clean"


def _kill(workplace: Workplace, job: Job, targets: Sequence[str], random: Random) -> None:
    """Start the workflow, and kill all of it, or only a job, while that works."""
    process = subprocess.Popen(
        workplace.command("--cores", "1", *targets, settings=SETTINGS),
        cwd=workplace.folder.parent,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while (pid := _script(process.pid, job.rule)) is None and process.poll() is None:
            time.sleep(0.02)
        time.sleep(random.random() * (STARTING + 1.5 * job.seconds))
        if pid is not None and random.random() < 0.4:
            with_signal = random.choice((signal.SIGKILL, signal.SIGTERM))
            if _script(process.pid, job.rule) == pid:
                os.kill(pid, with_signal)
            process.wait()
    finally:
        _kill_session(process)
    shutil.rmtree(workplace.folder / ".snakemake/locks", ignore_errors=True)  # `snakemake --unlock`, but faster


def _kill_session(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    while _members(process.pid):
        time.sleep(0.02)


def _script(session: int, rule: str) -> int | None:
    """Return the process of a session that runs the script of a rule."""
    for pid in _members(session):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if len(command) > 1 and command[1].endswith(f".{rule}.py".encode()):
            return pid
    return None


def _members(session: int) -> list[int]:
    """List the processes of a session that have not ended."""
    members = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, own = status.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(own) == session and state != "Z":
            members.append(int(status.parent.name))
    return members


def _differing(workplace: Workplace, jobs: Sequence[Job]) -> list[str]:
    """List the outputs of jobs that exist but are not those of the undisturbed run."""
    trains = any(job.rule == "train_model" for job in jobs)
    timed = _TIMES if trains else _PARSING_TIMES
    names = [name for job in jobs for name in job.outputs if not timed.search(name)]
    theirs = reference().workplace.folder
    return [
        name
        for name in names
        if (workplace.folder / name).exists() and content(workplace.folder / name) != content(theirs / name)
    ]


_PARSING_TIMES = re.compile(r"tables/data\.\w+$")
"""Files with the times that parsers took."""
_TIMES = re.compile(rf"{_PARSING_TIMES.pattern}|systems\.\w+$|manifest\.json$")
"""These, and files with the speed or times of training."""
