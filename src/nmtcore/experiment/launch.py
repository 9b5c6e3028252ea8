"""Starting a training: in this process, or under torchrun with one process for each GPU."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TextIO

from nmtcore.errors import UserError
from nmtcore.experiment.training import TrainingJob, train_run
from nmtcore.files import write_json
from nmtcore.model.device import check_gpu_count, choose_device


def launch(job: TrainingJob, *, terminal: TextIO | None = None) -> None:
    """Train in this process, or with several GPUs in one process for each; progress is shown on `terminal`."""
    if job.gpus == 1 or choose_device(job.device) == "cpu":
        train_run(job, terminal=terminal)
        return
    check_gpu_count(job.gpus)
    train_together(job)


def train_together(job: TrainingJob) -> None:
    """Train in `job.gpus` processes under torchrun, which share the job's threads.

    Raises a `UserError` when they fail, with the sentence of the process that failed if it left one.
    """
    specification = Path(job.checkpoints) / "job.json"
    write_json(specification, asdict(replace(job, threads=max(1, job.threads // job.gpus))))
    reason = failure_path(specification)
    reason.unlink(missing_ok=True)
    status = run_forwarding_signals(torchrun(specification, processes=job.gpus))
    if status and reason.exists():
        raise UserError(reason.read_text(encoding="utf-8").strip())
    if status:
        raise UserError(f"Training in {job.gpus} processes stopped with status {status}: see above.")


_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)
"""Signals that torchrun forwards to the trainers."""
_SAVING = 240
"""Seconds from a signal until torchrun kills the trainers: Slurm gives five minutes, torchrun by itself only 30 s."""


def torchrun(specification: Path, *, processes: int) -> list[str]:
    """Give the command that does a `TrainingJob`, written as JSON in a file, in several processes of this machine."""
    handled = ",".join(signal.Signals(number).name for number in _FORWARDED)
    command = [sys.executable, "-m", "nmtcore.training.torchrun", "--standalone", f"--nproc-per-node={processes}"]
    command += [f"--signals-to-handle={handled}", f"--shutdown-timeout={_SAVING}"]
    return [*command, "-m", "nmtcore.experiment.process", str(specification)]


def failure_path(specification: Path) -> Path:
    """Give the path where a process that fails leaves its sentence."""
    return specification.with_name("job.failed.txt")


def run_forwarding_signals(command: Sequence[str]) -> int:
    """Run a command that gets every signal of `_FORWARDED` that this process gets; give its status."""
    # `python -m`, here and in torchrun, would look for modules in the working directory first.
    process = subprocess.Popen(command, env=os.environ | {"PYTHONSAFEPATH": "1"})
    before = {number: signal.signal(number, lambda got, _: process.send_signal(got)) for number in _FORWARDED}
    try:
        return process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
