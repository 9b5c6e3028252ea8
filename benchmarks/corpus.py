"""Time and peak memory of reading, filtering and segmentation.

    python benchmarks/corpus.py multi30k FOLDER       FOLDER holds train.cs and train.en
    python benchmarks/corpus.py synthetic [--lines N] [--words spaces|moses]

Memory is the sum of the resident memory of all processes, which counts shared pages more than once: an upper bound.
"""

import argparse
import gzip
import io
import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

from nmtcore.config.corpora import CorpusSettings, FileSettings, PartSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.filters import DuplicatesSettings, EmptySettings, HeldOutSettings, LengthSettings, RatioSettings
from nmtcore.config.segmentation import SegmentationSettings, WordsSettings
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.corpus.filters import filter_split
from nmtcore.corpus.read import read_split
from nmtcore.corpus.sources import sidecar_path
from nmtcore.files import write_json
from nmtcore.layout import file_name
from nmtcore.parquet import read_batches
from nmtcore.segmentation.learn import count_words, learn_codes, learn_segmentation
from nmtcore.segmentation.segmenter import Segmenter

FILTERS = (EmptySettings(), LengthSettings(most=100), RatioSettings(), DuplicatesSettings(), HeldOutSettings())


@contextmanager
def measured(task: str) -> Iterator[None]:
    """Print the time of the block and the peak memory of all processes."""
    main_process, peak, done = psutil.Process(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            total = 0
            for process in [main_process, *main_process.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.Error:
                    continue
            peak[0] = max(peak[0], total)

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - start
        done.set()
        watcher.join()
        print(f"{task:32} {seconds:8.1f} s   peak {peak[0] / 2**20:7.0f} MB", flush=True)


def dataset(folder: Path, source: str, target: str, segmentation: str, words: str = "moses") -> DatasetSettings:
    """Return the settings of a data set of two plain files in `folder`/downloads; the last 1,000 lines are also dev."""
    files = {}
    for role, name in (("source", source), ("target", target)):
        write_json(sidecar_path(folder / "downloads" / name), {"mirror": None})
        files[role] = (FileSettings(name=name, url="https://example.org"),)
    splits = {
        split: (PartSettings(corpus="c", last=last),) for split, last in (("train", None), ("dev", 1000), ("test", 5))
    }
    return DatasetSettings(
        name="benchmark", description="", licence="", citation="", source="cs", target="en", recipe="small",
        corpora={"c": CorpusSettings(format="plain", files=files)}, splits=splits, filters=FILTERS,
        words=dict.fromkeys(("source", "target"), WordsSettings(kind=words)),
        segmentation=SegmentationSettings.parse(segmentation),
    )  # fmt: skip


def run(settings: DatasetSettings, folder: Path) -> None:
    """Read, filter, learn a segmentation and apply it."""
    raw = {split: folder / "raw" / f"{split}.parquet" for split in settings.splits}
    train = folder / "train.parquet"
    with measured("everything"):
        with measured("read"):
            for split, path in raw.items():
                read_split(
                    ReadingSettings.of(settings, split),
                    dataset=settings.name,
                    split=split,
                    downloads=folder / "downloads",
                    output=path,
                    report=path.with_suffix(".json"),
                )
        with measured("filter"):
            facts = filter_split(
                FilteringSettings.of(settings, "train"),
                dataset=settings.name,
                raw=raw["train"],
                other_raws={split: path for split, path in raw.items() if split != "train"},
                output=train,
                report=train.with_suffix(".json"),
            )
        with measured("learn segmentation"):
            learn_segmentation(train, settings.segmentation, folder / "segmentation")
        with measured("segment"):
            for side in ("source", "target"):
                segmenter = Segmenter.load(folder / "segmentation", settings.segmentation, side)
                for batch in read_batches(train, columns=[f"{side}_words"]):
                    segmenter.segment_batch(batch.column(0))
    print(json.dumps(facts))


def multi30k(source: Path) -> None:
    """Prepare Multi30k, then compare segmentation with bare subword-nmt."""
    from subword_nmt.apply_bpe import BPE

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "downloads").mkdir()
        for file in ("train.cs", "train.en"):
            (folder / "downloads" / file).write_bytes((source / file).read_bytes())
        settings = dataset(folder, "train.cs", "train.en", "bpe_joint_6000")
        run(settings, folder)
        sentences = [words for batch in read_batches(folder / "train.parquet", columns=["target_words"])
                     for words in batch.column(0).to_pylist()]  # fmt: skip
        codes = (folder / "segmentation" / file_name("joint_codes")).read_text(encoding="utf-8")
        counts = count_words(folder / "train.parquet", "source") + count_words(folder / "train.parquet", "target")
        assert codes == learn_codes(counts, settings.segmentation.size)
        bpe = BPE(io.StringIO(codes))
        segmenter = Segmenter.load(folder / "segmentation", settings.segmentation, "target")
        with measured("subword-nmt, one side"):
            bare = [bpe.segment_tokens(words) for words in sentences]
        with measured("ours, one side"):
            ours = [segmenter.segment(words) for words in sentences]
        assert bare == [pieces for pieces, _ in ours]


def synthetic(lines: int, words: str) -> None:
    """Prepare a corpus of random words with a Zipfian distribution, a tenth of whose pairs are repeated."""
    random = np.random.default_rng(1)
    vocabulary = np.array(["".join(random.choice(list("abcdefghijklmnop"), 2 + i % 9)) for i in range(100_000)])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "downloads").mkdir()
        with measured(f"make {lines} lines"):
            for side in ("source", "target"):
                with gzip.open(folder / "downloads" / side, "wt", compresslevel=1, encoding="utf-8") as file:
                    seeds = np.random.default_rng(2).integers(0, lines * 5, lines)
                    for start in range(0, lines, 10_000):
                        file.writelines(_lines(seeds[start : start + 10_000], vocabulary, side))
        print("files", [os.path.getsize(folder / "downloads" / side) >> 20 for side in ("source", "target")], "MB")
        run(dataset(folder, "source", "target", "bpe_joint_2000", words), folder)


def _lines(seeds: np.ndarray, vocabulary: np.ndarray, side: str) -> Iterator[str]:
    """Yield a line of 5 to 34 words per seed; equal seeds give equal lines."""
    step = 7919 if side == "source" else 104_729
    for seed in seeds.tolist():
        ranks = (np.arange(1, 6 + seed % 30) * step * (seed + 1)) % 1_000_003 / 1_000_003
        yield " ".join(vocabulary[(len(vocabulary) ** ranks).astype(int) - 1]) + ".\n"


def main() -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("multi30k").add_argument("folder", type=Path)
    synthetic_parser = commands.add_parser("synthetic")
    synthetic_parser.add_argument("--lines", type=int, default=2_000_000)
    synthetic_parser.add_argument("--words", choices=["spaces", "moses"], default="spaces")
    arguments = parser.parse_args()
    if arguments.command == "multi30k":
        multi30k(arguments.folder)
    else:
        synthetic(arguments.lines, arguments.words)


if __name__ == "__main__":
    main()
