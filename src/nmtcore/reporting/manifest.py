"""The record of a run: its state, code, device, size and cost; and its manifest, which scoring writes."""

import hashlib
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from pathlib import Path
from statistics import median
from typing import Any

from nmtcore.errors import UserError, explain_os_errors
from nmtcore.files import explain_content, read_json, read_lines, write_json
from nmtcore.layout import Layout, file_name
from nmtcore.reporting.benchmarks import benchmark_seconds
from nmtcore.reporting.data_table import stage_seconds
from nmtcore.training.attempts import code_version, read_attempts
from nmtcore.training.log import read_history

FORMAT_OF_MANIFESTS = 2
"""The version of the format."""

FINISHED, UNSCORED, INTERRUPTED = "finished", "unscored", "interrupted"
"""The states of a run: scored; trained or imported only; or training has not ended. It may still be going on."""

RUN_KEYS = ("scale", "dataset", "system", "seed")
"""The names of a run."""

_TIMED = ("train_model", "translate_tests", "import_translations", "parse_gold")
"""The jobs before scoring."""


def write_manifest(layout: Layout, names: Mapping[str, Any], sources: Mapping[str, Any]) -> dict[str, Any]:
    """Write and return the manifest of a run whose scores are there.

    Args:
        layout: the paths of the results.
        names: scale, data set, system and seed.
        sources: `manifest_sources` of the run.
    """
    translations = sources["translations"]
    manifest = {
        "format": FORMAT_OF_MANIFESTS,
        **run_record(layout, names),
        "external": sources["external"],
        "translations": translations and _with_checksums(layout, translations),
        "data": describe_data(layout, names["dataset"], sources),
    }
    write_json(Path(layout.path("manifest", **names)), manifest)
    return manifest


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Read a manifest; None if there is none of this version, so that the workflow will score the run again."""
    values = read_json(path) if path.exists() else None
    return values if isinstance(values, dict) and values.get("format") == FORMAT_OF_MANIFESTS else None


def run_record(layout: Layout, names: Mapping[str, Any]) -> dict[str, Any]:
    """Collect what the files of a run say about it, in any state, as plain values; what is not known is None."""
    paths = {file_type: Path(layout.path(file_type, **names)) for file_type in ("model", "hypotheses", "scores")}
    log_folder = _log_folder(Path(layout.path("history", **names)))
    attempts = read_attempts(log_folder / file_name("attempts"))
    training = _training(log_folder / file_name("history"))
    last = attempts[-1] if attempts else {}
    return {
        "state": _state(paths, trained=training is not None or bool(attempts)),
        **{key: int(names[key]) if key == "seed" else names[key] for key in RUN_KEYS},
        "code": {"training": last.get("code"), "manifest": _own_code()},
        "packages": last.get("packages"),
        "python": last.get("python"),
        "device": last.get("device"),
        "energy_joules": {"gpu": _energy(attempts)},
        "attempts": [{key: attempt.get(key) for key in ("began", "ended", "finished")} for attempt in attempts] or None,
        "parameters": parameter_count(paths["model"]) if paths["model"].exists() else None,
        "training": training,
        "stages": _stages(layout, names, paths["hypotheses"]),
    }


def _state(paths: Mapping[str, Path], *, trained: bool) -> str:
    if trained and not paths["model"].exists():
        return INTERRUPTED
    return FINISHED if paths["hypotheses"].exists() and paths["scores"].exists() else UNSCORED


@cache
def _own_code() -> dict[str, str | None]:
    """Return this code's version, with one call of git for all runs."""
    return code_version()


def _energy(attempts: Sequence[Mapping[str, Any]]) -> float | None:
    """Add up the GPUs' energy in all attempts; None if one of them has none, as the sum would be too small."""
    values = [attempt.get("energy", {}).get("gpu") for attempt in attempts]
    return round(sum(values), 3) if values and None not in values else None


def parameter_count(model: Path) -> int:
    """Count the parameters of a bundle, from the header of its weights; tied ones count once."""
    path = model / "weights.safetensors"
    with explain_os_errors(path), open(path, "rb") as file:
        try:
            (length,) = struct.unpack("<Q", file.read(8))
            tensors = json.loads(file.read(min(length, path.stat().st_size)))
            return sum(prod(entry["shape"]) for name, entry in tensors.items() if name != "__metadata__")
        except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
            raise UserError(f"{path} holds no weights: delete {model} and train again.") from error


def _log_folder(history: Path) -> Path:
    """Return the folder of a run's log: beside the model or, before the end of training, among the checkpoints."""
    if history.exists():
        return history.parent
    logs = history.parent.glob(f"{file_name('checkpoints')}/*/{history.name}")
    return max(logs, key=lambda path: path.stat().st_mtime, default=history).parent


