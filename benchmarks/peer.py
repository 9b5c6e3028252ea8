"""Compare training and decoding with JoeyNMT 2.3.0: the same sizes, data and batches, side by side on one machine.

    python benchmarks/peer.py --joeynmt JOEY_ENV/bin/python --config JOEY_YAML_IN --minutes 10

Needs the features of multi30k_cs2en (`snakemake data --config 'datasets=["multi30k_cs2en"]'`) and an environment with
JoeyNMT (`pip install torch==2.13.0 joeynmt importlib_metadata`). `--config` is a JoeyNMT configuration with `@DIR@`
for the folder of its data. Both train for the given time, side by side, on one core each; then each translates the
test set by itself, on all cores.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.features.examples import Examples, SideExamples, load_examples
from nmtcore.features.ragged import Ragged
from nmtcore.layout import Layout, file_name
from nmtcore.parquet import read_rows
from nmtcore.segmentation.vocabulary import SPECIALS, UNK, Vocabulary

ROOT = Path(__file__).resolve().parent.parent
DATASET, SEGMENTATION = "multi30k_cs2en", "bpe_joint_6000"
NAMES = {"train": "train", "dev": "val", "test": "test_2016_flickr"}
"""JoeyNMT's names of the splits."""
LANGUAGES = {"source": "cs", "target": "en"}


def main() -> None:
    options = parse()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.part:
        {"train": train_ours, "decode": decode_ours}[options.part](options)
        return
    export(options)
    print(f"training side by side, one core each, {options.minutes} minutes", flush=True)
    run_both(options)
    report(options)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joeynmt", type=Path, help="the Python of JoeyNMT's environment")
    parser.add_argument("--config", type=Path, help="JoeyNMT's configuration, with @DIR@")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--folder", type=Path, default=Path("results/benchmarks/peer"))
    parser.add_argument("--part", choices=["train", "decode"], help=argparse.SUPPRESS)
    return parser.parse_args()


def data_path(options: argparse.Namespace, file_type: str, **names: str) -> Path:
    """Return a path of the data set, below the option `--results`."""
    layout = Layout(results=str(options.results))
    return Path(layout.path(file_type, dataset=DATASET, **names))


def export(options: argparse.Namespace) -> None:
    """Write the subwords and the merges as text, so that JoeyNMT reads the same data."""
    segmentation = data_path(options, "segmentation", segmentation=SEGMENTATION)
    for split, name in NAMES.items():
        for side, language in LANGUAGES.items():
            vocabulary = Vocabulary.load(segmentation / file_name("vocabulary", side=side))
            tokens = data_path(options, "tokens", segmentation=SEGMENTATION, split=split, side=side)
            rows = read_rows(tokens, columns=["ids"])
            text = "".join(" ".join(vocabulary.tokens(row["ids"])) + "\n" for row in rows)
            (options.folder / f"{name}.bpe.{language}").write_text(text, encoding="utf-8")
    codes = (segmentation / file_name("joint_codes")).read_text(encoding="utf-8")
    (options.folder / "codes").write_text(codes, encoding="utf-8")


def run_both(options: argparse.Namespace) -> None:
    """Train both for the same time, on one core each; then run the decoding of each by itself."""
    text = options.config.read_text(encoding="utf-8").replace("@DIR@", str(options.folder.resolve()))
    text = re.sub(r"validation_freq: \d+", "validation_freq: 300", re.sub(r"updates: \d+", "updates: 1000000", text))
    config = options.folder / "joey.yaml"
    config.write_text(text, encoding="utf-8")
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    joey = start([options.joeynmt, "-m", "joeynmt", "train", config], 0, one_thread, options.folder / "joey.log")
    ours = start(own_command(options, "train"), 1, one_thread, options.folder / "ours.log")
    time.sleep(options.minutes * 60)
    for process in (joey, ours):
        process.terminate()
        process.wait()
    with open(options.folder / "joey_test.log", "w") as log:
        command = [options.joeynmt, "-m", "joeynmt", "test", config]
        subprocess.run([str(part) for part in command], stdout=log, stderr=subprocess.STDOUT, check=True)
    subprocess.run([str(part) for part in own_command(options, "decode")], check=True)


def own_command(options: argparse.Namespace, part: str) -> list:
    command = [sys.executable, __file__, "--part", part, "--results", options.results, "--folder", options.folder]
    return [*command, "--minutes", options.minutes]


def start(command: list, core: int, environment: dict, log: Path) -> subprocess.Popen:
    command = ["taskset", "-c", str(core), *map(str, command)]
    return subprocess.Popen(command, env=environment, stdout=open(log, "w"), stderr=subprocess.STDOUT)


def settings() -> RunSettings:
    """Return settings that agree with those of JoeyNMT's configuration."""
    run = Project.load(ROOT / "config").run(DATASET, "transformer_base", "small", 1)
    shape = {"width": 128, "feed_forward": 512, "encoder_layers": 3, "decoder_layers": 3, "heads": 4}
    batch = replace(run.training.batch, size=2048, max_length=100)
    schedule = replace(run.training.schedule, peak=0.002, warmup=800)
    training = replace(run.training, batch=batch, schedule=schedule, label_smoothing=0.1, betas=(0.9, 0.98))
    training = replace(training, max_updates=10**9, clip_norm=None, checkpoint_every=300, keep="last")
    training = replace(training, validation=replace(training.validation, every=300))
    model = replace(run.model, **shape, norm="pre", dropout=0.1, attention_dropout=0.1, activation_dropout=0.1)
    return replace(run, model=model, training=training, segmentation=replace(run.segmentation, joint=False))


