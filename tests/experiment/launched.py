"""A small training job on disk, and the processes that do it."""

import os
import sys
import time
from pathlib import Path

import numpy as np
from factories import run_settings
from inference.tiny import PIECES, write_segmentation
from training.processes import PROCESSES

from nmtcore.config.runs import run_to_json
from nmtcore.config.training import TrainingSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.experiment.launch import train_distributed
from nmtcore.experiment.training import TrainingJob
from nmtcore.features.examples import TOKENS_SCHEMA
from nmtcore.parquet import write_rows
from nmtcore.segmentation.vocabulary import SPECIALS
from nmtcore.training.checkpoints import Checkpoints

UPDATES = 200
TRAINING = {
    "schedule": {"peak": 0.01, "warmup": 20},
    "batch": {"unit": "sentences", "size": 16},
    "validation": {"every": 100, "metric": "perplexity"},
    "max_updates": UPDATES,
    "checkpoint_every": 10,
}


def write_job(folder: Path) -> TrainingJob:
    """Write the files of a job for two processes on the CPU: sentences as sources, their reversals as targets."""
    run = run_settings(training=build(TrainingSettings, TRAINING, where="test"))
    write_segmentation(folder / "segmentation")
    generator = np.random.default_rng(1)
    for split, count in (("train", 200), ("dev", 10)):
        vocabulary = (len(SPECIALS), len(SPECIALS) + len(PIECES))
        sentences = [generator.integers(*vocabulary, n).tolist() for n in generator.integers(1, 8, count)]
        for side, step in (("source", 1), ("target", -1)):
            rows = [
                {"id": i, "ids": ids[::step], "word_of_subword": list(range(len(ids)))}
                for i, ids in enumerate(sentences)
            ]
            write_rows(folder / f"features/{split}.{side}.parquet", TOKENS_SCHEMA, rows)
    return TrainingJob(
        run=run_to_json(run),
        features=str(folder / "features"),
        segmentation=str(folder / "segmentation"),
        labels={},
        dev_corpus="nowhere",
        checkpoints=str(folder / "checkpoints"),
        model=str(folder / "model"),
        history=str(folder / "training.jsonl"),
        device="cpu",
        gpus=2,
        threads=2,
    )


class Launched:
    """A process that starts the processes that do a job."""

    def __init__(self, job: TrainingJob) -> None:
        self._folder = Path(job.checkpoints)
        self._folder.mkdir(exist_ok=True)
        self._output = self._folder.with_name(f"output.{time.monotonic_ns()}")
        self._process = PROCESSES.Process(target=_launch, args=(job, self._output))
        self._process.start()
        self.pid = self._process.pid

    def wait_for_update(self, update: int) -> Path:
        """Wait for a checkpoint of `update` or a later update; return the path of the lock file."""
        while self._process.is_alive():
            for lock in self._folder.glob("*/lock"):
                if max(Checkpoints(lock.parent).paths(), default=-1) >= update:
                    return lock
            time.sleep(0.005)
        raise AssertionError(f"the training ended too early:\n{self.end()[0]}")

    def end(self) -> tuple[str, str, int]:
        """Wait for the end; return the output of all processes, its last line and the exit code."""
        self._process.join(300)
        output = self._output.read_text()
        return output, output.strip().rpartition("\n")[2], self._process.exitcode


def _launch(job: TrainingJob, output: Path) -> None:
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(file, stream)
    # The workers import the tests' modules as well.
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    try:
        train_distributed(job)
    except UserError as error:
        sys.exit(str(error))


def lock_holder(lock: Path) -> int:
    """Return the PID of the process that holds the lock."""
    return int(lock.read_text().split()[1])
