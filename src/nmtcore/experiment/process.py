"""The entry point of each process of a distributed training."""

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from nmtcore.errors import UserError
from nmtcore.experiment.launch import failure_path
from nmtcore.experiment.training import TrainingJob, train_run
from nmtcore.files import read_json, write_text
from nmtcore.training.distributed import OtherProcessEnded


def run_process(arguments: Sequence[str]) -> None:
    """Run one process of a distributed training (`torchrun -m nmtcore.experiment.process job.json`).

    A failing process also writes its message to a file next to the job's (see `train_distributed`), unless it ends only
    because another process has ended.
    """
    specification = Path(arguments[0])
    try:
        train_run(TrainingJob(**read_json(specification)))
    except UserError as error:
        print(error, file=sys.stderr)
        if not isinstance(error, OtherProcessEnded):
            write_text(failure_path(specification), f"{error}\n")
        _exit_now()
    except Exception:
        traceback.print_exc()
        _exit_now()


def _exit_now() -> None:
    """End with status 1, without torch's clean-up.

    The clean-up would abort this process, or wait for the other processes, which in turn wait for this one to end.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


if __name__ == "__main__":
    run_process(sys.argv[1:])
