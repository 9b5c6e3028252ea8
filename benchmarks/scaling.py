"""CPU time and peak memory of each stage over corpus sizes, and the exponents with which they grow.

    python benchmarks/scaling.py [--stages STAGE...] [--sizes 10000 30000 100000] [--folder FOLDER]

Each stage runs in a fresh process; its inputs are made before. Sentences have 15 random words whose distinct forms grow
with Heaps' exponent .63; trees and labels are random. Memory is that of all processes of a stage without pages of
files, looked at every 20 ms. Exponents are slopes of lines through the logarithms: of CPU time less that of 100 pairs
(start-up), and of memory, start-up included, so that bounded memory has 0.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.annotation.labels import label_vocabularies
from nmtcore.annotation.shards import ANNOTATION_SCHEMA
from nmtcore.config.corpora import (
    CorpusSettings,
    DuplicatesSettings,
    EmptySettings,
    FileSettings,
    HeldOutSettings,
    LengthSettings,
    PartSettings,
    RatioSettings,
    SegmentationSettings,
    WordsSettings,
)
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.config.training import EvaluationSettings
from nmtcore.corpus.filters import filter_split
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.corpus.read import read_split
from nmtcore.corpus.sources import sidecar_path
from nmtcore.features.extract import extract_subwords, extract_syntax
from nmtcore.files import read_lines, write_json, write_lines
from nmtcore.parquet import ROWS_PER_GROUP, row_writer
from nmtcore.segmentation.learn import learn_segmentation

SEGMENTATION = SegmentationSettings.parse("bpe_joint_6000")
LEARNED_FROM = 30_000
"""Pairs from which the merges are learned that cut words into subwords, for all sizes."""
START = 100
"""Pairs of the size whose time counts as start-up."""
EXPONENT, SHIFT = 1.6, 30.0
"""Zipf-Mandelbrot law of the words: the word of rank r has the frequency (r + `SHIFT`) ** -`EXPONENT`."""
SYLLABLES = pa.array(["", *(consonant + vowel for consonant in "bcdfghjklmnpqrstvwxz" for vowel in "aeiou")])
LABELS = {"deprel": 45, "upos": 17, "xpos": 50, "ccg": 500}
"""The numbers of labels of the random annotation."""


def sentences(pairs: int) -> Iterator[pa.ListArray]:
    """Draw sentences of 5 to 25 words, batch by batch."""
    random = np.random.default_rng(1)
    for start in range(0, pairs, ROWS_PER_GROUP):
        lengths = random.integers(5, 26, min(ROWS_PER_GROUP, pairs - start))
        ranks = np.minimum(SHIFT * random.pareto(EXPONENT - 1, lengths.sum()), 1e12).astype(np.int64)
        distinct, number = np.unique(ranks, return_inverse=True)
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
        yield pa.ListArray.from_arrays(offsets, spelled(distinct).take(pa.array(number)))


def spelled(ranks: np.ndarray) -> pa.Array:
    """Spell each rank in syllables, the most frequent words in one."""
    digits, left = [], ranks + 1
    while left.any():
        digits.append(SYLLABLES.take(pa.array(np.where(left > 0, (left - 1) % (len(SYLLABLES) - 1) + 1, 0))))
        left = np.maximum(left - 1, 0) // (len(SYLLABLES) - 1)
    return pc.binary_join_element_wise(*digits, "")


# Inputs: each function makes the files of a folder that are missing.


def text(folder: Path, size: int) -> None:
    """Write the same text as both sides of a corpus, as if downloaded."""
    downloads = folder / "downloads"
    if not downloads.exists():
        downloads.mkdir(parents=True)
        write_lines(downloads / "source", [line for words in sentences(size) for line in joined(words)])
        (downloads / "target").hardlink_to(downloads / "source")
        for side in ("source", "target"):
            write_json(sidecar_path(downloads / side), {"mirror": None})


def joined(words: pa.ListArray) -> list[str]:
    """Return the text of sentences."""
    return pc.binary_join(words, " ").to_pylist()


def raw(folder: Path, size: int) -> None:
    """Read the training split, and a tenth of it as the development set."""
    text(folder, size)
    if not (folder / "raw/dev.parquet").exists():
        read(folder, size)
        read(folder, size, split="dev", last=max(1, size // 10))


def corpus(folder: Path, size: int) -> None:
    """Write filtered pairs, and a random annotation: heads among the words before, labels by Zipf's law."""
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "train.parquet").exists():
        return
    random, first = np.random.default_rng(1), 0
    files = row_writer(folder / "train.parquet", PAIR_SCHEMA), row_writer(folder / "trees.parquet", ANNOTATION_SCHEMA)
    with files[0] as pairs, files[1] as trees:
        for words in sentences(size):
            ids, own = pa.array(np.arange(first, first + len(words)), pa.int64()), pc.binary_join(words, " ")
            pairs.write_batch(pa.RecordBatch.from_arrays([ids, own, own, words, words, own], schema=PAIR_SCHEMA))
            lengths = words.value_lengths().to_numpy()
            number = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            columns = {"id": ids, "head": (random.random(len(number)) * (number + 1)).astype(np.int32)}
            for name, count in LABELS.items():
                names = pa.array([f"{name}{i}" for i in range(count)])
                columns[name] = names.take(pa.array((count ** random.random(len(number))).astype(np.int32) - 1))
            for name in ("head", *LABELS):
                columns[name] = pa.ListArray.from_arrays(words.offsets, pa.array(columns[name]))
            nulls = pa.nulls(len(words))
            arrays = [columns.get(field.name, nulls.cast(field.type)) for field in ANNOTATION_SCHEMA]
            trees.write_batch(pa.RecordBatch.from_arrays(arrays, schema=ANNOTATION_SCHEMA))
            first += len(words)
    label_vocabularies(folder / "trees.parquet", folder / "labels.json")


