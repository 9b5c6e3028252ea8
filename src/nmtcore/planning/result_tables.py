"""Tables of results: their names, and that none is lost to another configuration."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from nmtcore.config.project import Project
from nmtcore.config.settings import ProjectSettings
from nmtcore.config.typed import choose
from nmtcore.errors import UserError
from nmtcore.layout import NAME

TABLES = {"systems": "system", "data": "data", "annotation": "annotation", "parsers": "parser"}
"""What tables are about: their names, and what begins the names of their kinds of files (`nmtcore.layout`).

results/tables/{TABLE}.md holds one, results/tables/{NAME}/{TABLE}.md another; NAME is the user's.
"""


def check_table(project: Project, parts: Sequence[str], target: str) -> None:
    """Raise a `UserError` when a table, `parts` below results/tables, is unknown or would lose what it holds.

    A table may be made again and may grow, but one that holds what the configuration does not ask for is not replaced.
    """
    name = parts[-1].partition(".")[0]
    choose(name, TABLES if len(parts) > 1 else (*TABLES, "demo"), what="table", where=target)
    if len(parts) > 2 or (len(parts) == 2 and not re.fullmatch(NAME, parts[0])):
        raise UserError(
            f"{target}: a table is tables/{name}.md or tables/NAME/{name}.md, with a NAME of small letters, digits and "
            "single underscores."
        )
    if name not in TABLES:
        return
    path, kind = project.layout.path, TABLES[name]
    made = Path(path(f"{kind}_json", table="".join(f"{part}/" for part in parts[:-1])))
    rows, asked = _read(name, made) if made.exists() else [], _asked(name, project.settings)
    if lost := [row for row in rows if row not in asked]:
        raise UserError(
            f"{target} holds {_told(lost)}, which this configuration does not ask for and would remove. Give the new "
            f"table a name of its own, {path(f'{kind}_table', table='NAME/')}, or delete this one "
            f"together with {made}."
        )


def _read(name: str, made: Path) -> list[tuple[str, ...]]:
    """Read from a table's JSON what it holds, each once: data sets, or for systems their runs."""
    try:
        return list(dict.fromkeys(_rows(name, json.loads(made.read_text(encoding="utf-8")))))
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{made} is no JSON of a table: delete it.") from error


def _rows(name: str, found: Any) -> Iterator[tuple[str, ...]]:
    match name, found:
        case "data", dict():
            yield from ((dataset,) for dataset in found)
        case "annotation", {"annotations": list(entries)}:
            yield from ((entry["dataset"],) for entry in entries)
        case "parsers", list():
            yield from ((entry["dataset"],) for entry in found)
        case "systems", list():
            for entry in found:
                for seed in entry["seeds"]:
                    yield (*(entry[key] for key in ("scale", "dataset", "system")), f"seed{seed}")
        case _:
            raise TypeError("not what a table of this name holds")


def _asked(name: str, settings: ProjectSettings) -> set[tuple[str, ...]]:
    if name != "systems":
        return {(dataset,) for dataset in settings.datasets}
    seeds = [f"seed{seed}" for seed in settings.seeds]
    return set(product([settings.scale], settings.datasets, settings.systems, seeds))


def _told(rows: Sequence[tuple[str, ...]]) -> str:
    shown = ["/".join(row) for row in rows[:3]]
    return ", ".join(shown) + (f" and {len(rows) - 3} more" if len(rows) > 3 else "")
