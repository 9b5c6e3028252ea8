"""Compare decoding with CTranslate2 (`pip install 'nmtcore[export]'`): the same models, batches and core, side by side.

    python benchmarks/ctranslate2.py MODEL --input FILE   a trained model: times, and outputs that are equal
    python benchmarks/ctranslate2.py --random             a random base-size model, 25 steps a sentence: times alone
    python benchmarks/ctranslate2.py --random --width 96 --feed-forward 256 --encoder-layers 6 --decoder-layers 1 \
        --vocabulary 1500 --sentences 512 --steps 20      a random model as narrow as the demo's

Both read and write subwords: greedy search, then beam search without a length penalty, where both stop at the same
step. Rounds alternate between the libraries, after a warm-up. `--precision int8` also times CTranslate2
with matrix products in 8 bits; nmtcore computes in fp32.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
# Python puts this folder first, where `import ctranslate2` would find this file.
sys.path.append(sys.path.pop(0))

import ctranslate2
import numpy as np
import torch
from random_models import random_model, random_sources

from nmtcore.config.training import DecodingSettings, TransformerSettings
from nmtcore.features.examples import Examples
from nmtcore.inference.bundle import Bundle, load_bundle
from nmtcore.inference.export import check_exportable, write_model
from nmtcore.inference.search import length_limits, translate_examples
from nmtcore.inference.text import read_text
from nmtcore.model.transformer import Transformer
from nmtcore.segmentation.vocabulary import SPECIALS

OWN, PEER = "nmtcore", "CTranslate2"
LONGEST = 4096
"""Positions of the converted models."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A model and its sources, for both libraries."""

    model: Transformer
    examples: Examples
    entries: tuple[tuple[str, ...], tuple[str, ...]]
    """The vocabularies of source and target."""
    limits: list[int]
    """The largest number of subwords of each translation."""
    search: DecodingSettings
    steps: int | None = None
    """The number of steps of every sentence; None: as many as it takes."""

    @property
    def sources(self) -> list[list[str]]:
        """The entries of each source, with the components' prefix."""
        ids, own = self.examples.source.ids, self.entries[0]
        prefix = [i for component in self.model.components for i in component.source_prefix]
        rows = np.split(ids.values, ids.offsets[1:-1])
        return [[own[i] for i in (*prefix, *row.tolist())] for row in rows]


def trained_task(bundle: Bundle, lines: list[bytes]) -> Task:
    """Read the sources of a trained model."""
    search = bundle.search_settings(bundle.decoding_settings())
    examples = bundle.reader.read(list(read_text(lines))).examples
    return Task(
        model=bundle.model,
        examples=examples,
        entries=(bundle.vocabularies["source"].entries, bundle.vocabularies["target"].entries),
        limits=length_limits(search, examples.source.subword_counts.tolist()),
        search=search,
    )


def random_task(options: argparse.Namespace) -> Task:
    """Draw a model and sources."""
    torch.manual_seed(1)
    size = {"width": options.width, "feed_forward": options.feed_forward, "heads": options.heads}
    layers = {"encoder_layers": options.encoder_layers, "decoder_layers": options.decoder_layers}
    sizes = {"transformer": TransformerSettings(**size, **layers)}
    model = random_model("transformer_base", sizes, vocabulary=options.vocabulary)
    entries = (*SPECIALS, *(f"entry{i}" for i in range(len(SPECIALS), options.vocabulary)))
    return Task(
        model=model.eval(),
        examples=random_sources(options.sentences, options.vocabulary),
        entries=(entries, entries),
        # At its limit, a sentence takes one more step, which ends it.
        limits=[options.steps - 1] * options.sentences,
        search=DecodingSettings(min_length=options.steps - 1, max_length=options.steps - 1, max_length_ratio=None),
        steps=options.steps,
    )


def own_search(task: Task, beam: int, batch: int) -> Callable[[], list[list[str]]]:
    """Return a function that translates the task's sources with nmtcore."""
    settings = replace(task.search, beam=beam, batch_sentences=batch, length_penalty="none")

    def translate() -> list[list[str]]:
        translations = translate_examples(task.model, task.examples, settings, scores=False)  # as CTranslate2's
        return [[task.entries[1][i] for i in best[0].tokens] for best in translations]

    return translate


