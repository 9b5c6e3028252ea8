"""The record of a run, its row in `runs.parquet`; and its manifest, the same with its data, which scoring writes."""

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from nmtcore.config.stages import MANIFESTS
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.evaluation.scores import output_files
from nmtcore.files import explain_content, file_sha256, read_json, read_lines, write_json
from nmtcore.layout import Layout, file_name
from nmtcore.training.attempts import read_attempts
from nmtcore.training.log import read_history

FINISHED, UNSCORED, INTERRUPTED = "finished", "unscored", "interrupted"
"""The states of a run: scored; trained or imported only; or training has not ended. It may still be going on."""

RUN_KEYS = ("scale", "dataset", "system", "seed")
"""The names of a run."""

NAMES = {"scale": pa.string(), "dataset": pa.string(), "system": pa.string(), "seed": pa.int64()}

CODE = ("version", "commit", "sources_sha256", "lock_sha256")
"""What says which code trained a run (`code_version`)."""

RUNS_SCHEMA = pa.schema(
    NAMES
    | dict.fromkeys(("state", "folder", *CODE, "python", "packages"), pa.string())
    | dict.fromkeys(("device", "linear_layers", "external", "settings"), pa.string())
    | dict.fromkeys(("gpus", "threads", "attempts", "parameters", "updates", "best_update"), pa.int64())
    | dict.fromkeys(("training_seconds", "tokens_per_second", "translation_seconds", "words_per_second"), pa.float64())
    | dict.fromkeys(("share_of_peak", "best_bleu", "best_perplexity"), pa.float64())
    | {"peak_memory_bytes": pa.int64()}
)
"""The columns of `runs.parquet`; docs/running.md says what they are."""


def write_manifest(layout: Layout, names: Mapping[str, Any], sources: Mapping[str, Any]) -> dict[str, Any]:
    """Write and return the manifest of a run whose scores are there.

    Args:
        layout: the paths of the results.
        names: scale, data set, system and seed.
        sources: `manifest_sources` of the run.
    """
    row = {key: value for key, value in run_row(layout, names).items() if key not in ("folder", "settings")}
    data = describe_data(layout, names["dataset"], sources)
    manifest = {"format": MANIFESTS, **row, "external": sources["external"], "data": data}
    write_json(Path(layout.path("manifest", **names)), manifest)
    return manifest


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Read a manifest; None if there is none of this version, so that the workflow will score the run again."""
    values = read_json(path) if path.exists() else None
    return values if isinstance(values, dict) and values.get("format") == MANIFESTS else None


def run_row(layout: Layout, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a run in `runs.parquet`, in any state; what is not known is None."""
    types = ("model", "scores", "manifest", "history")
    model, scores, manifest, history = (Path(layout.path(file_type, **names)) for file_type in types)
    weights = model / "weights.safetensors"
    hypotheses = layout.existing("hypotheses", **names)
    if not history.exists():  # before the end of training, the log is among the checkpoints
        logs = history.parent.glob(f"{file_name('checkpoints')}/*/{history.name}")
        history = max(logs, key=lambda path: path.stat().st_mtime, default=history)
    attempts = read_attempts(history.with_name(file_name("attempts")))
    last = attempts[-1] if attempts else {}
    code, device = last.get("code") or {}, last.get("device") or {}
    packages = [f"{name} {version}" for name, version in (last.get("packages") or {}).items() if version]
    is_scored = bool(hypotheses) and scores.exists()
    is_trained = model.exists() or not (attempts or history.exists())
    return {
        **dict.fromkeys(RUNS_SCHEMA.names),
        **{key: int(names[key]) if key == "seed" else names[key] for key in RUN_KEYS},
        "state": INTERRUPTED if not is_trained else FINISHED if is_scored else UNSCORED,
        "folder": str(manifest.parent),
        **{key: code.get(key) for key in CODE},
        "python": last.get("python"),
        "packages": ", ".join(packages) or None,
        "device": device.get("name"),
        **{key: device.get(key) for key in ("linear_layers", "gpus", "threads")},
        "attempts": len(attempts),
        "parameters": parameter_count(weights) if weights.exists() else None,
        **_training(history),
        **_translation(layout, names, hypotheses),
        "external": (read_manifest(manifest) or {}).get("external"),
        "settings": json.dumps(read_json(model / "run.json")) if (model / "run.json").exists() else None,
    }


def parameter_count(path: Path) -> int:
    """Count the parameters of a bundle, from the header of its file of weights; tied ones count once."""
    from safetensors import SafetensorError, safe_open

    try:
        with explain_os_errors(path), safe_open(path, "numpy") as file:
            return sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    except SafetensorError as error:
        raise UserError(f"{path} holds no weights: delete {path.parent} and train again.") from error


