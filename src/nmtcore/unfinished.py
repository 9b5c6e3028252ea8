"""Outputs that a job was to make anew and that never came: removed before the job, and not there since.

Snakemake removes the outputs of a job before it starts, and after it failed forgets why it ran. What was made of them
earlier then looks up to date, and old scores would pass for those of new settings. So jobs and plans note outputs here,
in a folder of the logs, and the next plan makes those that are missing.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nmtcore.files import read_json, write_json
from nmtcore.layout import Layout


@contextmanager
def outputs_noted(outputs: Iterable[str], *, layout: Layout) -> Iterator[None]:
    """Note the outputs of a job while the block runs, and for good when it fails or is killed."""
    names = sorted(map(str, outputs))
    note = Path(layout.path("unfinished"), f"{hashlib.sha1(' '.join(names).encode()).hexdigest()}.json")
    write_json(note, names)
    yield
    note.unlink(missing_ok=True)


def note_plan(outputs: Iterable[str], *, layout: Layout) -> None:
    """Note what the jobs of a plan will replace, for those that fail before they can note it (a node breaks down, say).

    What was noted before and is still missing stays.
    """
    write_json(_plan(layout), sorted({*unfinished(layout), *map(str, outputs)}))


def forget_plan(layout: Layout) -> None:
    """Drop the note of a plan, all of whose jobs ended well."""
    _plan(layout).unlink(missing_ok=True)


def unfinished(layout: Layout) -> list[str]:
    """List the noted outputs that are missing. A note that is broken is a `UserError`."""
    notes = sorted(Path(layout.path("unfinished")).glob("[!.]*.json"))
    return [name for note in notes for name in read_json(note) if not Path(name).exists()]


def _plan(layout: Layout) -> Path:
    return Path(layout.path("unfinished"), "plan.json")
