"""Time beam search: sentences and output tokens per second.

    python benchmarks/decode.py [--systems A B...]           random models (d128), 1,000 sentences
    python benchmarks/decode.py --model FOLDER --input FILE  a trained model on raw text, with all preprocessing

A random model does not end its sentences, so hypotheses are cut at 1.3 times the source length: the number of steps
after which the search of a model trained on Multi30k ends.
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import torch
from random_models import random_model
from step import LABELS

from nmtcore.config.bases import RecurrentSettings, TransformerSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.inference.bundle import to_device
from nmtcore.inference.search import translate_examples

VOCABULARY = 6000


def random_examples(sentences: int) -> Examples:
    """Draw sentences as long as those of Multi30k with 6,000 merges: 15 subwords on average, 3 to 45."""
    random = np.random.default_rng(1)
    lengths = np.clip(random.gamma(6.0, 2.5, sentences).round().astype(np.int64), 3, 45)
    ids = Ragged.from_lengths(random.integers(5, VOCABULARY, lengths.sum(), dtype=np.int32), lengths)
    words = Ragged.from_lengths(np.concatenate([np.arange(n, dtype=np.int32) for n in lengths]), lengths)
    return Examples(id=np.arange(sentences), source=SideExamples(ids=ids, word_of_subword=words))


def time_random(arguments: argparse.Namespace) -> None:
    """Time random models of the same size in interleaved rounds, so that a busy machine slows all of them equally."""
    torch.manual_seed(1)
    size = {"heads": arguments.heads, "feed_forward": arguments.feed_forward}
    layers = {"encoder_layers": arguments.layers, "decoder_layers": arguments.layers}
    sizes = {
        "transformer": TransformerSettings(width=arguments.width, **size, **layers),
        "recurrent": RecurrentSettings(width=arguments.width),
    }
    models = {
        name: to_device(
            random_model(name, sizes, vocabulary=arguments.vocabulary, labels=LABELS), arguments.device
        ).eval()
        for name in arguments.systems
    }
    examples = random_examples(arguments.sentences)
    for beam in (1, arguments.beam):
        settings = DecodingSettings(
            beam=beam, batch_sentences=arguments.batch, max_length_ratio=1.3, max_length_extra=0
        )
        seconds = {name: [] for name in models}
        for repeat in range(arguments.rounds + 1):
            for name, model in models.items():
                start = time.process_time() if arguments.cpu else time.perf_counter()
                translations = translate_examples(model, examples, settings)
                elapsed = (time.process_time() if arguments.cpu else time.perf_counter()) - start
                if repeat or not arguments.rounds:
                    seconds[name].append(elapsed)
        tokens = sum(len(t[0].tokens) + 1 for t in translations)
        first = next(iter(seconds.values()))
        for name, values in seconds.items():
            ratio = statistics.median(value / base for value, base in zip(values, first, strict=True))
            report(f"{name}, beam {beam}", statistics.median(values), len(translations), tokens, ratio)


def time_bundle(arguments: argparse.Namespace) -> None:
    from nmtcore.inference.bundle import load_bundle

    bundle = load_bundle(arguments.model, arguments.device)
    lines = arguments.input.read_bytes().splitlines(keepends=True)[: arguments.sentences]
    for beam in (1, arguments.beam):
        settings = bundle.decoding_settings(beam=beam, batch_sentences=arguments.batch)
        list(bundle.translate(lines[: arguments.batch], settings))
        start = time.perf_counter()
        translations = list(bundle.translate(lines, settings))
        tokens = sum(len(line.split()) for line in translations)
        report(f"beam {beam}", time.perf_counter() - start, len(lines), tokens)


def report(name: str, seconds: float, sentences: int, tokens: int, ratio: float = 1.0) -> None:
    """Print a line; `ratio` is that of the times of this system and the first one."""
    print(
        f"{name}: {sentences} sentences in {seconds:.2f} s: {sentences / seconds:,.0f} sentences/s, "
        f"{tokens / seconds:,.0f} tokens/s, {ratio:.3f} of the first system's time",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--input", type=Path)
    parser.add_argument(
        "--systems", nargs="+", default=["transformer_base"], help="systems of the random models [transformer_base]"
    )
    for name, default in [("width", 128), ("layers", 3), ("heads", 4), ("feed-forward", 512), ("vocabulary", 6000)]:
        parser.add_argument(f"--{name}", type=int, default=default, help="of random models [%(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="of random models, after a warm-up [%(default)s]")
    parser.add_argument("--cpu", action="store_true", help="report the CPU time of random models, not the wall time")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    time_bundle(options) if options.model else time_random(options)
