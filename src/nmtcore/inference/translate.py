"""Translation of examples, in batches of similar length."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch

from nmtcore.config.training import DecodingSettings
from nmtcore.features.examples import Examples
from nmtcore.inference.batches import REDUCE_BATCH, device_of, in_batches, sentences_at_once
from nmtcore.inference.search import Hypothesis, length_limits, search_batch
from nmtcore.model.base import Encoded, TranslationModel
from nmtcore.model.batch import Batch

T = TypeVar("T")


def translate_examples(
    model: TranslationModel, examples: Examples, settings: DecodingSettings, *, n_best: int = 1, scores: bool = True
) -> list[list[Hypothesis]]:
    """Return the `n_best` best translations of every source sentence, in order, best first; targets are ignored.

    See `search_batch` for `scores`.
    """
    outputs = search_examples(
        model, examples, settings, n_best=n_best, scores=scores, also=lambda encoded: [None] * len(encoded.memory_BSD)
    )
    return [hypotheses for hypotheses, _ in outputs]


def search_examples(
    model: TranslationModel,
    examples: Examples,
    settings: DecodingSettings,
    *,
    n_best: int = 1,
    scores: bool = True,
    also: Callable[[Encoded], Sequence[T]],
) -> list[tuple[list[Hypothesis], T]]:
    """Return the translations of every source sentence, and what `also` makes of each sentence of an encoded batch."""
    device = device_of(model)
    limits = torch.tensor(length_limits(settings, examples.source.subword_counts.tolist()))

    def work(batch: Batch, rows_B: np.ndarray) -> list[tuple[list[Hypothesis], T]]:
        encoded, limits_B = model.encode(batch), limits[rows_B].to(device)
        translations = search_batch(model, encoded, settings, limits_B=limits_B, n_best=n_best, scores=scores)
        return list(zip(translations, also(encoded), strict=True))

    sentences = sentences_at_once(settings.batch_sentences, device)
    return in_batches(model, replace(examples, target=None), work, sentences=sentences, advice=REDUCE_BATCH)