def _training(history: Path) -> dict[str, Any] | None:
    """Summarise a training log; None if there is none. The best validation is None before the first one."""
    if not history.exists():
        return None
    updates, rates, seconds, best = 0, [], 0.0, None
    with explain_content(history):
        for record in read_history(history):
            seconds = record.get("seconds", seconds)
            if "validation" in record:
                best = {"update": record["update"], **record["validation"]} if record.get("best") else best
            elif "tokens_per_second" in record:
                updates = record["update"]
                rates.append(record["tokens_per_second"])
        rate = median(rates) if rates else None
    return {"updates": updates, "seconds": seconds, "tokens_per_second": rate, "best_validation": best}


def _stages(layout: Layout, names: Mapping[str, Any], hypotheses: Path) -> dict[str, Any]:
    """Return the wall time of the data's stages and of the run's jobs, by Snakemake's benchmarks, in seconds."""
    seconds = {rule: benchmark_seconds(layout.existing(f"{rule}.benchmark", **names)) for rule in _TIMED}
    jobs = {rule: {"seconds": value} for rule, value in seconds.items() if value is not None}
    if seconds["translate_tests"]:
        paths = [path for path in sorted(hypotheses.glob("*.txt")) if not path.name.endswith(".references.txt")]
        words = sum(len(line.split()) for path in paths for line in read_lines(path))
        jobs["translate_tests"]["words_per_second"] = round(words / seconds["translate_tests"], 1)
    return {"data": stage_seconds(layout, names["dataset"]), "jobs": jobs}


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


def describe_data(layout: Layout, dataset: str, sources: Mapping[str, Any]) -> dict[str, Any]:
    """Add the sizes of the splits and the checksums of the files to what the configuration says.

    `sources` are `manifest_sources` of a run, or `dataset_sources`.
    """
    return {
        **{key: sources[key] for key in ("description", "licence", "citation", "source", "target")},
        "splits": {split: _split(layout, dataset, split) for split in sources["splits"]},
        "corpora": [_with_checksums(layout, corpus) for corpus in sources["corpora"]],
        "models": [_with_checksums(layout, model) for model in sources["models"]],
    }


def used_sources(layout: Layout, dataset: str, sources: Mapping[str, Any]) -> dict[str, Any]:
    """Leave of `dataset_sources` what the results folder has: splits that were read, their corpora, and annotators."""
    read, annotators = (
        {path[name] for path in map(layout.parse, layout.existing(file_type, dataset=dataset)) if path is not None}
        for file_type, name in (("raw_report", "split"), ("annotation", "annotator"))
    )
    corpora = [{**corpus, "splits": [own for own in corpus["splits"] if own in read]} for corpus in sources["corpora"]]
    return {
        **sources,
        "splits": {split: parts for split, parts in sources["splits"].items() if split in read},
        "corpora": [corpus for corpus in corpora if corpus["splits"]],
        "models": [model for model in sources["models"] if model["annotator"] in annotators],
    }


def describe_datasets(
    layout: Layout, datasets: Mapping[str, Mapping[str, Any]], warn: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Describe what was read of some data sets (`describe_data`), given `dataset_sources` by name.

    Those of which nothing was read are left out; `warn` gets a sentence for each that has a broken file.
    """
    described = {}
    for name, sources in datasets.items():
        used = used_sources(layout, name, sources)
        if used["splits"]:
            try:
                described[name] = describe_data(layout, name, used)
            except UserError as error:
                warn(f"The data set {name} is not described: {error}")
    return described


def _split(layout: Layout, dataset: str, split: str) -> dict[str, Any]:
    """Return the pairs of a split in its files, and those that are left after each stage; None for an unread one."""
    types = {"read": "raw_report", "filtered": "pairs_report"}
    paths = {stage: Path(layout.path(type_, dataset=dataset, split=split)) for stage, type_ in types.items()}
    paths |= {"selected": Path(layout.path("selection_report", dataset=dataset))} if split == "train" else {}
    counts: dict[str, Any] = {"lines": None, "read": None, "filtered": None}
    for stage, path in paths.items():
        if path.exists():
            with explain_content(path):
                report = read_json(path)
                counts |= {"lines": report["pairs"]} if stage == "read" else {}
                counts[stage] = report["kept"]
    return counts


def _with_checksums(layout: Layout, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {**entry, "files": [_with_checksum(layout, file) for file in entry["files"]]}


def _with_checksum(layout: Layout, file: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file with the checksum of the copy that was read: of its download, or of the user's own file."""
    if file["path"] is not None:
        path = Path(file["path"]).expanduser()
        checksum = _sha256_of(path, path.stat().st_mtime_ns) if path.is_file() else None
        return {"name": path.name, "url": None, "sha256": checksum}
    record = Path(layout.path("download_record", file=file["name"]))
    with explain_content(record):
        checksum = read_json(record)["sha256"] if record.exists() else file["sha256"]
    return {"name": file["name"], "url": file["url"], "sha256": checksum}


@cache
def _sha256_of(path: Path, time: int) -> str:
    """Return the checksum of a file, read once for all runs; `time` is that of its last change."""
    with explain_os_errors(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
