"""Memory and time of the start of training on a large corpus, with features that are mapped or loaded.

    python benchmarks/mapped.py [--pairs 5000000 20000000] [--trees] [--loaded] [--folder FOLDER]

Writes features of synthetic pairs, 24 words and about 26 subwords a side, from a vocabulary of 8,000 by Zipf's law,
and starts training a small model as the workflow does, with batches of 4,096 tokens: first with features that must be
copied to be mapped, then with the copies, and then again without the pages that the system has cached. Processes are
watched from outside: RssAnon is memory of their own, RssFile are pages of files, which all processes share. Each ends
after `UPDATES` updates. A line through the sizes predicts the memory for 100 million pairs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.features import LABEL_COLUMNS
from nmtcore.config.project import Project
from nmtcore.config.runs import run_to_json
from nmtcore.config.training import BatchSettings
from nmtcore.experiment.training import TrainingJob
from nmtcore.features.schema import TOKENS_SCHEMA, syntax_schema
from nmtcore.files import write_json
from nmtcore.parquet import row_writer
from nmtcore.segmentation.vocabulary import SPECIALS, Vocabulary

CONFIG = Path(__file__).parents[1] / "config"
WORDS, VOCABULARY, LABELS, UPDATES = 24, 8_000, 45, 3
BLOCK = 100_000
"""Pairs that are drawn at a time; the others repeat them, since drawing takes longer than all that is measured."""
FINAL = 100_000_000
"""Pairs for which memory is predicted."""


def write_features(folder: Path, split: str, pairs: int, *, trees: bool) -> None:
    """Write the feature files of a split, block by block."""
    for number, side in enumerate(("source", "target")):
        tokens, syntax = draw_columns(np.random.default_rng(number), min(BLOCK, pairs))
        write_columns(folder / f"{split}.{side}.parquet", TOKENS_SCHEMA, tokens, pairs)
        if trees and side == "source":
            write_columns(folder / f"{split}.{side}.parser.parquet", syntax_schema(["trees"]), syntax, pairs)


def draw_columns(random: np.random.Generator, pairs: int) -> tuple[dict[str, pa.Array], dict[str, pa.Array]]:
    """Draw the columns of token features and of trees, for sentences of 1 to 47 words, 24 on average."""
    words_N = random.integers(1, 2 * WORDS, pairs)
    pieces_W = 1 + (random.random(words_N.sum()) < 0.08)
    word_W = np.arange(len(pieces_W)) - np.repeat(np.cumsum(words_N) - words_N, words_N)
    subwords_N = np.add.reduceat(pieces_W, np.cumsum(words_N) - words_N)
    ids = len(SPECIALS) - 1 + (VOCABULARY ** random.random(pieces_W.sum())).astype(np.int32)
    governors = (random.random(len(word_W)) * (word_W + 1)).astype(np.int32) - 1
    tokens = {"ids": lists(subwords_N, ids), "word_of_subword": lists(subwords_N, np.repeat(word_W, pieces_W))}
    syntax = {
        "governor": lists(words_N, governors),
        "deprel": lists(words_N, 1 + (LABELS ** random.random(len(word_W))).astype(np.int32)),
        "parent_position": lists(words_N, governors.clip(0).astype(np.float32)),
    }
    return tokens, syntax


def lists(lengths: np.ndarray, values: np.ndarray) -> pa.Array:
    """Divide values into lists."""
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(
        offsets, pa.array(values.astype(np.float32 if values.dtype.kind == "f" else np.int32))
    )


def write_columns(path: Path, schema: pa.Schema, columns: dict[str, pa.Array], pairs: int) -> None:
    """Write rows that repeat some columns."""
    with row_writer(path, schema) as writer:
        for start in range(0, pairs, BLOCK):
            count = min(BLOCK, pairs - start)
            ids = pa.array(np.arange(start, start + count), pa.int64())
            arrays = {"id": ids, **{name: column.slice(0, count) for name, column in columns.items()}}
            writer.write_batch(pa.RecordBatch.from_arrays([arrays[name] for name in schema.names], schema=schema))


def write_job(folder: Path, *, trees: bool, mapped: bool) -> Path:
    """Write the job of training a small model on the features in a folder."""
    run = Project.load(CONFIG).run("demo_en2de", "transformer_base", "smoke", 1)
    training = replace(
        run.training, batch=BatchSettings(), validation=replace(run.training.validation, metric="perplexity")
    )
    features = {"source": {"trees": "parser"}} if trees else {}
    run = replace(run, training=training, sentences=type(run.sentences)(), features=features)
    segmentation = folder / "job_segmentation"
    segmentation.mkdir(exist_ok=True)
    (segmentation / "codes").write_text("#version: 0.2\n")
    for side in ("source", "target"):
        Vocabulary.of(f"w{i}" for i in range(VOCABULARY)).save(segmentation / f"{side}.vocab")
    names = [*LABEL_SPECIALS, *(f"label{i}" for i in range(LABELS))]
    write_json(folder / "labels.json", dict.fromkeys(LABEL_COLUMNS, names))
    job = TrainingJob(
        run=run_to_json(run),
        features=str(folder / "features"),
        segmentation=str(segmentation),
        labels={"source": {"parser": str(folder / "labels.json")}} if trees else {},
        dev_corpus="",
        checkpoints=str(folder / "checkpoints"),
        model=str(folder / "model"),
        history=str(folder / "run" / "training.jsonl"),
        device="cpu",
        gpus=1,
        threads=1,
        map_features_from=1000 if mapped else None,
    )
    write_json(folder / "job.json", asdict(job))
    return folder / "job.json"


def train(job: Path) -> None:
    """Train in this process, and say when the first batch is there; end after `UPDATES` updates."""
    from nmtcore.experiment.training import train_run
    from nmtcore.training.data import TrainingSet

    make_batches, times, cpu = TrainingSet.make_batches, [], []

    def make_and_count(self: TrainingSet, *arguments: object) -> list:
        batches = make_batches(self, *arguments)
        times.append(time.time())
        cpu.append(time.process_time())
        if len(times) == UPDATES:
            print(json.dumps({"first": times[0], "cpu": cpu[0]}), flush=True)
            os._exit(0)
        return batches

    TrainingSet.make_batches = make_and_count
    train_run(TrainingJob(**json.loads(job.read_text())))


def watch(job: Path) -> dict[str, float]:
    """Start a process that trains; return its largest memory in MB by kind, and the seconds to its first batch,
    and its processor time until then."""
    began = time.time()
    process = subprocess.Popen([sys.executable, __file__, "--job", str(job)], stdout=subprocess.PIPE, text=True)
    peaks = dict.fromkeys(("RssAnon", "RssFile"), 0.0)
    while process.poll() is None:
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in peaks:
                peaks[name] = max(peaks[name], int(value.split()[0]) / 1000)
        time.sleep(0.02)
    lines = process.stdout.read().splitlines()
    if process.returncode:
        sys.exit(f"training failed: {lines}")
    first = json.loads(lines[-1])
    return {**peaks, "seconds": first["first"] - began, "cpu": first["cpu"]}


def forget_pages(folder: Path) -> None:
    """Let the system drop the cached pages of all files in a folder, as if they had not been read yet."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(folder: Path, pairs: int, *, trees: bool, loaded: bool) -> dict[str, dict[str, float]]:
    """Write the features of some pairs and measure starts of training; print and return what was measured."""
    (folder / "features").mkdir(parents=True)
    for split, count in (("train", pairs), ("dev", 500)):
        write_features(folder / "features", split, count, trees=trees)
    job = write_job(folder, trees=trees, mapped=True)
    measured = {"copying": watch(job), "mapped": watch(job)}
    forget_pages(folder)
    measured["mapped, not cached"] = watch(job)
    if loaded:
        measured["loaded"] = watch(write_job(folder, trees=trees, mapped=False))
    sizes = {name: sum(file.stat().st_size for file in files) for name, files in files_of(folder / "features").items()}
    print(f"{pairs:,} pairs: " + ", ".join(f"{name} {size / pairs:.0f} bytes per pair" for name, size in sizes.items()))
    for name, values in measured.items():
        start = f"first batch after {values['seconds']:.1f} s ({values['cpu']:.1f} s of CPU time)"
        memory = f"RssAnon {values['RssAnon']:.0f} MB, RssFile {values['RssFile']:.0f} MB"
        print(f"    {name:20} {start}, {memory}", flush=True)
    return measured


def files_of(folder: Path) -> dict[str, list[Path]]:
    """Return the feature files and the copies of their columns."""
    return {"features": list(folder.glob("*.parquet")), "copies": list(folder.glob("mapped/*/*.*"))}


def main() -> None:
    """Measure each number of pairs, and predict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[5_000_000, 20_000_000])
    parser.add_argument("--trees", action="store_true", help="also features of trees on the source side")
    parser.add_argument("--loaded", action="store_true", help="also load the features, which takes much memory")
    parser.add_argument("--folder", type=Path, help="where to make temporary files")
    parser.add_argument("--job", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        train(arguments.job)
        return
    own = []
    for pairs in arguments.pairs:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
            measured = measure(Path(name), pairs, trees=arguments.trees, loaded=arguments.loaded)
        own.append(max(measured[name]["RssAnon"] for name in ("copying", "mapped", "mapped, not cached")))
    if len(own) > 1:
        slope, base = np.polyfit(arguments.pairs, own, 1)
        print(
            f"RssAnon, predicted for {FINAL:,} pairs: {base + slope * FINAL:,.0f} MB ({slope * 1e6:.1f} bytes per pair)"
        )


if __name__ == "__main__":
    main()
