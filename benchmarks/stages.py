"""The stages whose growth `scaling.py` measures, and their inputs.

Each function makes or reads the files of a folder; `inputs` are made once for all stages of a size.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from corpus import FILTERS, dataset
from features import ANNOTATIONS, syntax, tokens, write_files

from nmtcore.config.annotators import AnnotatorSettings, ExistingSettings, UdPipeSettings
from nmtcore.config.corpora import CorpusSettings, FileSettings, MirrorSettings, PartSettings
from nmtcore.config.datasets import DatasetSettings, EvaluationSettings, SelectionSettings
from nmtcore.config.filters import FilterSettings, LangDetectSettings
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.stages import FilteringSettings, ReadingSettings
from nmtcore.corpus.filters import filter_split
from nmtcore.corpus.pairs import RAW_SCHEMA
from nmtcore.corpus.read import read_split
from nmtcore.files import read_lines, write_json, write_lines
from nmtcore.parquet import ROWS_PER_GROUP, read_batches, row_writer
from nmtcore.segmentation.learn import learn_segmentation
from nmtcore.segmentation.segmenter import Segmenter

ROOT = Path(__file__).resolve().parents[1]
SEGMENTATION = SegmentationSettings.parse("bpe_joint_6000")
LEARNED_FROM = 30_000
"""Pairs from which the merges are learned that cut words into subwords, for all sizes."""
EXPONENT, SHIFT = 1.6, 30.0
"""Zipf-Mandelbrot law of the words: the word of rank r has the frequency (r + `SHIFT`) ** -`EXPONENT`."""
SYLLABLES = pa.array(["", *(consonant + vowel for consonant in "bcdfghjklmnpqrstvwxz" for vowel in "aeiou")])
DEMO_PAIRS = 2_000
UPDATES = 30
SCORED = 3e5
"""Sentences that are scored and compared: a million would take 19 and 23 GB."""
SYSTEMS = ("transformer_base", "transformer_relative", "depparse_l0", "depparse_l1", "diagonalparse_l0",
           "diagonalparse_l1", "pascal", "sennrich_haddow", "sisa", "nmt")  # fmt: skip


class Stage(NamedTuple):
    """A stage of the workflow."""

    title: str
    group: str
    """The panel of the figure."""
    most: float
    """The largest size."""
    inputs: Callable[[Path, int], None]
    """Make the inputs in a folder, if they are missing."""
    work: Callable[[Path, int], None]
    """What is measured."""
    unit: str
    least: int
    """The size from which start-up is taken."""
    first: int
    """The size after that."""
    factors: tuple[int, ...]
    """The sizes are these, times powers of ten."""


STAGES: dict[str, Stage] = {}


def stage(
    title: str,
    group: str,
    inputs: Callable[[Path, int], None],
    *,
    most: float = 1e6,
    unit: str = "pairs",
    least: int = 100,
    first: int = 10_000,
    factors: tuple[int, ...] = (1, 3),
) -> Callable:
    """Declare a function as the work of a stage, which has the function's name on the command line."""

    def declare(work: Callable[[Path, int], None]) -> Callable[[Path, int], None]:
        STAGES[work.__name__] = Stage(title, group, most, inputs, work, unit, least, first, factors)
        return work

    return declare


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


