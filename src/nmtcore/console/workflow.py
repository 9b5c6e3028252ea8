"""Snakemake as another process, whose output goes to a log."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from nmtcore.console.events import EVENTS

PATIENCE = 60.0
"""Seconds that an interrupted workflow has to end; training writes a checkpoint in them."""


class Workflow:
    """A running workflow, with its jobs in a process group of their own."""

    def __init__(self, arguments: Sequence[str], *, events: Path, log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-P", "-m", "snakemake", *arguments]
        with open(log, "wb") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, EVENTS: str(events)},
                start_new_session=True,
            )

    def wait(self, seconds: float) -> int | None:
        """Wait for at most some seconds; return the exit status, or None if the workflow is still running."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> None:
        """Interrupt the workflow and its jobs, which write checkpoints; kill them if they take too long."""
        self._signal(signal.SIGINT)
        try:
            if self.wait(PATIENCE) is None:
                self._signal(signal.SIGKILL)
        except KeyboardInterrupt:
            self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, number)
