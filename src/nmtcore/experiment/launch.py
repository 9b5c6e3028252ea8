"""Launching a training in this process, or under torchrun with one process per GPU."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import TextIO

from nmtcore.errors import UserError
from nmtcore.experiment.processes import failure_path
from nmtcore.experiment.training import TrainingJob, train_run
from nmtcore.files import write_json
from nmtcore.model.device import check_gpu_count, choose_device


def launch_training(job: TrainingJob, *, terminal: TextIO | None = None) -> None:
    """Train in this process, or with several GPUs in one process per GPU; progress is shown on `terminal`."""
    if job.gpus == 1 or choose_device(job.device) == "cpu":
        train_run(job, terminal=terminal)
        return
    check_gpu_count(job.gpus)
    train_distributed(job)


def train_distributed(job: TrainingJob) -> None:
    """Train in `job.gpus` processes under torchrun, which share the job's threads.

    Raises `UserError` if a process fails, with that process's own message if it wrote one.
    """
    specification = Path(job.checkpoints) / "job.json"
    write_json(specification, asdict(replace(job, threads=max(1, job.threads // job.gpus))))
    failure = failure_path(specification)
    failure.unlink(missing_ok=True)
    status = run_forwarding_signals(torchrun_command(specification, processes=job.gpus))
    if status and failure.exists():
        raise UserError(failure.read_text(encoding="utf-8").strip())
    if status:
        raise UserError(f"Training in {job.gpus} processes ended with status {status}: their messages are above.")


_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)
"""Signals forwarded to torchrun's workers."""
_SHUTDOWN_TIMEOUT = 240
"""Seconds from a signal until torchrun kills its workers: Slurm allows five minutes, torchrun by default only 30 s."""


def torchrun_command(specification: Path, *, processes: int) -> list[str]:
    """Return the command that runs the `TrainingJob` in a JSON file with several processes on this machine."""
    signals = ",".join(signal.Signals(number).name for number in _FORWARDED)
    module = ["-m", "nmtcore.experiment.processes"]
    options = ["--standalone", f"--nproc-per-node={processes}", f"--signals-to-handle={signals}"]
    options += [f"--shutdown-timeout={_SHUTDOWN_TIMEOUT}"]
    return [sys.executable, *module, "torchrun", *options, *module, str(specification)]


def run_forwarding_signals(command: Sequence[str]) -> int:
    """Run a command, forward to it the signals in `_FORWARDED` that this process receives, and return its status."""
    # Without this, `python -m`, here and in torchrun, would search the working directory for modules first.
    process = subprocess.Popen(command, env=os.environ | {"PYTHONSAFEPATH": "1"})

    def forward(number: int, _: FrameType | None) -> None:
        process.send_signal(number)

    previous = {number: signal.signal(number, forward) for number in _FORWARDED}
    try:
        return process.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
