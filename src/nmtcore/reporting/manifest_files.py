"""The manifests of many runs: written for those of a plan or a folder, and read from a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.typed import convert, shown_value
from nmtcore.errors import UserError
from nmtcore.files import files_below, read_json
from nmtcore.layout import Layout, file_name
from nmtcore.reporting.manifest import FORMAT_OF_MANIFESTS, INTERRUPTED, RUN_KEYS, write_manifest
from nmtcore.reporting.manifest_types import Manifest

_ADVICE = "delete it, and `snakemake --cores 1 results/runs.parquet` writes it again"


def write_manifests(layout: Layout, runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write the manifests of runs that were started; return a sentence for each run that has a broken file.

    `runs` have `names` (scale, data set, system, seed) and `sources`. A run whose sources are None, which is no longer
    in the configuration, keeps the manifest that it has, unless that says that the run was interrupted.
    """
    sentences = []
    for run in runs:
        manifest = Path(layout.path("manifest", **run["names"]))
        kept = run["sources"] is None and manifest.exists() and not _says_interrupted(manifest)
        if manifest.parent.is_dir() and not kept:
            try:
                write_manifest(layout, run["names"], run["sources"])
            except UserError as error:
                sentences.append(f"No manifest was written for {manifest.parent}: {error}")
    return sentences


def _says_interrupted(path: Path) -> bool:
    try:
        return read_manifest(path)["status"] == INTERRUPTED
    except UserError:
        return False


def outdated_manifests(folder: Path) -> list[Path]:
    """List the manifests below a folder that say that a run was interrupted although it has scores."""
    paths = files_below(folder, file_name("manifest"))
    return [path for path in paths if (path.parent / file_name("scores")).exists() and _says_interrupted(path)]


def read_manifests(folder: Path) -> list[dict[str, Any]]:
    """Read all manifests below a folder, sorted by scale, data set, system and seed.

    Raises `UserError` if there is no such folder, if it has no manifest, if one is broken, or if two are of one run.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: name a results folder.")
    paths: dict[tuple, Path] = {}
    manifests = []
    for path in files_below(folder, file_name("manifest")):
        manifest = read_manifest(path)
        run = tuple(manifest[key] for key in RUN_KEYS)
        if run in paths:
            raise UserError(f"{paths[run]} and {path} are of the same run: name the folder of one results folder.")
        paths[run] = path
        manifests.append(manifest)
    if not manifests:
        raise UserError(
            f"There is no manifest of a run in {folder}: name a results folder; if its runs are older than manifests, "
            "`snakemake --cores 1 results/runs.parquet` writes them."
        )
    return sorted(manifests, key=lambda manifest: [manifest[key] for key in RUN_KEYS])


def merged_data(descriptions: Sequence[Mapping[str, Any] | None]) -> dict[str, Any]:
    """Join what the runs of a data set use of it, of which at least one is known; a later run's description counts.

    Sizes of splits that a later run does not know, since nothing had asked for the split when its manifest was written,
    are those of an earlier one.
    """
    known = [data for data in descriptions if data is not None]
    corpora = {corpus["corpus"]: corpus for data in known for corpus in data["corpora"]}
    models = {model["annotator"]: model for data in known for model in data["models"]}
    splits: dict[str, Any] = {}
    for split, sizes in (item for data in known for item in data["splits"].items()):
        own = {count: size for count, size in sizes.items() if size is not None}
        splits[split] = {**sizes, **splits.get(split, {}), **own}
    return {**known[-1], "splits": splits, "corpora": list(corpora.values()), "models": list(models.values())}


def read_manifest(path: Path) -> dict[str, Any]:
    """Read a manifest. Raises `UserError` if the file is broken or has another format."""
    values = read_json(path, advice=_ADVICE)
    broken = f"{path} is not the manifest of a run"
    if isinstance(values, dict) and values.get("format", FORMAT_OF_MANIFESTS) != FORMAT_OF_MANIFESTS:
        version = f"format {shown_value(values['format'])}, not {FORMAT_OF_MANIFESTS}"
        raise UserError(f"{broken} that this version reads ({version}): {_ADVICE}.")
    try:
        return convert(values, Manifest, where="manifest")
    except UserError as error:
        raise UserError(f"{broken}: {_ADVICE}. ({error})") from error
