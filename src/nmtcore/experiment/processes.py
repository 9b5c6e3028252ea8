"""What torchrun starts: `python -m nmtcore.experiment.processes torchrun ARGUMENTS` and, in each process, `... JOB`.

Neither ends with a stack trace for what a user can mend: each process prints its own error, and torchrun adds a table
of exit statuses.
"""

import os
import sys
import traceback
from pathlib import Path

from nmtcore.errors import UserError
from nmtcore.files import read_json, write_text
from nmtcore.memory import keep_freed_memory


def failure_path(specification: Path) -> Path:
    """Return the path of the file into which a failing process writes its error message."""
    return specification.with_name("job.failed.txt")


def run_torchrun(arguments: list[str]) -> None:
    """Run torchrun with its arguments."""
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import main

    try:
        main(arguments)
    except (ChildFailedError, SignalException) as error:
        sys.exit(str(error))


def run_process(specification: Path) -> None:
    """Run one process of a distributed training, the `TrainingJob` in a JSON file.

    A failing process also writes its message to a file next to the job's, unless it ends only because another process
    has ended.
    """
    from nmtcore.experiment.training import TrainingJob, train_run
    from nmtcore.training.world import OtherProcessEnded

    keep_freed_memory()
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
    if sys.argv[1] == "torchrun":
        run_torchrun(sys.argv[2:])
    else:
        run_process(Path(sys.argv[1]))
