"""Records of outputs that a job was to replace, so that the next plan makes those that are still missing.

Snakemake removes the outputs of a job before it starts, and after a failure forgets why the job ran. Files made from
the old outputs then look up to date, and old scores would pass for those of new settings. So jobs and plans record
their outputs in a folder of the logs.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json
from nmtcore.layout import Layout


@contextmanager
def outputs_recorded(outputs: Iterable[str], *, layout: Layout) -> Iterator[None]:
    """Record the outputs of a job; delete the record if the block succeeds."""
    names = sorted(map(str, outputs))
    record = Path(layout.path("unfinished"), f"{hashlib.sha1(' '.join(names).encode()).hexdigest()}.json")
    write_json(record, names)
    yield
    record.unlink(missing_ok=True)


def record_plan(outputs: Iterable[str], *, layout: Layout) -> None:
    """Record the outputs that a plan will replace, for jobs that fail before they record them, such as on a lost node.

    Outputs that were recorded before and are still missing stay recorded.
    """
    write_json(_plan_record(layout), sorted({*unfinished(layout), *map(str, outputs)}))


def delete_plan_record(layout: Layout) -> None:
    """Delete the record of a plan whose jobs have all succeeded."""
    _plan_record(layout).unlink(missing_ok=True)


def unfinished(layout: Layout) -> list[str]:
    """List the recorded outputs that are missing. Raises `UserError` if a record is damaged."""
    records = sorted(Path(layout.path("unfinished")).glob("[!.]*.json"))
    return [name for record in records for name in _names(record) if not Path(name).exists()]


def _names(record: Path) -> list[str]:
    names = read_json(record)
    if not isinstance(names, list) or not all(isinstance(name, str) and "\0" not in name for name in names):
        raise UserError(f"{record} does not list the outputs of a job: delete it.")
    return names


def _plan_record(layout: Layout) -> Path:
    return Path(layout.path("unfinished"), "plan.json")