def segmented(folder: Path, size: int) -> None:
    """Write filtered pairs, and learn the merges that all sizes share."""
    corpus(folder, size)
    if not (folder.parent / "segmentation").exists():
        corpus(folder.parent / "merges", LEARNED_FROM)
        learn(folder.parent / "merges", size, output=folder.parent / "segmentation")


def with_tokens(folder: Path, size: int) -> None:
    """Extract the subwords of one side."""
    segmented(folder, size)
    if not (folder / "tokens.parquet").exists():
        tokens(folder, size)


def translations(folder: Path, size: int) -> None:
    """Write references, and translations of them without a tenth of the words."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(2)
    lines = [line for words in sentences(size) for line in joined(words)]
    write_lines(folder / "references", lines)
    write_lines(folder / "system", [" ".join(word for word in line.split() if random.random() < 0.9) for line in lines])


# Stages: what is measured.


def read(folder: Path, size: int, *, split: str = "train", last: int | None = None) -> None:
    """Read a split, whose words are split at spaces, in two processes."""
    files = {side: (FileSettings(name=side, url="https://example.org"),) for side in ("source", "target")}
    settings = ReadingSettings(
        languages={"source": "cs", "target": "en"},
        treebank=False,
        parts=(PartSettings(corpus="c", last=last),),
        corpora={"c": CorpusSettings(format="plain", files=files)},
        words=dict.fromkeys(("source", "target"), WordsSettings(kind="spaces")),
    )
    output = folder / f"raw/{split}.parquet"
    files = {"downloads": folder / "downloads", "output": output, "report": output.with_suffix(".json")}
    read_split(settings, dataset="scaling", split=split, **files, processes=2)


def filters(folder: Path, size: int) -> None:
    """Filter the training split, in two processes."""
    chosen = (EmptySettings(), LengthSettings(most=100), RatioSettings(), DuplicatesSettings(), HeldOutSettings())
    filter_split(
        FilteringSettings(languages={"source": "cs", "target": "en"}, filters=chosen),
        dataset="scaling",
        raw=folder / "raw/train.parquet",
        other_raws={"dev": folder / "raw/dev.parquet"},
        output=folder / "kept/train.parquet",
        report=folder / "kept/train.json",
        processes=2,
    )


def learn(folder: Path, size: int, *, output: Path | None = None) -> None:
    """Learn 6,000 merges from both sides."""
    learn_segmentation(folder / "train.parquet", SEGMENTATION, output or folder / "learned")


def tokens(folder: Path, size: int) -> None:
    """Extract the subwords of one side."""
    files = {"words": folder / "train.parquet", "output": folder / "tokens.parquet"}
    options = {"column": "source_words", "settings": SEGMENTATION, "side": "source"}
    extract_subwords(**files, segmentation=folder.parent / "segmentation", **options)


def syntax(folder: Path, size: int) -> None:
    """Extract the trees, tags and supertags of one side."""
    files = {"annotation": folder / "trees.parquet", "labels": folder / "labels.json"}
    files |= {"tokens": folder / "tokens.parquet", "output": folder / "syntax.parquet"}
    extract_syntax(**files, annotation_names=("dependencies", "tags", "ccg"), side="source")


def score(folder: Path, size: int) -> None:
    """Compute BLEU and chrF."""
    from nmtcore.evaluation.metrics import score_translations

    score_translations(read_lines(folder / "system"), read_lines(folder / "references"), EvaluationSettings())


STAGES: dict[Callable[[Path, int], None], Callable[[Path, int], None]] = {
    read: text, filters: raw, learn: corpus, tokens: segmented, syntax: with_tokens,
    score: translations,
}  # fmt: skip
"""The stages, with the functions that make their inputs."""
NAMES = {stage.__name__: stage for stage in STAGES}


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(name: str, folder: Path, size: int) -> tuple[float, float]:
    """Do the work of a stage in a process that is watched: its seconds of CPU time, and its peak memory in MB."""
    STAGES[NAMES[name]](folder, size)
    command = [sys.executable, __file__, "--work", str(folder), "--sizes", str(size), "--stages", name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    memory, watched = 0.0, psutil.Process(process.pid)
    while process.poll() is None:
        memory = max(memory, sum(map(own_memory, [watched.pid, *children(watched)])))
        time.sleep(0.02)
    output = process.stdout.read()
    if process.returncode:
        sys.exit(f"{name}, {size:,}: failed; its messages are above.")
    return json.loads(output.splitlines()[-1]), memory


def children(process: psutil.Process) -> list[int]:
    """Return the ids of the children of a process, and of their children; none if it has ended."""
    try:
        return [child.pid for child in process.children(recursive=True)]
    except psutil.Error:
        return []


def own_memory(pid: int) -> float:
    """Return the memory of a process without pages of files, in MB; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1000 for line in lines if line.startswith(("RssAnon", "RssShmem")))


def slope(sizes: list[int], values: list[float]) -> float:
    """Return the slope of a line through the logarithms, by least squares."""
    return np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-3)), 1)[0] if len(sizes) > 1 else float("nan")


def main() -> None:
    """Measure the stages, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", nargs="+", choices=NAMES, default=list(NAMES), metavar="STAGE")
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 30_000, 100_000])
    parser.add_argument("--folder", type=Path, help="where to make temporary files")
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        began = cpu_seconds()
        NAMES[options.stages[0]](options.work, options.sizes[0])
        print(cpu_seconds() - began)
        return
    print("| stage | largest | CPU time, s | time grows as | peak memory, MB | memory grows as |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="scaling-") as temporary:
        for name in options.stages:
            sizes = [START, *sorted(options.sizes)]
            (start, *times), (_, *memory) = zip(
                *(measure(name, Path(temporary, str(n)), n) for n in sizes), strict=True
            )
            own = slope(sizes[1:], [seconds - start for seconds in times]), slope(sizes[1:], memory)
            cells = f"{sizes[-1]:,} | {times[-1]:.1f} | n^{own[0]:.2f} | {memory[-1]:,.0f} | n^{own[1]:.2f}"
            print(f"| {name} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
