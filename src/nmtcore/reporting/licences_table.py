"""The licences of all corpora, models and translations that results were made from, as one table and one JSON."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.errors import UserError
from nmtcore.evaluation.scores import comet_model_of
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.manifest import all_data
from nmtcore.reporting.run_index import read_scores
from nmtcore.tables.blocks import Page, make_table, note, number_columns, text_columns
from nmtcore.tables.pages import write_page

if TYPE_CHECKING:
    import pandas as pd

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


def write_licence_table(layout: Layout, datasets: Mapping[str, Mapping[str, Any]], *, json: Path, table: Path) -> str:
    """Tabulate the licences of corpora, models and translations as JSON and Markdown; return the Markdown.

    See `all_data` for `datasets`. Raises `UserError` if no data of the folder are known.
    """
    uses = [{"dataset": name, **row} for name, data in all_data(layout, datasets).items() for row in data["files"]]
    entries = licence_entries([*uses, *comet_models(read_scores(layout))])
    if not entries:
        raise UserError(
            f"There are no data in {layout.results} that the configuration has, so there are no licences to list: "
            "prepare a data set or train a system first."
        )
    write_json(json, entries)
    columns = [
        *text_columns("kind", "name", "licence", "to cite"),
        *number_columns("files", "with checksum"),
        *text_columns("used by"),
    ]
    shown = (
        {**entry, "licence": entry["licence"] or UNKNOWN, "datasets": ", ".join(entry["datasets"])} for entry in entries
    )
    rows = [list(row.values()) for row in shown]
    return write_page(Page(title="Licences", blocks=(make_table(columns, rows), note(_NOTES))), table)


def comet_models(scores: "pd.DataFrame") -> Iterator[dict[str, Any]]:
    """Yield the models of COMET's scores, as `licence_entries` takes them."""
    for run in scores[scores.measure == "comet"].drop_duplicates(["dataset", "signature"]).itertuples():
        model = comet_model_of(run.signature)
        known = COMET_MODELS.get(model, {"licence": "", "citation": ""})
        yield {"dataset": run.dataset, "kind": "model", "name": model, **known, "file": None, "sha256": None}


def licence_entries(uses: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List what is used, each once per licence, with the data sets that use it and the number of its files.

    `uses` are the `files` of manifests (`manifest.describe_data`), with the `dataset` of each.
    """
    keys, entries = ("kind", "name", "licence"), []
    for key, same in groupby(sorted(uses, key=itemgetter(*keys)), itemgetter(*keys)):
        same_uses = list(same)
        files = {(use["file"], use["sha256"]) for use in same_uses if use["file"] is not None}
        entry = {
            **dict(zip(keys, key, strict=True)),
            "citation": same_uses[0]["citation"],
            "files": len(files),
            "with_checksum": sum(checksum is not None for _, checksum in files),
            "datasets": list(dict.fromkeys(use["dataset"] for use in same_uses)),
        }
        entries.append(entry)
    return entries
