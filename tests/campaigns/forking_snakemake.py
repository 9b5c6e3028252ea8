"""Snakemake whose scripts are forked from itself instead of started: a tiny workflow takes seconds instead of minutes.

`python forking_snakemake.py JOBS ARGUMENTS`: `ARGUMENTS` are Snakemake's. Keeps each job's script in the folder JOBS,
with a line in `jobs.jsonl` that names its rule, inputs and outputs. The scripts run in `run_script`, which campaigns
use to run them again.
"""

import json
import os
import runpy
import shutil
import sys
import time
import traceback
from pathlib import Path
from subprocess import CalledProcessError


def run_script(path: Path) -> int:
    """Run a script of Snakemake in a process forked from this one; return its exit status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            runpy.run_path(str(path), run_name="__main__")
            status = 0
        except SystemExit as exit_:
            status = exit_.code
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def preload() -> None:
    """Import what the scripts import, once."""
    import nmtcore.experiment.inference
    import nmtcore.experiment.training
    import nmtcore.reporting.annotation_table
    import nmtcore.reporting.data_table
    import nmtcore.reporting.systems_table  # noqa: F401


def main() -> None:
    """Call Snakemake."""
    from snakemake.cli import main as snakemake
    from snakemake.script import PythonScript

    jobs = Path(sys.argv.pop(1)).resolve()
    jobs.mkdir()
    preload()

    def execute_script(self: PythonScript, name: str, edit: bool = False) -> None:
        path = jobs / Path(name).name
        shutil.copyfile(name, path)
        began = time.perf_counter()
        if status := run_script(path):
            raise CalledProcessError(status, name)
        seconds = time.perf_counter() - began
        if self.bench_record is not None:
            self.bench_record.running_time = seconds
        record = {"rule": self.rulename, "script": path.name, "seconds": seconds}
        record |= {"inputs": list(self.input), "outputs": list(self.output)}
        with (jobs / "jobs.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")

    PythonScript.execute_script = execute_script
    snakemake(sys.argv[1:])


if __name__ == "__main__":
    main()
