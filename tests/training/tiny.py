"""A run so small that it trains in a second: its settings, and examples of a reversal task with trees."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import factories
import numpy as np
import torch
from factories import examples_of, run_settings, side

from nmtcore.config.components import DepParseSettings, HeadSelectionSettings, TagAttentionSettings
from nmtcore.config.corpora import SegmentationSettings
from nmtcore.config.files import merge
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import (
    DecodingSettings,
    RecurrentSettings,
    TrainingSettings,
    TransformerSettings,
    TreebankSettings,
)
from nmtcore.config.typed import build
from nmtcore.features.examples import Examples
from nmtcore.model.base import TranslationModel
from nmtcore.model.losses import Losses
from nmtcore.segmentation.vocabulary import SPECIALS

VOCABULARY = 15
LABELS = {"target": {"ccg": ["<none>", "<unk>", "N", "V", "P"]}}

TRAINING = {
    "schedule": {"kind": "inverse_sqrt", "peak": 0.01, "warmup": 20},
    "batch": {"unit": "tokens", "size": 160, "max_length": 20, "pool": 4},
    "validation": {"every": 8, "metric": "perplexity"},
    "max_updates": 24,
    "checkpoint_every": 8,
    "log_every": 3,
}


def settings(
    *,
    dropout: float = 0.1,
    parses: bool = False,
    recurrent: bool = False,
    tags: Mapping[str, Any] | None = None,
    seed: int = 1,
    **training: Any,
) -> RunSettings:
    """Make the settings of a run; `training` overrides `TRAINING`. A recurrent run has head selection.

    `tags` are settings of tag attention, which the run has if they are not None.
    """
    return run_settings(
        *([TagAttentionSettings(width=8, **tags)] if tags is not None else []),
        *([DepParseSettings(layer=0)] if parses else []),
        *([HeadSelectionSettings()] if recurrent else []),
        system="depparse" if parses else "sa_nmt_shared" if recurrent else "plain",
        seed=seed,
        base="recurrent" if recurrent else "transformer",
        words={},
        segmentation=SegmentationSettings(kind="words", size=VOCABULARY, joint=True),
        model=RecurrentSettings(width=32, dropout=dropout)
        if recurrent
        else TransformerSettings(
            width=32, feed_forward=64, heads=4, encoder_layers=1, decoder_layers=1, dropout=dropout
        ),
        training=build(TrainingSettings, merge(TRAINING, training), where="test"),
        decoding=DecodingSettings(),
    )


def on_treebank(run: RunSettings, **values: Any) -> RunSettings:
    """Add training on a treebank to a run; `values` are its `TreebankSettings`."""
    treebank = build(TreebankSettings, values, where="test")
    return replace(run, treebank=treebank, treebanks=("treebank_tiny",), gold_annotator="existing")


def treebank(n: int = 60, *, seed: int = 5, longest: int = 8, unparsed: float = 0.0) -> Examples:
    """Make random sentences with trees and without targets."""
    return replace(examples(n, seed=seed, longest=longest, unparsed=unparsed), target=None)


def model_of(run: RunSettings) -> TranslationModel:
    """Build the run's model with the same weights every time."""
    return factories.build_tiny_model(run, vocabulary=VOCABULARY, labels=LABELS)


def examples(n: int, *, seed: int = 0, longest: int = 8, unparsed: float = 0.0) -> Examples:
    """Make random sentences with their reversals; each word's governor is the word before it.

    The tag of a target word depends on the word alone. A share `unparsed` of the sentences has no tree and no tags.
    """
    generator = np.random.default_rng(seed)
    words = [generator.integers(len(SPECIALS), VOCABULARY, k).tolist() for k in generator.integers(1, longest + 1, n)]
    no_tree = generator.random(n) < unparsed
    governors = [[-2] * len(w) if no else list(range(-1, len(w) - 1)) for w, no in zip(words, no_tree, strict=True)]
    tags = [[0 if no else 2 + word % 3 for word in w[::-1]] for w, no in zip(words, no_tree, strict=True)]
    targets = side([w[::-1] for w in words], features={"ccg": tags})
    return examples_of(side(words, features={"governor": governors}), targets)


def around_loss(
    model: TranslationModel,
    *,
    before: Callable[[], object] = lambda: None,
    after: Callable[[Losses], object] = lambda losses: None,
) -> None:
    """Do something before and after each time that the model computes losses."""
    compute = model.loss

    def loss(*arguments: Any, **options: Any) -> Losses:
        before()
        losses = compute(*arguments, **options)
        after(losses)
        return losses

    model.loss = loss


def run_out_of_memory(*_: object) -> NoReturn:
    """Raise the error of a GPU whose memory is full."""
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def train_in_process(folder: Path, options: dict[str, Any], environment: dict[str, str]) -> None:
    """Train in this process with the given environment variables, and save the final weights.

    `options`: "settings" of the run; "float64"; "pause", seconds before every forward pass; "failing_rank", whose GPU's
    memory is full at the first forward pass.
    """
    from safetensors.torch import save_file

    from nmtcore.training.checkpoints import named_weights
    from nmtcore.training.trainer import train

    os.environ |= environment
    output = os.open(folder / f"output.{os.getpid()}", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(output, stream)
    torch.set_num_threads(1)
    run = settings(**options.get("settings", {}))
    model = model_of(run)
    if options.get("float64"):
        model.double()
    if pause := options.get("pause"):
        around_loss(model, before=lambda: time.sleep(pause))
    rank = int(os.environ.get("RANK", "0"))
    if options.get("failing_rank") == rank:
        around_loss(model, before=run_out_of_memory)
    data = examples(120, unparsed=0.3), examples(20, seed=1)
    log = partial(print, flush=True)
    train(run, model, *data, log_folder=folder, checkpoint_folder=folder / "checkpoints", log=log)
    if rank == 0:
        save_file({name: tensor.clone() for name, tensor in named_weights(model)}, folder / "final.safetensors")
