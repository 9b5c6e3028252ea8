"""A tiny workflow run from downloads to tables, made once: campaigns damage copies of it, and compare with it."""

import atexit
import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from campaigns.run import ROOT
from workflow.calling import FORKING, Workplace, make_workplace, smoke, write_gilded

SYSTEM = "depparse_l1"
TARGETS = (
    *(f"results/tiny/gilded/{SYSTEM}.{score}" for score in ("bleu", "uas", "gold.uas")),
    *(f"results/tables/{table}.md" for table in ("systems", "data", "annotation")),
    f"results/tiny/gilded/{SYSTEM}/seed1/manifest.json",
)
"""What a user asks for."""
RUN = f"results/tiny/gilded/{SYSTEM}/seed1"
SETTINGS = ("scale=tiny", 'datasets=["gilded"]', f'systems=["{SYSTEM}"]')


class Job(NamedTuple):
    """A job of the run."""

    rule: str
    script: Path
    """The rule's script as Snakemake calls it."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Reference(NamedTuple):
    """The undisturbed run."""

    workplace: Workplace
    jobs: tuple[Job, ...]

    def copy(self, folder: Path) -> Workplace:
        """Copy the finished run to another folder."""
        shutil.copytree(self.workplace.folder, folder / "work", symlinks=True)
        return Workplace(folder=folder / "work", snakefile=self.workplace.snakefile, mirror=self.workplace.mirror)


@cache
def reference() -> Reference:
    """Run the workflow."""
    folder = Path(mkdtemp(prefix="campaign-reference-"))
    atexit.register(_remove, folder, os.getpid())
    workplace = make_workplace(folder, ROOT / "Snakefile")
    write_gilded(workplace)
    workplace.edit("datasets/gilded", segmentation={"kind": "bpe", "joint": True, "size": 60})
    scale = smoke()
    scale["training"] |= {"max_updates": 40, "validation": {"every": 20, "stop_after": None}, "checkpoint_every": 10}
    workplace.write("scales/tiny", scale | {"segmentation_size": 60, "decoding": {"max_length": 12}})
    jobs = folder / "jobs"
    finished = subprocess.run(
        workplace.command("--cores", "1", *TARGETS, settings=SETTINGS, program=FORKING),
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src"), "FORKED_JOBS": str(jobs)},
    )
    if finished.returncode:
        raise RuntimeError(finished.stdout)
    records = map(json.loads, (jobs / "jobs.jsonl").read_text().splitlines())
    return Reference(
        workplace,
        tuple(Job(r["rule"], jobs / r["script"], tuple(r["inputs"]), tuple(r["outputs"])) for r in records),
    )


_VARIABLE = re.compile(rb'"(?:seconds|tokens_per_second|peak_memory_bytes|began|ended|energy)": [^,}]*')


def content(path: Path) -> dict[str, Any] | bytes:
    """Return what a file or folder holds, except what differs from run to run."""
    if path.is_dir():
        return {file.name: content(file) for file in sorted(path.iterdir()) if not file.name.startswith(".")}
    return _VARIABLE.sub(b"", path.read_bytes()) if path.exists() else b""


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # not a process forked from it
        shutil.rmtree(folder, ignore_errors=True)
