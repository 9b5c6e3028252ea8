"""Processes that are killed while they write: the next one makes the same files, and nothing else is left."""

import os
import signal
import time
from pathlib import Path
from random import Random

from campaigns.disk import WRITERS, written
from campaigns.run import WrongOutput


def attempt(random: Random, folder: Path) -> str:
    """Kill a writer at any time, once or twice, then let it finish."""
    name, seed = random.choice(sorted(WRITERS)), random.randrange(2**32)
    began = time.perf_counter()
    WRITERS[name](folder / "reference", seed)
    duration = time.perf_counter() - began
    expected = written(folder / "reference")
    for _ in range(random.choice((1, 1, 2))):
        child = os.fork()
        if child == 0:
            WRITERS[name](folder / "out", seed)
            os._exit(0)
        time.sleep(random.random() * 1.2 * duration)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        half = {file for file, data in written(folder / "out").items() if file in expected and data != expected[file]}
        if half and name != "history":  # a log grows by lines
            raise WrongOutput(f"{name} left {sorted(half)} under their final names")
    WRITERS[name](folder / "out", seed)
    if written(folder / "out") != expected:
        raise WrongOutput(f"{name}: {sorted(written(folder / 'out'))} is not {sorted(expected)}")
    return "clean"
