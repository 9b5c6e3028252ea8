"""Copies of a finished run whose times are in disorder, with or without Snakemake's notes: nothing is repeated.

After an edit, the plan is that of a copy with times and notes.
"""

import os
import shutil
from pathlib import Path
from random import Random

from campaigns.reference import SETTINGS, TARGETS, reference
from campaigns.run import WrongOutput
from workflow.calling import Workplace

EDITS = (
    {},
    {"evaluation": {"greedy_dev": True}},
    {"filters": ["empty"]},
    {"evaluation": {"roots": "many"}},
    {"max_bad_lines": 3},
    {"segmentation": {"kind": "bpe", "joint": True, "size": 50}},
)
"""Keys of the data set that a case changes."""


def prepare() -> None:
    """Make the run that all cases copy."""
    reference()


def attempt(random: Random, folder: Path) -> str:
    """Plan an edit in a disturbed copy, and in one that is as it was."""
    edit = random.choice(EDITS)
    plans = []
    for name, disturb in (("whole", lambda work: None), ("disturbed", lambda work: _disturb(work, random))):
        (folder / name).mkdir()
        work = reference().copy(folder / name)
        disturb(work)
        work.edit("datasets/trees", **edit)
        plans.append(work.plan(*TARGETS, settings=SETTINGS).rules)
    whole, disturbed = plans
    if disturbed != whole or bool(whole) != bool(edit):
        raise WrongOutput(f"after {edit}: {sorted(disturbed)} instead of {sorted(whole)}")
    return "clean"


def _disturb(work: Workplace, random: Random) -> None:
    if random.random() < 0.5:
        shutil.rmtree(work.folder / ".snakemake")
    if random.random() < 0.5:
        for path in work.folder.rglob(".snakemake_timestamp"):
            path.unlink()
    for path in sorted(work.folder.rglob("*")):
        if random.random() < 0.7 and ".snakemake" not in path.parts:
            seconds = random.randrange(10**9, 2 * 10**9)
            os.utime(path, (seconds, seconds))
