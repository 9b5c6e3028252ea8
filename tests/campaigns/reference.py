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

import yaml
from campaigns.run import ROOT
from workflow.calling import FORKING, Workplace, little, make_workplace, write_little

SYSTEM = "depparse_l1"
TARGETS = (
    *(f"results/tiny/trees/{SYSTEM}.{score}" for score in ("bleu", "uas", "gold.uas")),
    *(f"results/tables/{table}.md" for table in ("systems", "data", "annotation")),
    f"results/tiny/trees/{SYSTEM}/seed1/manifest.json",
)
"""What a user asks for."""
RUN = f"results/tiny/trees/{SYSTEM}/seed1"
SETTINGS = ("scale=tiny", 'datasets=["trees"]', f'systems=["{SYSTEM}"]')


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
    write_data(workplace)
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


def write_data(workplace: Workplace) -> None:
    """Write a small corpus with trees, a data set of it and a scale."""
    write_little(workplace)
    corpora = {}
    for split in ("train", "dev", "test"):
        text = (workplace.mirror / f"{split}.en").read_text(encoding="utf-8").splitlines()
        (workplace.mirror / f"{split}.conllu").write_text("".join(map(_chain, text)), encoding="utf-8")
        files = {"en": _file(f"{split}.conllu"), "de": _file(f"{split}.de")}
        corpora[split] = {"format": "conllu", "options": {"target_format": "plain"}, "files": files}
    corpora["gold_hand"] = {"format": "conllu", "files": {"en": _file("test.conllu")}}
    own = {
        "words": {"source": "given", "target": "spaces"},
        "annotators": {"existing": {"tool": "existing"}},
        "syntax": {"source": {"dependencies": "existing"}},
        "segmentation": {"kind": "bpe", "joint": True, "size": 60},
    }
    workplace.write("datasets/trees", little(corpora=corpora, splits={name: name for name in corpora}, **own))
    scale = yaml.safe_load((ROOT / "config/scales/smoke.yaml").read_text(encoding="utf-8"))
    scale["training"] |= {"max_updates": 40, "validation": {"every": 20, "stop_after": None}, "checkpoint_every": 10}
    scale |= {"segmentation_size": 60, "decoding": {"max_length": 12}}
    workplace.write("scales/tiny", scale)


def _chain(text: str) -> str:
    """Write a sentence as CoNLL-U in which each word depends on the one before."""
    words = text.split()
    rows = (
        f"{i}\t{word}\t_\tX\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_\n" for i, word in enumerate(words, 1)
    )
    return "".join(rows) + "\n"


def _file(name: str) -> dict:
    return {"name": f"trees/{name}", "mirrors": [{"path": name}]}
