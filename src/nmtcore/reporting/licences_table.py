"""The licences of all corpora and models that the runs of a results folder use, as one table and one JSON."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.run_index import current_manifests
from nmtcore.reporting.table import Block, Page, make_table, note, number_columns, text_columns

_NOTES = """
Corpora and the models of parsers, of all runs in the results folder, by their manifests. A data set's licence holds for
those of its corpora that name none of their own. Files: how many; with checksum: those whose SHA-256 is in the
manifests.
"""


def write_licence_table(
    layout: Layout,
    runs: Sequence[Mapping[str, Any]],
    *,
    json: Path,
    table: Path,
    warn: Callable[[str], None] = print,
) -> str:
    """Tabulate the licences of corpora and models, one row each, as JSON and Markdown; return the Markdown.

    See `current_manifests` for `runs` and `warn`. Raises `UserError` if there is no run whose data are known.
    """
    entries = licence_entries(manifest for _, manifest in current_manifests(layout, runs, warn))
    if not entries:
        raise UserError(
            f"There is no run in {layout.results} whose data the configuration has, so there are no licences to list: "
            "train a system first."
        )
    write_json(json, entries)
    return write_page(Page(title="Licences", blocks=licence_blocks(entries)), table)


def licence_blocks(entries: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    """Make the table of `licence_entries`."""
    columns = [
        *text_columns("kind", "name", "licence", "to cite"),
        *number_columns("files", "with checksum"),
        *text_columns("used by"),
    ]
    rows = [[*{**entry, "datasets": ", ".join(entry["datasets"])}.values()] for entry in entries]
    return make_table(columns, rows), note(_NOTES)


def licence_entries(manifests: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List the corpora, then the models, each once per licence, with the data sets that use them."""
    entries: dict[tuple[str, str, str], dict[str, Any]] = {}
    for manifest in manifests:
        data = manifest.get("data") or {"corpora": [], "models": []}
        named = [("corpus", corpus["corpus"], corpus) for corpus in data["corpora"]]
        named += [("model", ", ".join(model["models"]), model) for model in data["models"] if model["models"]]
        for sort, name, entry in named:
            key = (sort, name, entry["licence"])
            row = entries.setdefault(key, _entry(*key, entry))
            if manifest["dataset"] not in row["datasets"]:
                row["datasets"].append(manifest["dataset"])
    return [entries[key] for key in sorted(entries)]


def _entry(sort: str, name: str, licence: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    known = sum(file["sha256"] is not None for file in entry["files"])
    return {
        "sort": sort,
        "name": name,
        "licence": licence,
        "citation": entry["citation"],
        "files": len(entry["files"]),
        "with_checksum": known,
        "datasets": [],
    }
