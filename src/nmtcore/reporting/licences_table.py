"""The licences of all corpora, models and translations that results were made from, as one table and one JSON."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.errors import UserError
from nmtcore.evaluation.scores import comet_model_of
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.manifest import describe_datasets, read_manifest
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

Use = tuple[str, str, str, Mapping[str, Any]]
"""The data set, what is used (corpus, model, translations), its name, and its licence, citation and files."""


def write_licence_table(
    layout: Layout,
    datasets: Mapping[str, Mapping[str, Any]],
    *,
    json: Path,
    table: Path,
    warn: Callable[[str], None] = print,
) -> str:
    """Tabulate the licences of corpora, models and translations as JSON and Markdown; return the Markdown.

    See `describe_datasets` for `datasets` and `warn`. Raises `UserError` if no data of the folder are known.
    """
    manifests = filter(None, map(read_manifest, layout.existing("manifest")))
    entries = licence_entries(all_uses(manifests, describe_datasets(layout, datasets, warn), read_scores(layout)))
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


def licence_entries(uses: Iterable[Use]) -> list[dict[str, Any]]:
    """List what is used, each once per licence, with the data sets that use it and the number of its files."""
    import pandas as pd

    columns = ["sort", "name", "licence", "citation", "dataset", "file", "sha256"]
    rows = [
        (sort, name, entry["licence"], entry["citation"], dataset, tuple(file.values()) or None, file.get("sha256"))
        for dataset, sort, name, entry in uses
        for file in entry["files"] or ({},)
    ]
    groups = pd.DataFrame(rows, columns=columns).groupby(columns[:3])
    return [
        {
            **dict(zip(columns[:3], key, strict=True)),
            "citation": own.citation.iloc[0],
            "files": int(own.file.nunique()),
            "with_checksum": int(own.dropna(subset="sha256").file.nunique()),
            "datasets": own.dataset.drop_duplicates().tolist(),
        }
        for key, own in groups
    ]


def all_uses(
    manifests: Iterable[Mapping[str, Any]], datasets: Mapping[str, Mapping[str, Any]], scores: "pd.DataFrame"
) -> Iterator[Use]:
    """Yield what runs use by their manifests, what was read of data sets, and the models of COMET's scores."""
    for manifest in manifests:
        yield from uses_of_run(manifest)
    for name, data in datasets.items():
        yield from uses_of_data(name, data)
    comet = scores[scores.measure == "comet"].drop_duplicates(["dataset", "signature"])
    yield from map(uses_of_comet, comet.dataset, comet.signature)


def uses_of_run(manifest: Mapping[str, Any]) -> Iterator[Use]:
    """Yield what a run uses by its manifest: the data, and translations made elsewhere."""
    if manifest["data"]:
        yield from uses_of_data(manifest["dataset"], manifest["data"])
    if translations := manifest["translations"]:
        yield manifest["dataset"], "translations", manifest["system"], {**translations, "citation": ""}


def uses_of_data(dataset: str, data: Mapping[str, Any]) -> Iterator[Use]:
    """Yield the corpora and models of a data set as described by `describe_data`."""
    yield from ((dataset, "corpus", corpus["corpus"], corpus) for corpus in data["corpora"])
    yield from ((dataset, "model", ", ".join(own["models"]), own) for own in data["models"] if own["models"])


def uses_of_comet(dataset: str, signature: str) -> Use:
    """Return the model of COMET that a data set's tests were scored with."""
    name = comet_model_of(signature)
    return dataset, "model", name, {**COMET_MODELS.get(name, {"licence": "", "citation": ""}), "files": []}