def text(folder: Path, size: int) -> None:
    """Write the same text as both sides of a corpus, on a mirror and as if downloaded."""
    if (folder / "downloads/target").exists():
        return
    for name in ("mirror", "downloads"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    with (folder / "mirror/source").open("w", encoding="utf-8") as file:
        for batch in sentences(size):
            file.writelines(f"{line}.\n" for line in pc.binary_join(batch, " ").to_pylist())
    for side in ("source", "target"):
        (folder / "downloads" / side).hardlink_to(folder / "mirror/source")


def raw(folder: Path, size: int) -> None:
    """Read the training split, and a tenth of it as the development set."""
    text(folder, size)
    if not (folder / "raw/dev.parquet").exists():
        for split in ("train", "dev"):
            read(folder, size, words="spaces", split=split)


def corpus(folder: Path, size: int) -> None:
    """Write filtered pairs and a random annotation of them."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "train.parquet").exists():
        write_files(folder, sentences(size))


def demo(folder: Path, size: int) -> None:
    """Write the demo corpus, repeated until there are enough pairs, as raw pairs with trees."""
    if (folder / "demo.parquet").exists():
        return
    settings = ReadingSettings(
        languages={"source": "en", "target": "de"},
        treebank=False,
        parts=(PartSettings(corpus="demo"),),
        corpora={"demo": CorpusSettings(format="demo", options={"split": "train", "count": DEMO_PAIRS})},
        words=dataset_settings(folder, 1).words,
    )
    part = folder / "demo.part"
    read_split(
        settings, dataset="demo", split="train", downloads=folder, output=part, report=folder / "demo.json", processes=1
    )
    batches = list(read_batches(part))
    with row_writer(folder / "demo.parquet", RAW_SCHEMA) as writer:
        for start in range(0, size, DEMO_PAIRS):
            rows = pa.Table.from_batches(batches).slice(0, size - start)
            writer.write_batch(rows.set_column(0, RAW_SCHEMA.field(0), pa.array(np.arange(start, start + len(rows)))))


def segmented(folder: Path, size: int) -> None:
    """Write filtered pairs, and learn the merges that all sizes share."""
    corpus(folder, size)
    shared = folder.parent / "segmentation"
    if not shared.exists():
        corpus(folder.parent / "merges", LEARNED_FROM)
        learn_segmentation(folder.parent / "merges/train.parquet", SEGMENTATION, shared)
    if not (folder / "segmentation").exists():
        (folder / "segmentation").symlink_to(shared)


def with_tokens(folder: Path, size: int) -> None:
    """Extract the subwords of one side."""
    segmented(folder, size)
    if not (folder / "tokens.parquet").exists():
        tokens(folder, folder / "train.parquet", SEGMENTATION)


def features(folder: Path, size: int) -> None:
    """Write features of tokens, and a job of training on them."""
    if (folder / "job.json").exists():
        return
    from mapped import write_features, write_job

    for split, pairs in (("train", size), ("dev", 500)):
        (folder / "features").mkdir(parents=True, exist_ok=True)
        write_features(folder / "features", split, pairs, trees=False)
    path = write_job(folder, trees=False, mapped=True)
    job = json.loads(path.read_text())
    job["run"]["training"] |= {"max_updates": UPDATES, "max_epochs": None, "checkpoint_every": UPDATES}
    job["run"]["training"]["validation"] |= {"every": UPDATES}
    write_json(path, job | {"map_features_from": 1})


def mapped_features(folder: Path, size: int) -> None:
    """Write features and copy their columns."""
    features(folder, size)
    if not (folder / "features/mapped").exists():
        copy_columns(folder, size)


def translations(folder: Path, size: int) -> None:
    """Write references, and two translations of them that have words dropped and replaced."""
    import random

    from significance import damaged

    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "system1").exists():
        return
    lines = [line for batch in sentences(size) for line in pc.binary_join(batch, " ").to_pylist()]
    words = sorted({word for line in lines[:1000] for word in line.split()})
    write_lines(folder / "references", lines)
    for system in range(2):
        write_lines(folder / f"system{system}", damaged(lines, words, random.Random(system)))


def nothing(folder: Path, size: int) -> None:
    """Make an empty folder."""
    del size
    folder.mkdir(parents=True, exist_ok=True)


def dataset_settings(folder: Path, size: int, words: str = "spaces") -> DatasetSettings:
    """Return the settings of the data set."""
    settings = dataset(folder, "source", "target", "bpe_joint_6000", words)
    return replace(settings, splits={**settings.splits, "dev": (PartSettings(corpus="c", last=max(1, size // 10)),)})


@stage("download, from a mirror on the disk", "corpus", text)
def download(folder: Path, size: int) -> None:
    """Copy a file and compute its checksums."""
    del size
    from nmtcore.corpus.download import download as fetch

    settings = FileSettings(name="source", mirrors=(MirrorSettings(path="source"),))
    fetch(settings, target=folder / "fetched/source", mirror_roots=[str(folder / "mirror")], manual_folder=folder)


@stage("read, words split at spaces", "corpus", text)
def read(folder: Path, size: int, words: str = "spaces", split: str = "train") -> None:
    """Read a split in two processes."""
    output = folder / f"raw/{split}.parquet"
    read_split(
        ReadingSettings.of(dataset_settings(folder, size, words), split),
        dataset="scaling",
        split=split,
        downloads=folder / "downloads",
        output=output,
        report=output.with_suffix(".json"),
        processes=2,
    )


@stage("read, Moses tokenisation", "corpus", text)
def tokenise(folder: Path, size: int) -> None:
    """Read the training split, and tokenise it."""
    read(folder, size, words="moses", split="train")


@stage("filter: empty, length, ratio, duplicates, held out", "corpus", raw)
def filters(folder: Path, size: int) -> None:
    """Filter the training split."""
    run_filters(folder, FILTERS, folder / "raw/train.parquet", {"dev": folder / "raw/dev.parquet"})


@stage("filter: `langdetect`, two processes", "corpus", demo, most=1e5)
def langdetect(folder: Path, size: int) -> None:
    """Filter the demo corpus by language."""
    run_filters(folder, (LangDetectSettings(),), folder / "demo.parquet", {})


def run_filters(folder: Path, chosen: tuple[FilterSettings, ...], pairs: Path, others: dict[str, Path]) -> None:
    """Filter a file of raw pairs."""
    filter_split(
        FilteringSettings(languages={"source": "en", "target": "de"}, filters=chosen),
        dataset="scaling",
        raw=pairs,
        other_raws=others,
        output=folder / "kept/train.parquet",
        report=folder / "kept/train.json",
        processes=2,
    )


@stage("annotate: `existing`", "annotation", demo, most=1e5)
def existing(folder: Path, size: int) -> None:
    """Take over the trees of the demo corpus."""
    annotate(folder, ExistingSettings(), ())


@stage("annotate: UDPipe", "annotation", demo, most=1e5)
def udpipe(folder: Path, size: int) -> None:
    """Parse the German side of the demo corpus."""
    model = Path(os.environ["SCALING_UDPIPE"])
    annotate(folder, UdPipeSettings(model=model.name), (model.parent,))


def annotate(folder: Path, settings: AnnotatorSettings, model_folders: Sequence[Path]) -> None:
    """Annotate the target side in one shard."""
    from nmtcore.annotation.shards import annotate_shard

    annotate_shard(
        settings,
        corpus=folder / "demo.parquet",
        raw=folder / "demo.parquet",
        side="target",
        language="de",
        shard=0,
        shards=1,
        output=folder / "shard.parquet",
        model_folders=model_folders,
    )


@stage("gather shards", "annotation", corpus)
def gather(folder: Path, size: int) -> None:
    """Gather one shard, with statistics of its trees."""
    del size
    from nmtcore.annotation.shards import gather_shards

    shard, output = folder / "annotation.parquet", folder / "gathered.parquet"
    gather_shards([shard], corpus=folder / "train.parquet", output=output, report=folder / "gathered.json")


@stage("count labels", "annotation", corpus)
def labels(folder: Path, size: int) -> None:
    """Collect the vocabularies of labels."""
    del size
    from nmtcore.annotation.labels import label_vocabularies

    label_vocabularies(folder / "annotation.parquet", folder / "labels.json")


@stage("select pairs", "annotation", corpus)
def select(folder: Path, size: int) -> None:
    """Select the pairs whose source has a tree and tags."""
    del size
    from nmtcore.annotation.selection import select_pairs

    names = ANNOTATIONS[:2]
    select_pairs(
        SelectionSettings(parsed={"source": names}),
        corpus=folder / "train.parquet",
        annotations={"source": dict.fromkeys(names, folder / "annotation.parquet")},
        output=folder / "selection.parquet",
        report=folder / "selection.json",
    )


@stage("learn 6,000 merges", "segmentation, features", corpus)
def learn(folder: Path, size: int) -> None:
    """Learn merges from both sides."""
    del size
    learn_segmentation(folder / "train.parquet", SEGMENTATION, folder / "learned")


@stage("apply subwords, one side", "segmentation, features", segmented)
def segment(folder: Path, size: int) -> None:
    """Cut the words of one side into subwords."""
    del size
    segmenter = Segmenter.load(folder / "segmentation", SEGMENTATION, "source")
    for batch in read_batches(folder / "train.parquet", columns=["source_words"]):
        segmenter.segment_batch(batch.column(0))


@stage("extract token features, one side", "segmentation, features", segmented, most=1e7)
def extract_tokens(folder: Path, size: int) -> None:
    """Extract the subwords of one side."""
    del size
    tokens(folder, folder / "train.parquet", SEGMENTATION)


@stage("extract syntax features, one side", "segmentation, features", with_tokens, most=1e7)
def extract_syntax(folder: Path, size: int) -> None:
    """Extract trees, tags and supertags of one side."""
    del size
    syntax(folder)


@stage("load token features", "segmentation, features", features, most=1e7)
def load(folder: Path, size: int) -> None:
    """Load the features of both sides into memory."""
    from nmtcore.features.examples import load_examples

    assert len(load_examples(folder / "features", "train")) == size


@stage("copy token features, to be mapped", "segmentation, features", features, most=1e7)
def copy_columns(folder: Path, size: int) -> None:
    """Copy the columns of both sides into files that can be mapped."""
    shutil.rmtree(folder / "features/mapped", ignore_errors=True)
    map_columns(folder, size)


@stage("map token features", "segmentation, features", mapped_features, most=1e7)
def map_columns(folder: Path, size: int) -> None:
    """Map the features of both sides into memory."""
    from nmtcore.config.runs import run_from_json
    from nmtcore.experiment.load_examples import load_training
    from nmtcore.features.transforms.chain import Transforms

    run = run_from_json(json.loads((folder / "job.json").read_text())["run"], where="the job")
    assert len(load_training(run, Transforms(), folder / "features", "train", map_from=1)) == size


TRAINING = "training, translation, evaluation, planning"


@stage(f"{UPDATES} updates, mapped features, 1 process", TRAINING, mapped_features, least=1000, factors=(1,))
def train_1(folder: Path, size: int) -> None:
    """Train a small model in one process."""
    del size
    train(folder, 1)


@stage(f"{UPDATES} updates, mapped features, 2 processes", TRAINING, mapped_features, least=1000, factors=(1,))
def train_2(folder: Path, size: int) -> None:
    """Train a small model in two processes, which divide each batch."""
    del size
    train(folder, 2)


def train(folder: Path, processes: int) -> None:
    """Train from the beginning in processes of one thread each."""
    from nmtcore.experiment.launch import train_distributed
    from nmtcore.experiment.training import TrainingJob

    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    job = TrainingJob(**json.loads((folder / "job.json").read_text()))
    train_distributed(replace(job, gpus=processes, threads=processes))


@stage("translate, beam 4, a tiny model", TRAINING, nothing, most=1e4, unit="sentences", least=10, first=300)
def translate(folder: Path, size: int) -> None:
    """Translate random sentences of 5 to 25 subwords with a random model, on one thread."""
    del folder
    import torch
    from random_models import random_model

    from nmtcore.config.bases import TransformerSettings
    from nmtcore.config.training import DecodingSettings
    from nmtcore.features.examples import Examples, SideExamples
    from nmtcore.features.ragged import Ragged
    from nmtcore.inference.search import translate_examples

    torch.set_num_threads(1)
    settings = TransformerSettings(width=32, feed_forward=64, heads=2, encoder_layers=2, decoder_layers=1)
    model, random = (
        random_model("transformer_base", {"transformer": settings}, vocabulary=1000),
        np.random.default_rng(1),
    )
    lengths = random.integers(5, 26, size)
    ids = Ragged.from_lengths(random.integers(5, 1000, lengths.sum(), dtype=np.int32), lengths)
    words = Ragged.from_lengths(np.concatenate([np.arange(n, dtype=np.int32) for n in lengths]), lengths)
    examples = Examples(id=np.arange(size), source=SideExamples(ids=ids, word_of_subword=words))
    search = DecodingSettings(beam=4, max_length_ratio=1.0, max_length_extra=0)
    assert len(translate_examples(model, examples, search)) == size


@stage("BLEU and chrF", TRAINING, translations, most=SCORED, unit="sentences")
def score(folder: Path, size: int) -> None:
    """Score translations."""
    del size
    from nmtcore.evaluation.metrics import score_translations

    score_translations(read_lines(folder / "system0"), read_lines(folder / "references"), EvaluationSettings())


@stage("significance: bootstrap and randomisation of BLEU", TRAINING, translations, most=SCORED, unit="sentences")
def significance(folder: Path, size: int) -> None:
    """Compare two systems with one seed each."""
    del size
    from nmtcore.evaluation.compare import bootstrap_weights, compare_systems, paired_tests, randomisation_swaps
    from nmtcore.evaluation.metrics import METRICS

    references = read_lines(folder / "references")
    systems = {
        name: [METRICS["bleu"].count(read_lines(folder / name), references, EvaluationSettings())]
        for name in ("system0", "system1")
    }
    compare_systems(systems, {"system1": "system0"})
    draws = bootstrap_weights(len(references)), randomisation_swaps(len(references))
    paired_tests(systems["system1"][0], systems["system0"][0], *draws)


@stage("plan runs (`snakemake -n`)", TRAINING, nothing, most=3000, unit="runs", least=1, first=10)
def plan(folder: Path, size: int) -> None:
    """Plan a table of systems in a dry run."""
    systems, seeds = list(SYSTEMS[:size]), list(range(1, 1 + max(1, size // len(SYSTEMS))))
    command = [Path(sys.executable).parent / "snakemake", "-n", "--quiet", "-s", ROOT / "Snakefile", "-d", folder]
    values = {"systems": systems, "datasets": ["demo_en2de"], "seeds": seeds}
    options = [f"{key}={json.dumps(value)}" for key, value in values.items()]
    command += ["results/tables/systems.md", "--config", *options]
    subprocess.run(command, check=True, capture_output=True)
