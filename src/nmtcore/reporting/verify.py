"""Whether the results of a folder are still as they were made."""

import os
from collections.abc import Mapping

from nmtcore.errors import UserError
from nmtcore.layout import FILES, NO_OUTPUTS, TEMPORARY, Layout
from nmtcore.written import Records, differing

_STATES = {
    "unknown": "without a record of what they were made from",
    "older": "made by an older version; the workflow makes them again",
    "missing": "no longer there; the workflow makes those again that it needs",
    "damaged": "not as the workflow wrote them: delete them and run the workflow again",
}
_SHOWN = 20
"""The most paths to list in each state."""


def verify(layout: Layout, versions: Mapping[str, int]) -> list[str]:
    """Compare all results with their records; return lines that list those that are missing, older or unknown.

    `versions` has the version of each rule. Raises `UserError` with the same lines if any are damaged.
    """
    listed: dict[str, list[str]] = {state: [] for state in _STATES}
    whole, recorded = 0, set()
    for record in Records(layout).all():
        path, parsed = record["path"], layout.parse(record["path"])
        if "state" in record or (parsed and parsed.file_type in TEMPORARY and not os.path.exists(path)):
            continue
        recorded.add(path)
        damaged = [str(file) for file in differing(record)]
        if not os.path.exists(path):
            listed["missing"].append(path)
        elif damaged:
            listed["damaged"] += damaged
        elif record["settings"].get("version") != versions.get(record["rule"], record["settings"].get("version")):
            listed["older"].append(path)
        else:
            whole += 1
    made = (str(path) for file_type in FILES.keys() - NO_OUTPUTS for path in layout.existing(file_type))
    listed["unknown"] += [path for path in made if path not in recorded and path.startswith(layout.results)]
    lines = [f"As they were made: {whole:,} results."]
    for state, paths in listed.items():
        if paths:
            more = [f"  and {len(paths) - _SHOWN:,} more"] if len(paths) > _SHOWN else []
            shown = [f"  {path}" for path in sorted(paths)[:_SHOWN]]
            lines += [f"{state.capitalize()} ({len(paths):,}): {_STATES[state]}.", *shown, *more]
    if listed["damaged"]:
        raise UserError("\n".join(lines))
    return lines
