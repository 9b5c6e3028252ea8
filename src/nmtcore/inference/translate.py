"""Translation of examples in batches of similar length, with results in the examples' order."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from nmtcore.config.training import DecodingSettings
from nmtcore.features.examples import Examples
from nmtcore.inference.beam import beam_search
from nmtcore.inference.hypotheses import Hypothesis, length_limits
from nmtcore.inference.parse import parses_of
from nmtcore.inference.parse_files import Parse
from nmtcore.inference.sentence_batches import batches_by_length, device_of, map_batches, sentences_at_once
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import make_batch


class Outputs(NamedTuple):
    """The model's outputs for sentences, in order."""

    translations: list[list[Hypothesis]]
    """The best hypotheses of each sentence, best first."""
    parses: list[Parse] | None
    """None if no parses were requested."""


def translate_examples(
    model: TranslationModel,
    examples: Examples,
    settings: DecodingSettings,
    *,
    n_best: int = 1,
    scores: bool = True,
) -> list[list[Hypothesis]]:
    """Return the `n_best` best translations of every source sentence, in order, best first; targets are ignored.

    See `beam_search` for `scores`.
    """
    return _run_model(model, examples, settings, n_best=n_best, scores=scores, parse=False).translations


def translate_and_parse(model: TranslationModel, examples: Examples, settings: DecodingSettings) -> Outputs:
    """Translate sentences, without scores, and parse them if the model can, with one pass of the encoder."""
    return _run_model(model, examples, settings, n_best=1, scores=False, parse=model.parses)


def _run_model(
    model: TranslationModel, examples: Examples, settings: DecodingSettings, *, n_best: int, scores: bool, parse: bool
) -> Outputs:
    sources, components, device = replace(examples, target=None), tuple(model.components), device_of(model)
    sentences = sentences_at_once(settings.batch_sentences, device)
    batches = batches_by_length(examples.source.ids.lengths, sentences=sentences)
    limits = torch.tensor(length_limits(settings, examples.source.subword_counts.tolist()))

    def run_batch(rows: np.ndarray) -> Outputs:
        encoded = model.encode(make_batch(sources, rows, components, device))
        limits_B = limits[rows].to(device)
        translations = beam_search(model, encoded, settings, limits_B=limits_B, n_best=n_best, scores=scores)
        return Outputs(translations, parses_of(model, encoded) if parse else None)

    translations: list = [None] * len(examples)
    parses: list = [None] * len(examples)
    for rows, outputs in zip(batches, map_batches(model, batches, run_batch), strict=True):
        for i, row in enumerate(rows.tolist()):
            translations[row] = outputs.translations[i]
            if outputs.parses is not None:
                parses[row] = outputs.parses[i]
    return Outputs(translations, parses if parse else None)
