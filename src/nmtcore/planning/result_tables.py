"""Tables of results: their names, and a check that no table is overwritten by another configuration."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from nmtcore.config.project import Project
from nmtcore.config.project_settings import ProjectSettings
from nmtcore.config.typed import choose
from nmtcore.errors import UserError
from nmtcore.layout import NAME

TABLES = {
    "systems": "system",
    "gates": "gate",
    "heads": "head",
    "productions": "production",
    "data": "data",
    "annotation": "annotation",
    "parsers": "parser",
}
"""The tables, and the prefix of their file types in `nmtcore.layout`.

They are written to results/tables/{TABLE}.md, or to results/tables/{NAME}/{TABLE}.md with a name of the user's choice.
"""


def check_table(project: Project, parts: Sequence[str], target: str) -> None:
    """Raise `UserError` if a table, `parts` below results/tables, is unknown or would lose rows.

    A table may be written again and may grow, but a row that the configuration does not select is never removed.
    """
    table = check_table_name(parts, target)
    if table not in TABLES:
        return
    path, prefix = project.layout.path, TABLES[table]
    json_file = Path(path(f"{prefix}_json", table="".join(f"{part}/" for part in parts[:-1])))
    rows, selected = _read_rows(table, json_file) if json_file.exists() else [], _selected_rows(table, project.settings)
    if lost := [row for row in rows if row not in selected]:
        raise UserError(
            f"{target} holds {_shorten(lost)}, which this configuration does not select and would remove. Give the new "
            f"table a name of its own, {path(f'{prefix}_table', table='NAME/')}, or delete this one "
            f"together with {json_file}."
        )


def check_table_name(parts: Sequence[str], target: str) -> str:
    """Return the table that the path `parts` below results/tables names. Raises `UserError` if there is none."""
    table = parts[-1].partition(".")[0]
    choose(table, TABLES if len(parts) > 1 else (*TABLES, "demo"), noun="table", where=target)
    if len(parts) > 2 or (len(parts) == 2 and not re.fullmatch(NAME, parts[0])):
        raise UserError(
            f"{target}: a table is tables/{table}.md or tables/NAME/{table}.md, where NAME consists of small letters, "
            "digits and single underscores."
        )
    return table


def _read_rows(table: str, json_file: Path) -> list[tuple[str, ...]]:
    """Read the rows of a table from its JSON file, each once: data sets, or runs for tables of systems."""
    try:
        return list(dict.fromkeys(_parse_rows(table, json.loads(json_file.read_text(encoding="utf-8")))))
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{json_file} does not hold the JSON of a table: delete it.") from error


def _parse_rows(table: str, content: Any) -> Iterator[tuple[str, ...]]:
    match table, content:
        case "data", dict():
            yield from ((dataset,) for dataset in content)
        case "annotation", {"annotations": list(entries)}:
            yield from ((entry["dataset"],) for entry in entries)
        case "parsers", list():
            yield from ((entry["dataset"],) for entry in content)
        case "systems" | "gates" | "heads", list():
            for entry in content:
                for seed in entry["seeds"]:
                    yield (*(entry[key] for key in ("scale", "dataset", "system")), f"seed{seed}")
        case "productions", list():
            for entry in content:
                if entry["system"] is None:
                    yield (entry["dataset"],)
                for seed in entry["seeds"]:
                    yield (*(entry[key] for key in ("scale", "dataset", "system")), f"seed{seed}")
        case _:
            raise TypeError(f"not the content of the table {table}")


def _selected_rows(table: str, settings: ProjectSettings) -> set[tuple[str, ...]]:
    seeds = [f"seed{seed}" for seed in settings.seeds]
    runs = set(product([settings.scale], settings.datasets, settings.systems, seeds))
    datasets = {(dataset,) for dataset in settings.datasets}
    if table == "productions":
        return datasets | runs
    return runs if table in ("systems", "gates", "heads") else datasets


def _shorten(rows: Sequence[tuple[str, ...]]) -> str:
    """Name the first three rows and count the others."""
    shown = ["/".join(row) for row in rows[:3]]
    return ", ".join(shown) + (f" and {len(rows) - 3} more" if len(rows) > 3 else "")
