"""One process of a distributed training: `torchrun -m nmtcore.experiment.process job.json`."""

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

    A process that fails also leaves its sentence beside the file, for `train_together`, unless another failed first.
    """
    specification = Path(arguments[0])
    try:
        train_run(TrainingJob(**read_json(specification)))
    except UserError as error:
        print(error, file=sys.stderr)
        if not isinstance(error, OtherProcessEnded):
            write_text(failure_path(specification), f"{error}\n")
        _leave_at_once()
    except Exception:
        traceback.print_exc()
        _leave_at_once()


def _leave_at_once() -> None:
    """End with status 1, without torch's clean-up: that would abort the process, or wait for the other processes.

    They in turn wait for the end of this one.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


if __name__ == "__main__":
    run_process(sys.argv[1:])
