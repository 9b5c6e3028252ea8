"""Parsing of source sentences: with the heads that a model was trained to parse with, or with any attention head."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import torch
from torch import Tensor

from nmtcore.config.claimed_heads import claimed_heads
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import DivergedError, UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.attention import ObservedBatch, observe
from nmtcore.inference.batches import REDUCE_BATCH, device_of, in_batches, sentences_at_once
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.schemas import PARSE_METHODS, Parse, ParseMethod
from nmtcore.inference.search import Hypothesis
from nmtcore.inference.translate import search_examples, translate_examples
from nmtcore.model.base import Encoded, TranslationModel
from nmtcore.model.batch import pool_words, with_root_scores
from nmtcore.model.components.base import Context
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


def _parses_of(
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
    return in_batches(
        model,
        replace(examples, target=None),
        lambda batch, _: _parses_of(model, model.encode(batch), methods),
        sentences=sentences_at_once(batch_sentences, device_of(model)),
        advice=REDUCE_BATCH,
    )


def translate_and_parse(
    model: TranslationModel, examples: Examples, settings: DecodingSettings
) -> tuple[list[list[Hypothesis]], list[Parse] | None]:
    """Translate sentences, without scores, and parse them if the model can, with one pass of the encoder.

    Returns the hypotheses of every sentence, as `translate_examples` does, and its parse; None for all parses if the
    model does not parse.
    """
    if not model.parses:
        return translate_examples(model, examples, settings, scores=False), None
    outputs = search_examples(model, examples, settings, scores=False, also=lambda encoded: _parses_of(model, encoded))
    return [hypotheses for hypotheses, _ in outputs], [parse for _, parse in outputs]


def attention_parser(bundle: Bundle, *, layer: int, head: int) -> Parser:
    """Make a parser of one attention head of the encoder (from 0), with the scores of `_tree_scores`.

    `bundle` comes from `load_observed_bundle`. Raises `UserError` if the encoder has no such head.
    """
    layers, heads = bundle.model.encoder_attention
    if not layers:
        advice = "Use a model of another system, for example sa_nmt_shared, which parses without --attention."
        if bundle.model.parses:
            advice = "Leave --attention out: it parses by itself."
        raise UserError(f"{_no_heads(bundle)} {advice}")
    if not (0 <= layer < layers and 0 <= head < heads):
        raise UserError(
            f"The encoder has no head {layer}.{head}: its layers are 0 to {layers - 1}, "
            f"the heads of each 0 to {heads - 1} (both count from 0)."
        )

    def parse(examples: Examples, methods: Sequence[ParseMethod]) -> list[Parse]:
        def work(observed: ObservedBatch, _: np.ndarray) -> list[Parse]:
            (sentences,) = _tree_scores(observed, layer, [head])
            return [parse_of(scores_WU, to_root=True, methods=methods) for scores_WU in sentences]

        return [own for parses in observe(bundle, examples, work) for own in parses]

    return parse


def parse_with_all_heads(
    bundle: Bundle, examples: Examples, *, method: ParseMethod
) -> dict[tuple[int, int], list[np.ndarray]]:
    """Parse every example with every attention head of the encoder, in one pass of the model per batch.

    Returns the heads of words, as `attention_parser` predicts them, by layer and head. `bundle` comes from
    `load_observed_bundle`. Raises `UserError` if the encoder has no heads.
    """
    layers, heads = bundle.model.encoder_attention
    if not layers:
        raise UserError(_no_heads(bundle))

    def work(observed: ObservedBatch, _: np.ndarray) -> list[list[np.ndarray]]:
        """Return the trees of the sentences of a batch: a list per head, layer by layer."""
        scores = [sentences for layer in range(layers) for sentences in _tree_scores(observed, layer, range(heads))]
        return [
            [getattr(parse_of(scores_WU, to_root=True, methods=[method]), method) for scores_WU in sentences]
            for sentences in scores
        ]

    by_head: dict[tuple[int, int], list[np.ndarray]] = {pair: [] for pair in product(range(layers), range(heads))}
    for trees in observe(bundle, examples, work):
        for own, batch_trees in zip(by_head.values(), trees, strict=True):
            own += batch_trees
    return by_head


def _no_heads(bundle: Bundle) -> str:
    return f"The system {bundle.run.system} is {bundle.run.base}: its encoder has no attention heads."


def _tree_scores(observed: ObservedBatch, layer: int, heads: Sequence[int]) -> list[list[np.ndarray]]:
    """Score the heads of words, and words as roots, by some attention heads of a layer: (W, 1 + W) for each sentence.

    A head with which the model parses (`depparse`, `sisa`, `tree_head`) has the scores that it parses with: if `<ROOT>`
    stands before the source, it is the root. Any other head is read as in tran2018: a word attends to its head, its
    attention to itself is its score as the root, and weights are summed within words.
    """
    parsers = _parsers(observed.bundle)
    names = [f"{layer}.{head}" for head in heads]
    sentences_HWW = _word_scores(observed, observed.maps["encoder", layer][:, list(heads)])
    return [
        parsers[name](observed.encoded.context)
        if name in parsers
        else [with_root_scores(scores_HWW[h]) for scores_HWW in sentences_HWW]
        for h, name in enumerate(names)
    ]


def _parsers(bundle: Bundle) -> dict[str, Callable[[Context], list[np.ndarray]]]:
    """Return the `parse_scores` of components that score words as roots, by the attention head that they claim."""
    components = [component for component in bundle.model.components if component.points_to_root and component.parses]
    parsers = {component.name: component.parse_scores for component in components}
    return {head: parsers[name] for head, name in claimed_heads(bundle.run).items() if name in parsers}


def _word_scores(observed: ObservedBatch, weights_BHSS: Tensor) -> list[np.ndarray]:
    """Sum attention weights within words: (H, W, W) per sentence."""
    counts = (observed.words_BS.max(axis=1) + 1).tolist()
    words_BS = torch.from_numpy(observed.words_BS).to(weights_BHSS.device)
    scores_BHWW = pool_words(weights_BHSS, words_BS, count=max(counts)).cpu().numpy()
    return [scores_HWW[:, :count, :count] for scores_HWW, count in zip(scores_BHWW, counts, strict=True)]