def _training(history: Path) -> dict[str, Any]:
    """Summarise a training log; empty if there is none."""
    if not history.exists():
        return {}
    with explain_content(history):
        records = list(read_history(history))
        updates = [record for record in records if "tokens_per_second" in record]
        shares = [record["share_of_peak"] for record in updates if "share_of_peak" in record]
        best = next((record for record in reversed(records) if record.get("best")), {"validation": {}})
        return {
            "updates": updates[-1]["update"] if updates else 0,
            "tokens_per_second": median(record["tokens_per_second"] for record in updates) if updates else None,
            "share_of_peak": median(shares) if shares else None,
            "peak_memory_bytes": max((record.get("peak_memory_bytes", 0) for record in updates), default=0) or None,
            "training_seconds": next((record["seconds"] for record in reversed(records) if "seconds" in record), 0.0),
            "best_update": best.get("update"),
            **{f"best_{key}": best["validation"].get(key) for key in ("bleu", "perplexity")},
        }


def _translation(layout: Layout, names: Mapping[str, Any], hypotheses: Sequence[Path]) -> dict[str, Any]:
    """Return the time of translating the tests, by Snakemake's benchmarks; empty if it was not measured."""
    seconds = benchmark_seconds(layout.existing("translate_split.benchmark", **names))
    if not seconds:
        return {}
    paths = [
        path for files in map(output_files, hypotheses) for path in (files.translations, files.greedy_translations)
    ]
    words = sum(len(line.split()) for path in paths if path.exists() for line in read_lines(path))
    return {"translation_seconds": seconds, "words_per_second": round(words / seconds, 1)}


def benchmark_seconds(files: Iterable[Path]) -> float | None:
    """Add up the seconds in Snakemake's benchmark files (column `s`); return None if there are none.

    A job too short to be measured counts as 0. Raises UserError if a file is no benchmark.
    """
    seconds: list[float] = []
    for path in files:
        with explain_os_errors(path), open(path, encoding="utf-8", newline="") as file:
            try:
                seconds += [float(row["s"]) for row in csv.DictReader(file, delimiter="\t")]
            except (KeyError, TypeError, ValueError) as error:
                raise UserError(
                    f"{path} is no benchmark of Snakemake: it has no column 's' with seconds. Delete it."
                ) from error
    return sum(filter(math.isfinite, seconds)) if seconds else None


def all_data(layout: Layout, datasets: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Describe what all runs use, by their manifests, and the `datasets` that were read (`planning.read_datasets`).

    Returns by data set what `describe_data` does; a later description counts, but each knows splits and files of its
    own.
    """
    manifests = filter(None, map(read_manifest, layout.existing("manifest")))
    known = [(manifest["dataset"], manifest["data"]) for manifest in manifests]
    read = ((name, describe_data(layout, name, sources)) for name, sources in datasets.items())
    described: dict[str, dict[str, Any]] = {}
    for name, data in (*known, *(named_data for named_data in read if named_data[1]["splits"])):
        earlier = described.get(name, {"splits": {}, "files": []})
        files = {(row["kind"], row["name"], row["file"]): row for row in (*earlier["files"], *data["files"])}
        described[name] = {**data, "splits": {**earlier["splits"], **data["splits"]}, "files": list(files.values())}
    return dict(sorted(described.items()))


def describe_data(layout: Layout, dataset: str, sources: Mapping[str, Any]) -> dict[str, Any]:
    """Add the sizes of the splits that were read, and the files' checksums, to what the configuration says.

    `sources` are `manifest_sources` of a run, or one of `read_datasets`. A size is what is left after a stage.
    """
    splits = {}
    for split in sources["splits"]:
        types = {"read": "raw_report", "filtered": "pairs_report"}
        paths = {stage: Path(layout.path(type_, dataset=dataset, split=split)) for stage, type_ in types.items()}
        if split == "train":
            paths["selected"] = Path(layout.path("selection_report", dataset=dataset))
        sizes = {}
        for stage, path in paths.items():
            if path.exists():
                with explain_content(path):
                    report = read_json(path)
                    sizes |= {"lines": report["pairs"]} if stage == "read" else {}
                    sizes[stage] = report["kept"]
        if sizes:
            splits[split] = sizes
    return {
        **{key: sources[key] for key in ("description", "licence", "citation", "source", "target")},
        "splits": splits,
        "files": [_with_checksum(layout, row) for row in sources["files"]],
    }


def _with_checksum(layout: Layout, row: Mapping[str, Any]) -> dict[str, Any]:
    """Give a file the checksum of the copy that was read: of its download, or of the user's own file."""
    row, path = {key: value for key, value in row.items() if key != "path"}, row["path"]
    if path is not None:
        file = Path(path).expanduser()
        checksum = _sha256_of(file, file.stat().st_mtime_ns) if file.is_file() else None
        return {**row, "file": row["file"] or file.name, "sha256": checksum}
    if row["file"] is None:
        return row
    record = Path(layout.path("download_record", file=row["file"]))
    with explain_content(record):
        return {**row, "sha256": read_json(record)["sha256"] if record.exists() else row["sha256"]}


@cache
def _sha256_of(path: Path, time: int) -> str:
    """Return the checksum of a file, read once for all runs; `time` is that of its last change."""
    return file_sha256(path)