def peer_search(task: Task, translator: Any, beam: int, batch: int) -> Callable[[], list[list[str]]]:
    """Return a function that translates the task's sources with CTranslate2, cut at the same lengths."""
    sources = task.sources
    least, most = task.steps or task.search.min_length, task.steps or max(task.limits)
    lengths = {"min_decoding_length": least, "max_decoding_length": most}

    def translate() -> list[list[str]]:
        results = translator.translate_batch(
            sources, max_batch_size=batch, beam_size=beam, length_penalty=0, max_input_length=0, **lengths
        )
        return [result.hypotheses[0][:limit] for result, limit in zip(results, task.limits, strict=True)]

    return translate


def compare(task: Task, folder: Path, options: argparse.Namespace) -> None:
    """Time both libraries with each precision and beam, and print a line for each."""
    check_exportable(task.model, where="The model")
    source_entries, target_entries = task.entries
    write_model(task.model, folder, source_entries=source_entries, target_entries=target_entries, longest=LONGEST)
    precisions = dict.fromkeys(("float32", options.precision))
    peers = {
        precision: ctranslate2.Translator(str(folder), compute_type=precision, intra_threads=1)
        for precision in precisions
    }
    for beam in dict.fromkeys((1, options.beam)):
        searches = {f"{OWN}, float32": own_search(task, beam, options.batch)}
        searches |= {f"{PEER}, {name}": peer_search(task, peers[name], beam, options.batch) for name in precisions}
        seconds, outputs = timed(searches, options.rounds)
        report(task, beam, seconds, outputs, options)


def timed(
    searches: dict[str, Callable[[], list[list[str]]]], rounds: int
) -> tuple[dict[str, list[tuple[float, float]]], dict[str, list[list[str]]]]:
    """Run the searches in turn, after a warm-up; return the CPU and wall seconds of each round, and the outputs."""
    outputs = {name: search() for name, search in searches.items()}
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in searches}
    for _ in range(rounds):
        for name, search in searches.items():
            cpu, wall = time.process_time(), time.perf_counter()
            search()
            seconds[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return seconds, outputs


def report(
    task: Task,
    beam: int,
    seconds: dict[str, list[tuple[float, float]]],
    outputs: dict[str, list[list[str]]],
    options: argparse.Namespace,
) -> None:
    """Print medians, nmtcore's time as a multiple of CTranslate2's in the same round, and numbers of equal outputs."""
    first = next(iter(seconds))
    for name, times in seconds.items():
        cpu, wall = (statistics.median(column) for column in zip(*times, strict=True))
        line = f"beam {beam}, {name}: {cpu:.2f} s of CPU time, {wall:.2f} s"
        library, precision = name.split(", ")
        if library == PEER:
            rounds = list(zip(seconds[first], times, strict=True))
            ratios = [statistics.median(ours[i] / other[i] for ours, other in rounds) for i in range(2)]
            line += f"; {OWN} takes {ratios[0]:.2f} times the CPU time, {ratios[1]:.2f} times the time"
        if name != first:
            equal = sum(a == b for a, b in zip(outputs[first], outputs[name], strict=True))
            line += f"; {equal} of {len(outputs[first])} outputs are equal"
            if task.steps is None and beam == 1 and precision == "float32" and equal < len(outputs[first]):
                sys.exit(f"{line}. Greedy search must give the same outputs.")
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, nargs="?", metavar="MODEL", help="the model/ folder of a run")
    parser.add_argument("--input", type=Path, help="raw text for the trained model, one sentence per line, none empty")
    parser.add_argument("--random", action="store_true", help="time a random model")
    sizes = {"width": 512, "heads": 8, "feed-forward": 2048, "encoder-layers": 6, "decoder-layers": 6}
    for name, default in {**sizes, "vocabulary": 32000, "steps": 25}.items():
        parser.add_argument(f"--{name}", type=int, default=default, help="of the random model [%(default)s]")
    parser.add_argument(
        "--precision", choices=["float32", "int8"], default="float32", help="of CTranslate2, beside float32"
    )
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    if options.random == (options.model is not None) or (options.model is not None and options.input is None):
        parser.error("give MODEL and --input, or --random")
    torch.set_num_threads(1)
    if options.random:
        task = random_task(options)
    else:
        lines = options.input.read_bytes().splitlines()[: options.sentences]
        task = trained_task(load_bundle(options.model), lines)
    with tempfile.TemporaryDirectory() as folder:
        compare(task, Path(folder), options)


if __name__ == "__main__":
    main()
