"""Launching a training in this process, or in one process per GPU.

`python -m nmtcore.experiment.launch JOB` is one of these processes; torch's environment variables say which.
"""

import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType

from nmtcore import gpus
from nmtcore.errors import UserError
from nmtcore.experiment.training import TrainingJob, train_run
from nmtcore.files import read_json, write_json, write_text
from nmtcore.memory import keep_freed_memory
from nmtcore.model.device import check_gpu_count, choose_device
from nmtcore.training.world import OtherProcessEnded

_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)
"""Signals forwarded to the processes of a training."""
_GRACE = 30.0
"""Seconds for the other processes to notice that one has failed, before they are killed."""


def launch_training(job: TrainingJob) -> None:
    """Train in this process, or with several GPUs in one process per GPU."""
    if job.gpus == 1 or choose_device(job.device) == "cpu":
        train_run(job)
        return
    check_gpu_count(job.gpus)
    train_distributed(job)


def train_distributed(job: TrainingJob) -> None:
    """Train in `job.gpus` processes, which share the job's threads.

    Raises `UserError` if a process fails, with that process's own message if it wrote one.
    """
    specification = Path(job.checkpoints) / "job.json"
    failure = _failure_path(specification)
    write_json(specification, asdict(replace(job, threads=max(1, job.threads // job.gpus))))
    failure.unlink(missing_ok=True)
    command = [sys.executable, "-m", "nmtcore.experiment.launch", str(specification)]
    statuses = run_processes(command, job.gpus)
    if any(statuses):
        if failure.exists():
            raise UserError(failure.read_text(encoding="utf-8").strip())
        listed = ", ".join(map(str, statuses))
        raise UserError(f"Training in {job.gpus} processes ended with status {listed}: their messages are above.")


def run_processes(command: Sequence[str], count: int) -> list[int]:
    """Run a command in processes that torch can connect, and return their statuses.

    Signals in `_FORWARDED` are forwarded to all of them. If one fails, the others have `_GRACE` seconds to end.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
    # Without PYTHONSAFEPATH, `python -m` would search the working directory for modules first.
    shared |= {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count), "PYTHONSAFEPATH": "1"}
    numbers = ({"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(count))
    processes = [subprocess.Popen(command, env=os.environ | shared | ranks, pass_fds=gpus.held) for ranks in numbers]

    def forward(number: int, _: FrameType | None) -> None:
        for process in processes:
            process.send_signal(number)

    previous = {number: signal.signal(number, forward) for number in _FORWARDED}
    failed_at = None
    try:
        while None in (statuses := [process.poll() for process in processes]):
            if failed_at is None and any(statuses):
                failed_at = time.monotonic()
            if failed_at is not None and time.monotonic() > failed_at + _GRACE:
                forward(signal.SIGKILL, None)
            time.sleep(0.1)
        return statuses
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _failure_path(specification: Path) -> Path:
    """Return the path of the file into which a failing process writes its error message."""
    return specification.with_name("job.failed.txt")


def run_process(specification: Path) -> None:
    """Run one process of a distributed training, the `TrainingJob` in a JSON file.

    A failing process also writes its message to a file next to the job's, unless it ends only because another process
    has ended. It ends without torch's clean-up, which would abort it, or wait for the others, which wait for its end.
    """
    keep_freed_memory()
    try:
        train_run(TrainingJob(**read_json(specification)))
    except Exception as error:
        if isinstance(error, UserError):
            print(error, file=sys.stderr)
        else:
            traceback.print_exc()
        if isinstance(error, UserError) and not isinstance(error, OtherProcessEnded):
            write_text(_failure_path(specification), f"{error}\n")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    run_process(Path(sys.argv[1]))
