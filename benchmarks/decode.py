"""Time beam search: sentences and output tokens per second.

    python benchmarks/decode.py                              a random model (d128), 1,000 sentences
    python benchmarks/decode.py --model FOLDER --input FILE  a trained model on raw text, with all preprocessing

A random model does not end its sentences, so hypotheses are cut at 1.3 times the source length: the number of steps
after which the search of a model trained on Multi30k ends.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from random_models import random_model

from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.inference.bundle import to_device
from nmtcore.inference.translate import translate_examples

VOCABULARY = 6000
RANDOM = DecodingSettings(max_length_ratio=1.3, max_length_extra=0)


def random_examples(sentences: int) -> Examples:
    """Draw sentences as long as those of Multi30k with 6,000 merges: 15 subwords on average, 3 to 45."""
    random = np.random.default_rng(1)
    lengths = np.clip(random.gamma(6.0, 2.5, sentences).round().astype(np.int64), 3, 45)
    ids = Ragged.from_lengths(random.integers(5, VOCABULARY, lengths.sum(), dtype=np.int32), lengths)
    words = Ragged.from_lengths(np.concatenate([np.arange(n, dtype=np.int32) for n in lengths]), lengths)
    return Examples(id=np.arange(sentences), source=SideExamples(ids=ids, word_of_subword=words))


SIZES = {
    "transformer": TransformerSettings(width=128, feed_forward=512, heads=4, encoder_layers=3, decoder_layers=3),
    "recurrent": RecurrentSettings(width=128),
}


def time_random(arguments: argparse.Namespace) -> None:
    torch.manual_seed(1)
    model = to_device(random_model(arguments.system, SIZES, vocabulary=VOCABULARY), arguments.device)
    examples = random_examples(arguments.sentences)
    for beam in (1, arguments.beam):
        settings = DecodingSettings(
            beam=beam, batch_sentences=arguments.batch, max_length_ratio=1.3, max_length_extra=0
        )
        translate_examples(model, examples.first(arguments.batch), settings)
        start = time.perf_counter()
        translations = translate_examples(model, examples, settings)
        report(beam, time.perf_counter() - start, len(translations), sum(len(t[0].tokens) + 1 for t in translations))


def time_bundle(arguments: argparse.Namespace) -> None:
    from nmtcore.inference.bundle import load_bundle

    bundle = load_bundle(arguments.model, arguments.device)
    lines = arguments.input.read_bytes().splitlines(keepends=True)[: arguments.sentences]
    for beam in (1, arguments.beam):
        settings = bundle.decoding_settings(beam=beam, batch_sentences=arguments.batch)
        list(bundle.translate(lines[: arguments.batch], settings))
        start = time.perf_counter()
        translations = list(bundle.translate(lines, settings))
        report(beam, time.perf_counter() - start, len(lines), sum(len(line.split()) for line in translations))


def report(beam: int, seconds: float, sentences: int, tokens: int) -> None:
    print(
        f"beam {beam}: {sentences} sentences in {seconds:.2f} s: "
        f"{sentences / seconds:,.0f} sentences/s, {tokens / seconds:,.0f} tokens/s"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--input", type=Path)
    parser.add_argument("--system", default="transformer_base", help="system of the random model [%(default)s]")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    time_bundle(options) if options.model else time_random(options)
