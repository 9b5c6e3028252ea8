"""Finished and interrupted runs with manifests, for the tests of what is made of manifests."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from nmtcore.files import write_json, write_lines
from nmtcore.layout import Layout

SOURCES = {
    "description": "Sentences",
    "licence": "CC0",
    "citation": "A 2020",
    "source": "en",
    "target": "de",
    "splits": ["train", "test"],
    "files": [
        {"kind": "corpus", "name": "news", "splits": ["train"], "licence": "CC BY 4.0", "citation": "B 2021",
         "file": "news/a.gz", "path": None, "url": "https://example.org/a.gz", "sha256": None},
        {"kind": "corpus", "name": "mine/test", "splits": ["test"], "licence": "CC0", "citation": "A 2020",
         "file": None, "path": None, "url": None, "sha256": None},
        {"kind": "model", "name": "stanza_en", "annotator": "parser", "licence": "Apache-2.0", "citation": "C",
         "file": "models/stanza_en/pos.pt", "path": None, "url": None, "sha256": "beef"},
    ],
    "external": None,
}  # fmt: skip
"""What planning says of the data of the runs."""

ATTEMPT = {
    "began": "2026-01-01T00:00:00+00:00",
    "ended": "2026-01-01T01:00:00+00:00",
    "finished": True,
    "device": {"kind": "cpu", "name": "A processor", "linear_layers": "oneDNN", "gpus": 0, "threads": 2},
    "code": {"version": "0.1.0", "commit": "c0ffee", "sources_sha256": "50ce5", "lock_sha256": "10cc"},
    "python": "3.11",
    "packages": {"torch": "2.0", "numpy": None},
}
"""A finished attempt to train."""


def layout_of(folder: Path) -> Layout:
    """Return a layout with its results and downloads in `folder`."""
    return Layout(results=str(folder / "results"), downloads=str(folder / "downloads"), scales=("small",))


def names_of(system: str = "base", seed: int = 1) -> dict:
    """Return the names of a run."""
    return {"scale": "small", "dataset": "d", "system": system, "seed": seed}


def write_log(folder: Path, attempts: list[dict] | None, *, bleu: float = 20.0) -> None:
    """Write a training log with two validations, the first one the best, and the attempts."""
    speeds = {1: {"peak_memory_bytes": 300, "share_of_peak": 0.3}, 3: {"peak_memory_bytes": 200, "share_of_peak": 0.1}}
    updates = [
        {"update": u, "loss/translation": 9.0 / u, "tokens_per_second": 10.0 * u, "seconds": u, **speeds[u]}
        for u in (1, 3)
    ]
    scores = [{"perplexity": 9.0, "bleu": bleu, "accuracy/tags": 0.5}, {"perplexity": 8.0, "bleu": 1.0}]
    validations = [
        {"update": u, "validation": own, "best": u == 1, "seconds": u + 0.5}
        for u, own in zip((1, 3), scores, strict=True)
    ]
    lines = [line for pair in zip(updates, validations, strict=True) for line in pair]
    write_lines(folder / "training.jsonl", list(map(json.dumps, lines)))
    if attempts is not None:
        write_json(folder / "attempts.json", attempts)


def write_run(
    layout: Layout, system: str = "base", seed: int = 1, *, attempts: list[dict] | None = None, bleu: float = 20.0
) -> Path:
    """Write all files of a complete run, and return its folder."""
    names = names_of(system, seed)
    folder = Path(layout.path("scores", **names)).parent
    write_log(folder, [ATTEMPT] if attempts is None else attempts, bleu=bleu)
    (folder / "model").mkdir()
    weights = {"a": np.zeros((3, 4), dtype=np.float32), "b": np.zeros(5, dtype=np.float16)}
    save_file(weights, folder / "model/weights.safetensors", metadata={"x": "y"})
    write_lines(folder / "hypotheses/test/translations.txt", ["one two three", "four"])
    write_lines(folder / "hypotheses/test/references.txt", ["a b c d e f g h", ""])
    scores = {"bleu": bleu, "bleu_signature": "nrefs:1", "length_ratio": 0.5, "sentences": 2, "empty_translations": 1}
    scores |= {"chrf": bleu + 20, "chrf_signature": "nc:6"}
    write_json(folder / "scores.json", {**names, "bleu": {"test": scores, "dev": scores | {"bleu": bleu + 1}}})
    return folder
