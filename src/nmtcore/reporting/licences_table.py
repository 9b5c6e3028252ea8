"""The licences of all corpora, models and translations that results were made from, as one table and one JSON."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError
from nmtcore.evaluation.metrics import LABELS
from nmtcore.evaluation.segments import comet_model_of
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.manifest import describe_datasets
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.run_index import current_manifests
from nmtcore.reporting.table import Block, Page, make_table, note, number_columns, text_columns

UNKNOWN = "unknown"
"""What stands for a licence that nobody named."""

COMET_MODELS = {"wmt22-comet-da": {"licence": "Apache-2.0", "citation": "Rei et al. 2022 (COMET-22)"}}
"""Licences and citations of models of COMET, which no file of `config/models` describes.

The licences are those of `LICENSE.models.md` in Unbabel/COMET.
"""

_NOTES = """
Corpora and the models of parsers, of all runs in the results folder, by their manifests, and of all splits that were
read or annotated there, treebanks included; COMET's model, if it scored a run; and translations made elsewhere. A data
set's licence holds for those of its corpora that name none of their own. Files: how many; with checksum: those whose
SHA-256 is known.
"""


def write_licence_table(
    layout: Layout,
    runs: Sequence[Mapping[str, Any]],
    datasets: Mapping[str, Mapping[str, Any]],
    *,
    json: Path,
    table: Path,
    warn: Callable[[str], None] = print,
) -> str:
    """Tabulate the licences of corpora, models and translations as JSON and Markdown; return the Markdown.

    See `current_manifests` for `runs` and `warn`, and `describe_datasets` for `datasets`. Raises `UserError` if no data
    of the folder are known.
    """
    manifests = [manifest for _, manifest in current_manifests(layout, runs, warn)]
    entries = licence_entries(manifests, describe_datasets(layout, datasets, warn))
    if not entries:
        raise UserError(
            f"There are no data in {layout.results} that the configuration has, so there are no licences to list: "
            "prepare a data set or train a system first."
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
    shown = ({**entry, "licence": entry["licence"] or UNKNOWN} for entry in entries)
    rows = [[*{**entry, "datasets": ", ".join(entry["datasets"])}.values()] for entry in shown]
    return make_table(columns, rows), note(_NOTES)


def licence_entries(
    manifests: Sequence[Mapping[str, Any]], read: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """List corpora, models and external systems, each once per licence, with the data sets that use them.

    `read` describes what was read of each data set, as the `data` of manifests do for their runs.
    """
    entries: dict[tuple[str, str, str], dict[str, Any]] = {}
    files: dict[tuple[str, str, str], dict[tuple, bool]] = {}
    used = [(manifest["dataset"], entry) for manifest in manifests for entry in _of_run(manifest)]
    used += [(dataset, entry) for dataset, data in read.items() for entry in _of_data(data)]
    for dataset, (sort, name, entry) in used:
        key = (sort, name, entry["licence"])
        row = entries.setdefault(key, _entry(*key, entry))
        if dataset not in row["datasets"]:
            row["datasets"].append(dataset)
        known = {tuple(file.values()): file["sha256"] is not None for file in entry["files"]}
        files.setdefault(key, {}).update(known)
        row |= {"files": len(files[key]), "with_checksum": sum(files[key].values())}
    return [entries[key] for key in sorted(entries)]


def _of_run(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield sort, name and description of what a run uses: data, translations, the model of COMET if it scored it."""
    yield from _of_data(manifest.get("data") or {"corpora": [], "models": []})
    if translations := manifest.get("translations"):
        yield "translations", manifest["system"], {**translations, "citation": ""}
    if signature := (manifest.get("signatures") or {}).get(LABELS["comet"]):
        name = comet_model_of(signature)
        yield "model", name, {**(COMET_MODELS.get(name) or {"licence": "", "citation": ""}), "files": []}


def _of_data(data: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    yield from (("corpus", corpus["corpus"], corpus) for corpus in data["corpora"])
    yield from (("model", ", ".join(model["models"]), model) for model in data["models"] if model["models"])


def _entry(sort: str, name: str, licence: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "sort": sort,
        "name": name,
        "licence": licence,
        "citation": entry["citation"],
        "files": 0,
        "with_checksum": 0,
        "datasets": [],
    }
