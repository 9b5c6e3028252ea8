"""Damaged files between the stages: the next job refuses them by a sentence with advice, or makes what it should."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryFile

from campaigns.damage import damaged_bytes, damaged_json
from campaigns.reference import RUN, Job, content, reference
from campaigns.run import WrongOutput
from forking_snakemake import run_script

from nmtcore.errors import UserError

CHECKPOINTS = "checkpoints"
WRITTEN = "results/logs/written"
ADVICE = re.compile(r"\b(again|delete|remove|correct|replace|convert|back to)\b", re.IGNORECASE)
TRAINING = f"{RUN}/training.jsonl"


def prepare() -> None:
    """Make the reference, once, before processes are forked."""
    from forking_snakemake import preload

    preload()
    reference()


def attempt(random: Random, folder: Path) -> str:
    """Damage a file that a job reads, and run the job."""
    work = reference().copy(folder).folder
    jobs = [job for job in reference().jobs if read_files(job, work)]
    job = random.choice([*jobs, *10 * [job for job in jobs if TRAINING in job.outputs]])
    name = random.choice(read_files(job, work))
    if TRAINING in job.outputs and random.random() < 0.7:
        name = _stopped_training(work, random)
    has_records = random.random() < 0.3
    if not has_records:  # as in results of earlier versions
        shutil.rmtree(work / WRITTEN, ignore_errors=True)
    damage = random.choice(sorted(DAMAGE))
    path = work / name
    before = path.read_bytes()
    path.write_bytes(DAMAGE[damage](before, random))
    if path.read_bytes() == before:
        return "clean"
    expected = take_outputs(job, work)
    status, message = run(job, work)
    where = f"{damage} of {name} for {job.rule}"
    if status == 0:
        knowable = has_records and CHECKPOINTS not in name
        if knowable and outputs(job, work) != expected:
            raise WrongOutput(f"{where}: other output, and no word")
        return "clean"
    if "Traceback" in message or not message:
        raise RuntimeError(f"{where}: {message}")
    if path.name not in message and not (path.parent.name in message and "/" in name):
        raise WrongOutput(f"{where} is not named: {message}")
    if not ADVICE.search(message):
        raise WrongOutput(f"{where} without advice: {message}")
    raise UserError(message.strip())


def outputs(job: Job, work: Path) -> dict[str, dict | bytes]:
    """Return what the outputs of a job hold."""
    return {output: content(work / output) for output in job.outputs}


def take_outputs(job: Job, work: Path) -> dict[str, dict | bytes]:
    """Delete the outputs of a job, and return what they held."""
    held = outputs(job, work)
    for path in (work / output for output in job.outputs):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return held


def read_files(job: Job, work: Path) -> list[str]:
    """List the files of the run that a job reads."""
    files: list[str] = []
    if not all((work / name).exists() for name in job.inputs):  # shards of annotation are deleted after use
        return []
    for name in job.inputs:
        path = work / name
        inner = sorted(path.iterdir()) if path.is_dir() else [path]
        files += [str(file.relative_to(work)) for file in inner if not file.name.startswith(".")]
    return [name for name in files if name.startswith("results")]


def _stopped_training(work: Path, random: Random) -> str:
    """Take a run back to a checkpoint, and choose one of the files with which it is resumed, or an older version's."""
    (folder,) = (work / RUN / CHECKPOINTS).iterdir()
    if random.random() < 0.5:
        older = folder.rename(folder.with_name("0" * 16)) / "run.json"
        older.write_bytes(damaged_json(older.read_bytes(), random))
        return str(older.relative_to(work))
    newest = max(folder.glob("0*.safetensors"))
    if random.random() < 0.8:
        newest.unlink()
    return str(random.choice([path for path in sorted(folder.iterdir()) if path.is_file()]).relative_to(work))


def run(job: Job, work: Path) -> tuple[int, str]:
    """Run a job's script in a folder; return its exit status and what the user sees, or the stack trace."""
    with TemporaryFile("r", errors="replace") as messages:
        child = os.fork()
        if child == 0:
            os.chdir(work)
            os.dup2(messages.fileno(), 1)
            os.dup2(messages.fileno(), 2)
            os._exit(run_script(job.script) and 1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        messages.seek(0)
        shown = messages.read()
    if status and not shown:
        log = max(work.glob("results/**/*.log"), key=lambda path: path.stat().st_mtime_ns)
        return status, log.read_text(errors="replace")
    return status, shown


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))] if data else data


def _swapped(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    random.shuffle(lines)
    return b"".join(lines)


def _other(data: bytes, random: Random) -> bytes:
    """Return what another file of the run holds."""
    files = [path for path in sorted(reference().workplace.folder.rglob("results/**/*")) if path.is_file()]
    return random.choice([path for path in files if path.suffix != ".log"]).read_bytes()


DAMAGE: dict[str, Callable[[bytes, Random], bytes]] = {
    "cut": _cut, "emptying": lambda data, random: b"", "other content": _other, "shuffled lines": _swapped,
    "damaged bytes": damaged_bytes, "damaged values": damaged_json,
}  # fmt: skip
