"""Parsing of source sentences with the heads that a model was trained to parse with."""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from nmtcore.errors import DivergedError
from nmtcore.features.examples import Examples
from nmtcore.inference.parse_files import PARSE_METHODS, Parse, ParseMethod
from nmtcore.inference.sentence_batches import batches_by_length, device_of, map_batches, sentences_at_once
from nmtcore.model.base import Encoded, TranslationModel
from nmtcore.model.batch import make_batch
from nmtcore.syntax.spanning_tree import maximum_spanning_tree
from nmtcore.syntax.trees import heads_of

Parser = Callable[[Examples, Sequence[ParseMethod]], list[Parse]]
"""Parses every example, in order, by at least the given methods."""


def parse_of(scores: np.ndarray, *, to_root: bool, methods: Collection[ParseMethod] = PARSE_METHODS) -> Parse:
    """Decode scores into heads: (W, 1 + W) with the root in column 0 if `to_root`, else (W, W).

    The argmax is always computed, the trees only if they are among `methods`. Raises `DivergedError` for NaN and +inf,
    the scores of a model that diverged.
    """
    if np.isnan(scores).any() or np.isposinf(scores).any():
        raise DivergedError(
            "The model cannot be used, since its scores of heads are not finite: training diverged. Lower "
            "training.schedule.peak, raise training.schedule.warmup or set training.clip_norm, and train it again."
        )
    if not len(scores):
        no_heads = np.zeros(0, dtype=np.int64)
        return Parse(argmax=no_heads, one_root=no_heads, many_roots=no_heads) if to_root else Parse(argmax=no_heads)
    if not to_root:
        return Parse(argmax=heads_of(scores.argmax(axis=1)))
    return Parse(
        argmax=scores.argmax(axis=1),
        one_root=maximum_spanning_tree(scores, single_root=True) if "one_root" in methods else None,
        many_roots=maximum_spanning_tree(scores, single_root=False) if "many_roots" in methods else None,
    )


def parses_of(
    model: TranslationModel, encoded: Encoded, methods: Collection[ParseMethod] = PARSE_METHODS
) -> list[Parse]:
    """Parse every sentence of an encoded batch."""
    return [parse_of(scores, to_root=model.parses_to_root, methods=methods) for scores in model.parse_scores(encoded)]


def parse_examples(
    model: TranslationModel,
    examples: Examples,
    *,
    methods: Collection[ParseMethod] = PARSE_METHODS,
    batch_sentences: int | None = None,
) -> list[Parse]:
    """Parse the source sentences, in order. Raises `ValueError` if the model does not parse."""
    components, device = tuple(model.components), device_of(model)
    batches = batches_by_length(examples.source.ids.lengths, sentences=sentences_at_once(batch_sentences, device))

    def parse_batch(rows: np.ndarray) -> list[Parse]:
        return parses_of(model, model.encode(make_batch(examples, rows, components, device)), methods)

    parses: list = [None] * len(examples)
    for rows, batch_parses in zip(batches, map_batches(model, batches, parse_batch), strict=True):
        for row, parse in zip(rows.tolist(), batch_parses, strict=True):
            parses[row] = parse
    return parses
