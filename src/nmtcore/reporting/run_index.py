"""The index of all runs of a results folder: a Parquet file with a row per run."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nmtcore.layout import Layout
from nmtcore.parquet import write_rows
from nmtcore.reporting.manifest import RUN_KEYS
from nmtcore.reporting.manifest_files import read_manifest, write_manifests

INDEX_SCHEMA = pa.schema(
    {
        "scale": pa.string(),
        "dataset": pa.string(),
        "system": pa.string(),
        "seed": pa.int64(),
        "status": pa.string(),
        "folder": pa.string(),
        "version": pa.string(),
        "commit": pa.string(),
        "device": pa.string(),
        "gpus": pa.int64(),
        "parameters": pa.int64(),
        "updates": pa.int64(),
        "training_seconds": pa.float64(),
        "tokens_per_second": pa.float64(),
        "gpu_joules": pa.float64(),
        "scores": pa.list_(pa.struct({"split": pa.string(), "score": pa.string(), "value": pa.float64()})),
        "signatures": pa.map_(pa.string(), pa.string()),
    }
)
"""The columns: names, `folder` (of the run), code version and commit of training, cost, and scores by split."""


def current_manifests(
    layout: Layout, runs: Sequence[Mapping[str, Any]], warn: Callable[[str], None]
) -> list[tuple[Path, dict[str, Any]]]:
    """Bring the manifests of a results folder up to date, and return each with its path.

    `runs` are those of `write_manifests`; `warn` gets a sentence for each that cannot be written.
    """
    for sentence in write_manifests(layout, runs):
        warn(sentence)
    return [(path, read_manifest(path)) for path in layout.existing("manifest")]


def index_runs(
    layout: Layout, runs: Sequence[Mapping[str, Any]], *, index: Path, warn: Callable[[str], None] = print
) -> int:
    """Write the index of all runs to `index`, sorted by their names, and return their number.

    See `current_manifests` for `runs` and `warn`.
    """
    manifests = current_manifests(layout, runs, warn)
    manifests.sort(key=lambda entry: [entry[1][key] for key in RUN_KEYS])
    return write_rows(index, INDEX_SCHEMA, (_row(path.parent, manifest) for path, manifest in manifests))


def _row(folder: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    training = manifest.get("training") or {}
    code = (manifest.get("code") or {}).get("training") or {}
    device = manifest.get("device") or {}
    return {
        **{key: manifest[key] for key in (*RUN_KEYS, "status")},
        "folder": str(folder),
        "version": code.get("version"),
        "commit": code.get("commit"),
        "device": device.get("name"),
        "gpus": device.get("gpus"),
        "parameters": manifest.get("parameters"),
        "updates": training.get("updates"),
        "training_seconds": training.get("seconds"),
        "tokens_per_second": training.get("tokens_per_second"),
        "gpu_joules": (manifest.get("energy_joules") or {}).get("gpu"),
        "scores": [
            {"split": split, "score": score, "value": value}
            for split, values in (manifest.get("scores") or {}).items()
            for score, value in values.items()
        ],
        "signatures": list((manifest.get("signatures") or {}).items()),
    }
