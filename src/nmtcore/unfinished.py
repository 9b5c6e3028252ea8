"""A record of the outputs that a plan will replace, so that the next plan makes those that are missing then.

Snakemake removes the outputs of a job before it starts, and after a failure forgets why the job ran. Files made from
the old outputs then look up to date, and old scores would pass for those of new settings.
"""

from collections.abc import Iterable
from pathlib import Path

from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json
from nmtcore.layout import Layout


def record_plan(outputs: Iterable[str], *, layout: Layout) -> None:
    """Record the outputs that a plan will replace, none once its jobs have succeeded.

    Those that were recorded before and are missing stay recorded. A record of nothing is deleted.
    """
    if recorded := sorted({*unfinished(layout), *map(str, outputs)}):
        write_json(_record(layout), recorded)
    else:
        _record(layout).unlink(missing_ok=True)


def unfinished(layout: Layout) -> list[str]:
    """List the recorded outputs that are missing. Raises `UserError` if the record is damaged."""
    record = _record(layout)
    names = read_json(record) if record.exists() else []
    if not isinstance(names, list) or not all(isinstance(name, str) and "\0" not in name for name in names):
        raise UserError(f"{record} does not list the outputs of a job: delete it.")
    return [name for name in names if not Path(name).exists()]


def _record(layout: Layout) -> Path:
    return Path(layout.path("unfinished"), "plan.json")
