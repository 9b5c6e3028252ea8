"""Snakemake whose scripts are forked from itself instead of started: a small workflow takes seconds, not minutes.

`python forking_snakemake.py ARGUMENTS`: `ARGUMENTS` are Snakemake's. If the variable FORKED_JOBS names a folder, it
keeps each job's script there, with a line in `jobs.jsonl` that names its rule, inputs and outputs.
"""

import json
import os
import runpy
import shutil
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

    folder = os.environ.get("FORKED_JOBS")
    if folder:
        os.mkdir(folder)

    def execute_script(self: Any, name: str, edit: bool = False) -> None:
        preload()
        path = Path(folder or ".snakemake/scripts", Path(name).name)
        if folder:
            shutil.copyfile(name, path)
        began = time.perf_counter()
        if status := run_script(path if folder else Path(name)):
            raise CalledProcessError(status, name)
        seconds = time.perf_counter() - began
        if self.bench_record is not None:
            self.bench_record.running_time = seconds
        if folder:
            record = {"rule": self.rulename, "script": path.name, "seconds": seconds}
            record |= {"inputs": list(self.input), "outputs": list(self.output)}
            with Path(folder, "jobs.jsonl").open("a") as file:
                file.write(json.dumps(record) + "\n")

    PythonScript.execute_script = execute_script


def main() -> None:
    """Call Snakemake."""
    from snakemake.cli import main as snakemake

    fork_scripts()
    snakemake(sys.argv[1:])


if __name__ == "__main__":
    main()
