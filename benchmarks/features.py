"""Speed and peak memory of segmentation, compared with bare subword-nmt, and of feature extraction.

    python benchmarks/features.py multi30k FOLDER      FOLDER holds train.en (raw text)
    python benchmarks/features.py synthetic [--pairs N]

Trees, labels and supertags are random, since the speed of extraction does not depend on them.
"""

import argparse
import io
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from corpus import measured

from nmtcore.annotation.labels import label_vocabularies
from nmtcore.annotation.shards import ANNOTATION_SCHEMA
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.features.extract import extract_subwords, extract_syntax
from nmtcore.layout import file_name
from nmtcore.parquet import ROWS_PER_GROUP, row_count, row_writer
from nmtcore.segmentation.learn import learn_segmentation
from nmtcore.segmentation.segmenter import Segmenter

ANNOTATIONS = ("dependencies", "tags", "ccg")
LABELS = {
    "deprel": [f"deprel{i}" for i in range(45)],
    "upos": [f"U{i}" for i in range(17)],
    "xpos": [f"XPOS{i}" for i in range(50)],
    "ccg": [f"((S\\NP)/NP{i})" for i in range(500)],
}
REPEATS = 5


def words_of(line: str) -> list[str]:
    """Split a line at spaces and punctuation, roughly as Moses does."""
    return re.findall(r"\w+|[^\w\s]", line)


def write_files(folder: Path, batches: Iterator[pa.ListArray]) -> Path:
    """Write a corpus with the same words on both sides, and a random annotation of them."""
    random = np.random.default_rng(1)
    first = 0
    corpus, trees = folder / "train.parquet", folder / "annotation.parquet"
    with row_writer(corpus, PAIR_SCHEMA) as pairs, row_writer(trees, ANNOTATION_SCHEMA) as annotation:
        for words in batches:
            ids = pa.array(np.arange(first, first + len(words)), pa.int64())
            text = pc.binary_join(words, " ")
            pairs.write_batch(pa.RecordBatch.from_arrays([ids, text, text, words, words, text], schema=PAIR_SCHEMA))
            columns = {"id": ids, **annotated(words, random)}
            nulls = pa.nulls(len(words))
            arrays = [columns.get(field.name, nulls.cast(field.type)) for field in ANNOTATION_SCHEMA]
            annotation.write_batch(pa.RecordBatch.from_arrays(arrays, schema=ANNOTATION_SCHEMA))
            first += len(words)
    label_vocabularies(trees, folder / "labels.json")
    return corpus


def annotated(words: pa.ListArray, random: np.random.Generator) -> dict[str, pa.Array]:
    """Draw each head among the preceding words and the root, and labels by Zipf's law."""
    lengths = words.value_lengths().to_numpy()
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    number = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    heads = pa.array((random.random(len(number)) * (number + 1)).astype(np.int32))
    columns = {"head": pa.ListArray.from_arrays(offsets, heads)}
    for column, names in LABELS.items():
        ranks = (len(names) ** random.random(len(number))).astype(np.int32) - 1
        columns[column] = pa.ListArray.from_arrays(offsets, pa.array(names).take(pa.array(ranks)))
    return columns


def multi30k(source: Path) -> None:
    """Compare segmentation with subword-nmt, then time the extraction of features from the same words."""
    from subword_nmt.apply_bpe import BPE

    lines = [" ".join(words_of(line)) for line in (source / "train.en").read_text(encoding="utf-8").split("\n") if line]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = SegmentationSettings.parse("bpe_joint_6000")
        corpus = write_files(folder, iter([pa.array([line.split(" ") for line in lines], pa.list_(pa.string()))]))
        learn_segmentation(corpus, settings, folder / "segmentation")
        codes = (folder / "segmentation" / file_name("joint_codes")).read_text(encoding="utf-8")
        seconds: dict[str, list[float]] = {"subword-nmt": [], "ours": [], "tokens": [], "syntax": []}
        for _ in range(REPEATS):
            bpe = BPE(io.StringIO(codes))
            bare = timed(seconds["subword-nmt"], lambda bpe=bpe: [bpe.process_line(line) for line in lines])
            segmenter = Segmenter.load(folder / "segmentation", settings, "source")
            ours = timed(seconds["ours"], lambda segmenter=segmenter: segment_lines(segmenter, lines))
            assert "\n".join(bare).encode() == "\n".join(ours).encode()
            timed(seconds["tokens"], lambda: tokens(folder, corpus, settings))
            timed(seconds["syntax"], lambda: syntax(folder))
        for task, times in seconds.items():
            best, median = (len(lines) / t for t in (min(times), statistics.median(times)))
            print(f"{task:12} {median:10.0f} lines or pairs/s (best {best:.0f})", flush=True)
        ratio = statistics.median(seconds["subword-nmt"]) / statistics.median(seconds["ours"])
        print(f"ours / subword-nmt: {ratio:.1f}; the output is equal, byte for byte")