def load(options: argparse.Namespace) -> tuple[dict[str, Examples], dict[str, Vocabulary]]:
    """Load the features with one vocabulary per side, as in JoeyNMT: the subwords that occur in training."""
    folder = data_path(options, "features", segmentation=SEGMENTATION)
    segmentation = data_path(options, "segmentation", segmentation=SEGMENTATION)
    joint = Vocabulary.load(segmentation / file_name("vocabulary", side="source"))
    examples = {split: load_examples(folder, split) for split in NAMES}
    vocabularies = {}
    for side in LANGUAGES:
        counts = Counter(getattr(examples["train"], side).ids.values.tolist())
        kept = [number for number, _ in counts.most_common() if number >= len(SPECIALS)]
        new_ids = np.full(len(joint.entries), UNK, dtype=np.int32)
        new_ids[kept] = np.arange(len(SPECIALS), len(SPECIALS) + len(kept))
        vocabularies[side] = Vocabulary((*SPECIALS, *(joint.entries[number] for number in kept)))
        for split, pairs in examples.items():
            old = getattr(pairs, side)
            ids = Ragged(new_ids[old.ids.values], old.ids.offsets)
            new = SideExamples(ids=ids, word_of_subword=old.word_of_subword)
            examples[split] = replace(pairs, **{side: new})
    return examples, vocabularies


def build(run, vocabularies: dict[str, Vocabulary]):
    import torch

    from nmtcore.model.build import build_model

    torch.manual_seed(42)
    return build_model(run, source_size=len(vocabularies["source"]), target_size=len(vocabularies["target"]))


def scorer(examples: Examples, vocabulary: Vocabulary, options: argparse.Namespace, split: str):
    """Return a function that computes BLEU as JoeyNMT's configuration does: 13a on joined Moses tokens."""
    from nmtcore.config.training import EvaluationSettings
    from nmtcore.evaluation.metrics import score_translations

    corpus = data_path(options, "pairs", split=split)
    references = [" ".join(row["target_words"]) for row in read_rows(corpus, columns=["target_words"])]

    def score(translations) -> float:
        texts = [" ".join(vocabulary.tokens(best[0].tokens)).replace("@@ ", "") for best in translations]
        return score_translations(texts, references, EvaluationSettings(text="tokens"))["bleu"]

    return score


def train_ours(options: argparse.Namespace) -> None:
    from nmtcore.inference.search import translate_examples
    from nmtcore.training.trainer import train

    run, (examples, vocabularies) = settings(), load(options)
    score = scorer(examples["dev"], vocabularies["target"], options, "dev")
    greedy = replace(run.decoding, beam=1)
    began = time.monotonic()

    def validate(model) -> dict[str, float]:
        bleu = score(translate_examples(model, examples["dev"], greedy))
        print(f"minute {(time.monotonic() - began) / 60:.2f}: greedy dev BLEU {bleu:.2f}", flush=True)
        return {"bleu": bleu}

    train(
        run,
        build(run, vocabularies),
        examples["train"],
        examples["dev"],
        log_folder=options.folder,
        checkpoint_folder=options.folder / file_name("checkpoints"),
        validate=validate,
    )


def decode_ours(options: argparse.Namespace) -> None:
    from nmtcore.inference.search import translate_examples
    from nmtcore.training.checkpoints import Checkpoints

    run, (examples, vocabularies) = settings(), load(options)
    model = build(run, vocabularies)
    checkpoints = Checkpoints(options.folder / file_name("checkpoints"))
    checkpoints.load_average(model, [checkpoints.newest()])
    score = scorer(examples["test"], vocabularies["target"], options, "test")
    began = time.monotonic()
    translations = translate_examples(model, examples["test"], run.decoding)
    seconds = time.monotonic() - began
    (options.folder / "ours_test.json").write_text(json.dumps({"seconds": seconds, "bleu": score(translations)}))


def report(options: argparse.Namespace) -> None:
    joey, ours = ((options.folder / f"{name}.log").read_text() for name in ("joey", "ours"))
    speeds = [float(speed) for speed in re.findall(r"Tokens per Sec:\s+(\d+)", joey)]
    lines = (options.folder / file_name("checkpoints") / file_name("history")).read_text().splitlines()
    ours_speeds = [entry["tokens_per_second"] for entry in map(json.loads, lines) if "tokens_per_second" in entry]
    joey_dev = re.findall(r"bleu:\s+([\d.]+)", joey)
    ours_dev = re.findall(r"minute ([\d.]+): greedy dev BLEU ([\d.]+)", ours)
    joey_test = (options.folder / "joey_test.log").read_text()
    test = json.loads((options.folder / "ours_test.json").read_text())
    print(f"target tokens/s, median: JoeyNMT {np.median(speeds):.0f}, ours {np.median(ours_speeds):.0f}")
    print(f"greedy dev BLEU after {options.minutes} minutes: JoeyNMT {joey_dev[-1:]}, ours {ours_dev[-1:]}")
    print("JoeyNMT, decoding:", *re.findall(r".*(?:generation|Evaluation).*", joey_test), sep="\n  ")
    print(f"ours, beam 4 over 1,000 sentences: {test['seconds']:.2f} s, BLEU {test['bleu']:.2f}")


if __name__ == "__main__":
    main()
