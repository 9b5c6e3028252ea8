"""Tables and figures of results: their names, and a check that none is overwritten by another configuration."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from nmtcore.config.paper_tables import FIGURES_OF_KINDS
from nmtcore.config.project import Project
from nmtcore.config.project_settings import ProjectSettings
from nmtcore.config.typed import choose
from nmtcore.errors import UserError
from nmtcore.layout import NAME
from nmtcore.planning.paper_tables import all_papers, paper_and_table, table_settings

TABLES = {
    "systems": "system",
    "gates": "gate",
    "heads": "head",
    "productions": "production",
    "constructions": "construction",
    "examples": "example",
    "tags": "tag",
    "contrast": "contrast",
    "data": "data",
    "annotation": "annotation",
    "parsers": "parser",
}
"""The tables, and the prefix of their file types in `nmtcore.layout`.

They are written to results/tables/{TABLE}.md, or to results/tables/{NAME}/{TABLE}.md with a name of the user's choice.
"""


FIGURES = {"constructions": "construction", "curves": "curve"}
"""The figures, and the prefix of their file types; they are in results/figures as tables are in results/tables."""

RESULT_FOLDERS = {"tables": "table", "figures": "figure"}
"""The folders of tables and figures, and what is in them."""


def check_table(project: Project, folder: str, parts: Sequence[str], target: str) -> None:
    """Raise `UserError` if a table or figure, `parts` below results/`folder`, is unknown or would lose rows.

    It may be written again and may grow, but a row that the configuration does not select is never removed.
    """
    table, noun = check_table_name(project, folder, parts, target), RESULT_FOLDERS[folder]
    prefix = _prefixes(folder).get(table)
    if prefix is None:
        return
    path = project.layout.path
    json_file = Path(path(f"{prefix}_json", table="".join(f"{part}/" for part in parts[:-1])))
    rows, selected = _read_rows(table, json_file) if json_file.exists() else [], _selected_rows(table, project.settings)
    if lost := [row for row in rows if row not in selected]:
        raise UserError(
            f"{target} holds {_shorten(lost)}, which this configuration does not select and would remove. Give the new "
            f"{noun} a name of its own, {path(f'{prefix}_{noun}', table='NAME/')}, or delete this one "
            f"together with {json_file}."
        )


def check_table_name(project: Project, folder: str, parts: Sequence[str], target: str) -> str:
    """Return the table or figure that the path `parts` below a folder names. Raises `UserError` if there is none.

    Of a paper's table, a figure exists only if its kind draws one.
    """
    table, noun = parts[-1].partition(".")[0], RESULT_FOLDERS[folder]
    papers = all_papers(project)
    if any(table.startswith(f"{paper}_") for paper in papers):
        paper_and_table(project, table, where=target)
        table_kind = table_settings(project, table).kind
        if folder == "figures" and table_kind not in FIGURES_OF_KINDS:
            file = "/".join([project.layout.results, "tables", *parts[:-1], f"{table}.md"])
            raise UserError(
                f"{target}: {table} is a table of {table_kind}, of which no figure is drawn: ask for {file}."
            )
    else:
        others = ["claims", "licences", *papers, *(["demo"] if len(parts) == 1 else [])] if folder == "tables" else []
        choose(table, [*_prefixes(folder), *others], noun=noun, where=target)
    if len(parts) > 2 or (len(parts) == 2 and not re.fullmatch(NAME, parts[0])):
        file = f"{table}.{'md' if folder == 'tables' else 'svg'}"
        raise UserError(
            f"{target}: a {noun} is {folder}/{file} or {folder}/NAME/{file}, where NAME consists of small letters, "
            "digits and single underscores."
        )
    return table


def _prefixes(folder: str) -> dict[str, str]:
    return TABLES if folder == "tables" else FIGURES


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
        case "systems" | "gates" | "heads" | "tags" | "contrast" | "constructions" | "curves", list():
            for entry in content:
                for seed in entry["seeds"]:
                    yield (*(entry[key] for key in ("scale", "dataset", "system")), f"seed{seed}")
        case "productions", list():
            for entry in content:
                if entry["system"] is None:
                    yield (entry["dataset"],)
                for seed in entry["seeds"]:
                    yield (*(entry[key] for key in ("scale", "dataset", "system")), f"seed{seed}")
        case "examples", list():
            for entry in content:
                for system in (entry["baseline"], entry["system"]) if entry["seeds"] else ():
                    yield (entry["scale"], entry["dataset"], system, f"seed{entry['seeds'][0]}")
        case _:
            raise TypeError(f"not the content of the table {table}")


def _selected_rows(table: str, settings: ProjectSettings) -> set[tuple[str, ...]]:
    seeds = [f"seed{seed}" for seed in settings.seeds]
    runs = set(product([settings.scale], settings.datasets, settings.systems, seeds))
    datasets = {(dataset,) for dataset in settings.datasets}
    if table == "productions":
        return datasets | runs
    return datasets if table in ("data", "annotation", "parsers") else runs


def _shorten(rows: Sequence[tuple[str, ...]]) -> str:
    """Name the first three rows and count the others."""
    shown = ["/".join(row) for row in rows[:3]]
    return ", ".join(shown) + (f" and {len(rows) - 3} more" if len(rows) > 3 else "")