def segment_lines(segmenter: Segmenter, lines: list[str], size: int = ROWS_PER_GROUP) -> list[str]:
    """Return lines of subwords for lines of words, as subword-nmt does."""
    segmented = []
    for start in range(0, len(lines), size):
        subwords = segmenter.segment_batch(pc.split_pattern(pa.array(lines[start : start + size]), " "))
        pieces = pa.array(subwords.pieces).take(pa.array(subwords.piece_of_subword_J))
        offsets = pa.array(np.concatenate([[0], np.cumsum(subwords.subwords_B)]), pa.int32())
        segmented += pc.binary_join(pa.ListArray.from_arrays(offsets, pieces), " ").to_pylist()
    return segmented


def timed(seconds: list[float], function: Callable) -> object:
    """Call a function, add its time to `seconds`, and return its result."""
    start = time.perf_counter()
    result = function()
    seconds.append(time.perf_counter() - start)
    return result


def tokens(folder: Path, corpus: Path, settings: SegmentationSettings) -> None:
    """Extract the subwords of one side."""
    extract_subwords(
        words=corpus,
        column="source_words",
        segmentation=folder / "segmentation",
        settings=settings,
        side="source",
        output=folder / "tokens.parquet",
    )


def syntax(folder: Path) -> None:
    """Extract all features of one side."""
    extract_syntax(
        annotation=folder / "annotation.parquet",
        labels=folder / "labels.json",
        tokens=folder / "tokens.parquet",
        output=folder / "syntax.parquet",
        annotation_names=ANNOTATIONS,
        side="source",
    )


def synthetic(pairs: int) -> None:
    """Measure the extraction on many sentences of 5 to 34 words with a Zipfian distribution."""
    random = np.random.default_rng(1)
    vocabulary = pa.array(["".join(random.choice(list("abcdefghijklmnop"), 2 + i % 9)) for i in range(100_000)])

    def batches() -> Iterator[pa.ListArray]:
        for start in range(0, pairs, ROWS_PER_GROUP):
            lengths = random.integers(5, 35, min(ROWS_PER_GROUP, pairs - start))
            ranks = (len(vocabulary) ** random.random(lengths.sum())).astype(np.int32) - 1
            offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
            yield pa.ListArray.from_arrays(offsets, vocabulary.take(pa.array(ranks)))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = SegmentationSettings.parse("bpe_joint_2000")
        with measured("make files, count labels"):
            corpus = write_files(folder, batches())
        with measured("learn segmentation"):
            learn_segmentation(corpus, settings, folder / "segmentation")
        with measured("extract tokens"):
            tokens(folder, corpus, settings)
        with measured("extract syntax"):
            syntax(folder)
        assert row_count(folder / "syntax.parquet") == pairs
        for file in sorted(folder.glob("*.parquet")):
            print(f"{file.name:32} {file.stat().st_size / pairs:8.1f} bytes per pair")


def main() -> None:
    """Run the benchmark that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("multi30k").add_argument("folder", type=Path)
    commands.add_parser("synthetic").add_argument("--pairs", type=int, default=2_000_000)
    arguments = parser.parse_args()
    if arguments.command == "multi30k":
        multi30k(arguments.folder)
    else:
        synthetic(arguments.pairs)


if __name__ == "__main__":
    main()
