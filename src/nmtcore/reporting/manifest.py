"""The manifest of a run: its code, data, device, cost, size, scores and signatures in one file, `manifest.json`."""

import hashlib
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from pathlib import Path
from statistics import median
from typing import Any

from nmtcore.config.runs import RunSettings
from nmtcore.config.typed import convert
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.evaluation.metrics import metric_labels
from nmtcore.files import explain_content, read_json, read_lines, write_json
from nmtcore.layout import JOBS, Layout, file_name
from nmtcore.reporting.benchmarks import benchmark_seconds
from nmtcore.reporting.data_table import stage_seconds
from nmtcore.reporting.manifest_types import Manifest
from nmtcore.reporting.results_listing import score_values
from nmtcore.training.attempts import code_version, read_attempts
from nmtcore.training.log import read_history

FORMAT_OF_MANIFESTS = 1
"""The version of the format."""

COMPLETE, UNSCORED, INTERRUPTED = "complete", "unscored", "interrupted"
"""The values of `status`: scored, trained (or imported) only, or training has not ended. It may still be going on."""

RUN_KEYS = ("scale", "dataset", "system", "seed")
"""The names of a run."""

_SCORES = ("scores", "gold_scores", "comet_scores")
_NOT_TIMED = ("score_heads", "measure_gates", "measure_attention", "score_contrasts", "write_manifest")
"""Jobs of a run that are done on request only, for other results than its scores."""


def write_manifest(layout: Layout, names: Mapping[str, Any], sources: Mapping[str, Any] | None) -> dict[str, Any]:
    """Write and return the manifest of a run, from the files of the run and of its data.

    Args:
        layout: the paths of the results.
        names: scale, data set, system and seed.
        sources: `manifest_sources` of the run; None if the configuration does not have it.

    Raises `UserError` if the files hold values of other types than the manifest has.
    """
    manifest = collect_manifest(layout, names, sources)
    try:
        convert(manifest, Manifest, where="manifest")
    except UserError as error:
        raise UserError(
            f"a log, or a file of scores or counts, holds what it should not ({error}): train or score the run again."
        ) from error
    write_json(Path(layout.path("manifest", **names)), manifest)
    return manifest


def collect_manifest(layout: Layout, names: Mapping[str, Any], sources: Mapping[str, Any] | None) -> dict[str, Any]:
    """Collect the manifest of a run as plain values; what is not known is None. See `write_manifest`."""
    paths = {file_type: Path(layout.path(file_type, **names)) for file_type in (*_SCORES, "model", "hypotheses")}
    external = sources is not None and sources["external"] is not None
    translations = sources["translations"] if sources else None
    log_folder = _log_folder(Path(layout.path("history", **names)))
    attempts = read_attempts(log_folder / file_name("attempts"))
    scores = [paths[file_type] for file_type in _SCORES if paths[file_type].exists()]
    return {
        **_header(_status(paths, external), names, attempts),
        "external": sources["external"] if sources else None,
        "translations": translations and _with_checksums(layout, translations),
        "parameters": parameter_count(paths["model"]) if paths["model"].exists() else None,
        "training": _training(log_folder / file_name("history")),
        "stages": _stages(layout, names, paths["hypotheses"]),
        "scores": _by_split(scores),
        "signatures": _signatures(scores),
        "data": None if sources is None else describe_data(layout, names["dataset"], sources),
    }


def _status(paths: Mapping[str, Path], external: bool) -> str:
    first = "hypotheses" if external else "model"
    if not paths[first].exists():
        return INTERRUPTED
    return COMPLETE if paths["hypotheses"].exists() and paths["scores"].exists() else UNSCORED


def write_interrupted_manifest(run: RunSettings, folder: Path, attempts: Sequence[Mapping[str, Any]]) -> None:
    """Write the manifest of a run whose training begins into the run's `folder`; it has no results yet."""
    names = {key: getattr(run, key) for key in RUN_KEYS}
    write_json(folder / file_name("manifest"), _header(INTERRUPTED, names, attempts))


def _header(status: str, names: Mapping[str, Any], attempts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    last = attempts[-1] if attempts else {}
    return {
        "format": FORMAT_OF_MANIFESTS,
        "status": status,
        **{key: int(names[key]) if key == "seed" else names[key] for key in RUN_KEYS},
        "code": {"training": last.get("code"), "manifest": _own_code()},
        "packages": last.get("packages"),
        "python": last.get("python"),
        "device": last.get("device"),
        "energy_joules": {"gpu": _energy(attempts)},
        "attempts": [{key: attempt.get(key) for key in ("began", "ended", "finished")} for attempt in attempts] or None,
    }


@cache
def _own_code() -> dict[str, str | None]:
    """Return this code's version, with one call of git for all manifests."""
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
    run_jobs = [rule for rule, stem in JOBS.items() if "{seed}" in stem and rule not in _NOT_TIMED]
    seconds = {rule: benchmark_seconds(layout.existing(f"{rule}.benchmark", **names)) for rule in run_jobs}
    jobs = {rule: {"seconds": value} for rule, value in seconds.items() if value is not None}
    if "translate_tests" in jobs and seconds["translate_tests"]:
        words = sum(len(line.split()) for path in _translations(hypotheses) for line in read_lines(path))
        jobs["translate_tests"]["words_per_second"] = round(words / seconds["translate_tests"], 1)
    return {"data": stage_seconds(layout, names["dataset"]), "jobs": jobs}


def _translations(hypotheses: Path) -> list[Path]:
    return [path for path in sorted(hypotheses.glob("*.txt")) if not path.name.endswith(".references.txt")]


def _by_split(files: Sequence[Path]) -> dict[str, dict[str, float]]:
    values: dict[str, dict[str, float]] = {}
    for path in files:
        with explain_content(path):
            for split, label, value in score_values(read_json(path)):
                values.setdefault(split, {})[label] = value
    return values


def _signatures(files: Sequence[Path]) -> dict[str, str]:
    """Return the signature of each score; it is the same for all splits."""
    signatures: dict[str, str] = {}
    for path in files:
        with explain_content(path):
            scores = read_json(path)
            labels = metric_labels(scores)
            splits = [split for key in labels for split in scores.get(key, {}).values()]
            for split, (name, label) in product(splits, labels.items()):
                if f"{name}_signature" in split:
                    signatures[label] = split[f"{name}_signature"]
    return signatures


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
