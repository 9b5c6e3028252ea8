"""Translate examples in batches of similar length, the results in the examples' order."""

from dataclasses import replace

import numpy as np
import torch

from nmtcore.config.training import DecodingSettings
from nmtcore.features.examples import Examples
from nmtcore.inference.beam import Hypothesis, beam_search, length_limits
from nmtcore.inference.parse import parses_of
from nmtcore.inference.parse_files import Parse
from nmtcore.inference.sentence_batches import batches_by_length, device_of, map_batches
from nmtcore.model.batch import make_batch
from nmtcore.model.transformer import Transformer


def translate_examples(
    model: Transformer,
    examples: Examples,
    settings: DecodingSettings,
    *,
    n_best: int = 1,
) -> list[list[Hypothesis]]:
    """Give the `n_best` best translations of every source sentence, in order, best first; targets are not looked at."""
    return _run(model, examples, settings, n_best=n_best, parse=False)[0]


def translate_and_parse(
    model: Transformer,
    examples: Examples,
    settings: DecodingSettings,
) -> tuple[list[list[Hypothesis]], list[Parse] | None]:
    """Translate, and parse where the model does (else None), with one pass of the encoder."""
    translations, parses = _run(model, examples, settings, n_best=1, parse=model.parses)
    return translations, parses if model.parses else None


def _run(
    model: Transformer,
    examples: Examples,
    settings: DecodingSettings,
    *,
    n_best: int,
    parse: bool,
) -> tuple[list[list[Hypothesis]], list[Parse]]:
    lengths = examples.source.ids.lengths
    batches = batches_by_length(lengths, sentences=settings.batch_sentences)
    limits = torch.tensor(length_limits(settings, lengths.tolist()))
    sources, components, device = replace(examples, target=None), tuple(model.components), device_of(model)

    def translated(rows: np.ndarray) -> tuple[list[list[Hypothesis]], list]:
        encoded = model.encode(make_batch(sources, rows, components, device))
        found = beam_search(model, encoded, settings, limits_B=limits[rows].to(device), n_best=n_best)
        return found, parses_of(model, encoded) if parse else [None] * len(rows)

    translations: list = [None] * len(examples)
    parses: list = [None] * len(examples)
    for rows, results in zip(batches, map_batches(model, batches, translated), strict=True):
        for row, hypotheses, tree in zip(rows.tolist(), *results, strict=True):
            translations[row], parses[row] = hypotheses, tree
    return translations, parses
