"""Jobs on a full disk: the terminal says so, no file is half-written, and with space again the job does as it did."""

import os
from pathlib import Path
from random import Random

from campaigns.intermediates import outputs, prepare, read_files, run, take_outputs
from campaigns.reference import Job, reference
from campaigns.run import WrongOutput
from full_disk import filled, on_small_disk

__all__ = ["attempt", "prepare"]
TIMED = "data_table"
"""A rule whose output differs from run to run."""


def attempt(random: Random, folder: Path) -> str:
    """Run a job on a small disk that is full, or nearly, and again once there is space."""
    finished = reference().workplace.folder
    jobs = [job for job in reference().jobs if read_files(job, finished) and all(outputs(job, finished).values())]
    job = random.choice([job for job in jobs if job.rule != TIMED])
    free = random.choice((0, 1, 2, 4, 8, 16)) * os.sysconf("SC_PAGE_SIZE")
    if failure := on_small_disk(folder, lambda: _fill_and_free(job, folder, free)):
        raise RuntimeError(failure)
    return "clean"


def _fill_and_free(job: Job, folder: Path, free: int) -> None:
    os.environ["NMTCORE_LIVE"] = "1"  # messages go to the log, which is on the same disk
    work = reference().copy(folder).folder
    expected = take_outputs(job, work)
    with filled(folder, free):
        status, message = run(job, work)
    if status:
        if "is full" not in message or "Traceback" in message:
            raise WrongOutput(f"{job.rule} with {free} bytes free: {message}")
        if not all(_is_whole(made, expected[name]) for name, made in outputs(job, work).items()):
            raise WrongOutput(f"{job.rule} with {free} bytes free left half-written files")
        status, message = run(job, work)
    if status or outputs(job, work) != expected:
        raise WrongOutput(f"{job.rule} with space again: {message or 'other output'}")


def _is_whole(made: dict | bytes, expected: dict | bytes) -> bool:
    """Return whether a file is whole or missing; or all files of a folder are."""
    return made.items() <= expected.items() if isinstance(made, dict) else made in (b"", expected)
