"""Snakemake whose scripts are forked from itself instead of started: a small workflow takes seconds, not minutes.

`python forking_snakemake.py ARGUMENTS`: `ARGUMENTS` are Snakemake's.
"""

import os
import runpy
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any


def run_script(path: Path) -> int:
    """Run a script of Snakemake in a process forked from this one; return its exit status."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            runpy.run_path(str(path), run_name="__main__")
            status = 0
        except SystemExit as end:
            status = end.code or 0
            if not isinstance(status, int):
                print(status, file=sys.stderr)
                status = 1
        except BaseException:
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):  # a log on a full disk
                    stream.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def preload() -> None:
    """Import what the scripts import, once."""

    import nmtcore.corpus.filters
    import nmtcore.corpus.read
    import nmtcore.evaluation.scores
    import nmtcore.experiment.inference
    import nmtcore.experiment.training
    import nmtcore.reporting.plain_tables
    import nmtcore.segmentation.learn
    import nmtcore.tables.make  # noqa: F401


def fork_scripts() -> None:
    """Let Snakemake fork its scripts."""
    from snakemake.script import PythonScript

    def execute_script(self: Any, name: str, edit: bool = False) -> None:
        preload()
        began = time.perf_counter()
        if status := run_script(Path(name)):
            raise CalledProcessError(status, name)
        if self.bench_record is not None:
            self.bench_record.running_time = time.perf_counter() - began

    PythonScript.execute_script = execute_script


def main() -> None:
    """Call Snakemake."""
    from snakemake.cli import main as snakemake

    fork_scripts()
    snakemake(sys.argv[1:])


if __name__ == "__main__":
    main()
