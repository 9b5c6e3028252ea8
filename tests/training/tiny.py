"""A run so small that it trains in a second: a reversal task with trees, and the settings for it."""

import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import factories
import numpy as np
import torch
from factories import examples_of, run_settings, side

from nmtcore.config.components.parser_head import DepParseSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings, TreebankSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.config.typed import build, merge
from nmtcore.features.examples import Examples
from nmtcore.model.transformer import Transformer
from nmtcore.segmentation.vocabulary import SPECIALS
from nmtcore.training.update import seed_update

VOCABULARY = 15

TRAINING = {
    "schedule": {"kind": "inverse_sqrt", "peak": 0.01, "warmup": 20},
    "batch": {"unit": "tokens", "size": 160, "max_length": 20, "pool": 4},
    "validation": {"every": 8, "metric": "perplexity"},
    "max_updates": 24,
    "checkpoint_every": 8,
    "log_every": 3,
}


def settings(*, dropout: float = 0.1, parses: bool = False, seed: int = 1, **training: Any) -> RunSettings:
    """Settings of a run; `training` is laid over `TRAINING`."""
    return run_settings(
        *([DepParseSettings(layer=0)] if parses else []),
        system="depparse" if parses else "plain",
        seed=seed,
        words={},
        segmentation=SegmentationSettings(kind="words", size=VOCABULARY, joint=True),
        model=TransformerSettings(
            width=32, feed_forward=64, heads=4, encoder_layers=1, decoder_layers=1, dropout=dropout
        ),
        training=build(TrainingSettings, merge(TRAINING, training), where="test"),
        decoding=DecodingSettings(),
    )


def on_treebank(run: RunSettings, **values: Any) -> RunSettings:
    """The run, trained on a treebank; `values` are how (`TreebankSettings`)."""
    treebank = build(TreebankSettings, values, where="test")
    return replace(run, treebank=treebank, treebanks=("treebank_tiny",), gold_annotator="existing")


def treebank(n: int = 60, *, seed: int = 5, longest: int = 8, unparsed: float = 0.0) -> Examples:
    """Random sentences with trees and nothing on the other side."""
    return replace(examples(n, seed=seed, longest=longest, unparsed=unparsed), target=None)


def model_of(run: RunSettings) -> Transformer:
    """Build the run's model, the same every time."""
    return factories.build_tiny_model(run, vocabulary=VOCABULARY)


def examples(n: int, *, seed: int = 0, longest: int = 8, unparsed: float = 0.0) -> Examples:
    """Random sentences with their reversal; each word hangs from the one before it, a share has no tree."""
    generator = np.random.default_rng(seed)
    lists = [generator.integers(len(SPECIALS), VOCABULARY, k).tolist() for k in generator.integers(1, longest + 1, n)]
    none = generator.random(n) < unparsed
    governors = [[-2] * len(w) if no else list(range(-1, len(w) - 1)) for w, no in zip(lists, none, strict=True)]
    return examples_of(side(lists, features={"governor": governors}), side([words[::-1] for words in lists]))


def run_out_of_memory(*_: object) -> NoReturn:
    """Be a GPU without memory."""
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def tell_seed(*of: int) -> None:
    """Set the random state of an update, and print what it is made of."""
    print("seeded with", *of)
    seed_update(*of)


def train_in_process(folder: Path, options: dict[str, Any], environment: dict[str, str]) -> None:
    """Train in a process of its own (to be killed or multiplied), and save the final weights.

    `options`: the `settings`; `treebank`, how to train on one; `float64`; `pause`, in seconds before every forward
    pass; `fails`, the rank whose GPU's memory is full at its first; `tells_seeds`, to print what each update's random
    state is made of; `strange`, the rank whose model begins with other weights.
    """
    from safetensors.torch import save_file

    from nmtcore.training import loop
    from nmtcore.training.checkpoints import named_weights
    from nmtcore.training.train import train

    os.environ |= environment
    output = os.open(folder / f"output.{os.getpid()}", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(output, stream)
    torch.set_num_threads(1)
    run = settings(**options.get("settings", {}))
    trees = None
    if "treebank" in options:
        run, trees = on_treebank(run, **options["treebank"]), treebank()
    model = model_of(run)
    if options.get("float64"):
        model.double()
    if pause := options.get("pause"):  # Slow enough to be caught in the middle.
        model.register_forward_pre_hook(lambda *_: time.sleep(pause))
    if options.get("strange") == int(os.environ.get("RANK", "0")):
        model.apply(lambda module: [parameter.data.zero_() for parameter in module.parameters(recurse=False)])
    if options.get("tells_seeds"):
        loop.seed_update = tell_seed
    if options.get("fails") == int(os.environ.get("RANK", "0")):
        model.register_forward_pre_hook(run_out_of_memory)
    data = examples(120, unparsed=0.3), examples(20, seed=1)
    if trees is not None and not run.treebank.pairs:
        data = None, data[1]
    log = partial(print, flush=True)
    train(run, model, *data, treebank=trees, folder=folder, checkpoints=folder / "checkpoints", log=log)
    if int(os.environ.get("RANK", "0")) == 0:
        save_file(
            {name: tensor.detach().clone() for name, tensor in named_weights(model)}, folder / "final.safetensors"
        )
