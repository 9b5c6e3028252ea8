"""The licences of all corpora, models and translations that results were made from, as one table and one JSON."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.errors import UserError
from nmtcore.evaluation.scores import comet_model_of
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.manifest import all_data
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.run_index import read_scores
from nmtcore.reporting.table import Block, Page, make_table, note, number_columns, text_columns

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


def write_licence_table(
    layout: Layout,
    datasets: Mapping[str, Mapping[str, Any]],
    *,
    json: Path,
    table: Path,
) -> str:
    """Tabulate the licences of corpora, models and translations as JSON and Markdown; return the Markdown.

    See `all_data` for `datasets`. Raises `UserError` if no data of the folder are known.
    """
    entries = all_licences(all_data(layout, datasets), read_scores(layout))
    if not entries:
        raise UserError(
            f"There are no data in {layout.results} that the configuration has, so there are no licences to list: "
            "prepare a data set or train a system first."
        )
    write_json(json, entries)
    return write_page(Page(title="Licences", blocks=licence_blocks(entries)), table)


def all_licences(data: Mapping[str, Mapping[str, Any]], scores: "pd.DataFrame") -> list[dict[str, Any]]:
    """List what `all_data` names, and the models of COMET's scores, as `licence_entries` does."""
    uses = [{"dataset": name, **row} for name, own in data.items() for row in own["files"]]
    comet = scores[scores.measure == "comet"].drop_duplicates(["dataset", "signature"])
    for run in comet.itertuples():
        model = comet_model_of(run.signature)
        known = COMET_MODELS.get(model, {"licence": "", "citation": ""})
        uses.append({"dataset": run.dataset, "kind": "model", "name": model, **known, "file": None, "sha256": None})
    return licence_entries(uses)


def licence_entries(uses: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List what is used, each once per licence, with the data sets that use it and the number of its files.

    `uses` are the `files` of manifests (`manifest.describe_data`), with the `dataset` of each.
    """
    import pandas as pd

    keys, entries = ["kind", "name", "licence"], []
    rows = pd.DataFrame(uses, columns=[*keys, "citation", "dataset", "file", "sha256"])
    for key, own in rows.groupby(keys):
        files = own.dropna(subset="file").drop_duplicates(["file", "sha256"])
        numbers = {"files": len(files), "with_checksum": int(files.sha256.count())}
        cited = {**dict(zip(keys, key, strict=True)), "citation": own.citation.iloc[0]}
        entries.append({**cited, **numbers, "datasets": own.dataset.drop_duplicates().tolist()})
    return entries


def licence_blocks(entries: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
    """Make the table of `licence_entries`."""
    columns = [
        *text_columns("kind", "name", "licence", "to cite"),
        *number_columns("files", "with checksum"),
        *text_columns("used by"),
    ]
    rows = [
        [*{**entry, "licence": entry["licence"] or UNKNOWN, "datasets": ", ".join(entry["datasets"])}.values()]
        for entry in entries
    ]
    return make_table(columns, rows), note(_NOTES)
