"""Trees read from any attention head of the encoder, also from those that were not trained to parse (tran2018)."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import torch
from torch import Tensor

from nmtcore.config.claimed_heads import claimed_heads
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.attention import ObservedBatch, bounded_batches, observe_batch
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.parse import Parser, parse_of
from nmtcore.inference.parse_files import Parse, ParseMethod
from nmtcore.inference.sentence_batches import USE_CPU, map_batches
from nmtcore.model.batch import pool_words, with_root_scores
from nmtcore.model.components.base import Context

_OTHER_SYSTEMS = "Use a model of another system, for example sa_nmt_shared, which parses without --attention."


def attention_parser(bundle: Bundle, *, layer: int, head: int) -> Parser:
    """Make a parser of one attention head of the encoder (from 0), with the scores of `_tree_scores`.

    `bundle` comes from `load_observed_bundle`. Raises `UserError` if the encoder has no such head.
    """
    layers, heads = bundle.model.encoder_attention
    if not layers:
        advice = "Leave --attention out: it parses by itself." if bundle.model.parses else _OTHER_SYSTEMS
        raise UserError(f"{_no_heads(bundle)} {advice}")
    if not (0 <= layer < layers and 0 <= head < heads):
        raise UserError(
            f"The encoder has no head {layer}.{head}: its layers are 0 to {layers - 1}, "
            f"the heads of each 0 to {heads - 1} (both count from 0)."
        )

    def parse(examples: Examples, methods: Sequence[ParseMethod]) -> list[Parse]:
        def parse_batch(rows: np.ndarray) -> list[Parse]:
            (sentences,) = _tree_scores(bundle, observe_batch(bundle, examples.take(rows)), layer, [head])
            return [parse_of(scores_WU, to_root=True, methods=methods) for scores_WU in sentences]

        batches = list(bounded_batches(examples.source.ids.lengths))
        parses = map_batches(bundle.model, batches, parse_batch, advice=USE_CPU)
        return [parse for batch_parses in parses for parse in batch_parses]

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

    def parse_batch(rows: np.ndarray) -> list[list[np.ndarray]]:
        """Return the trees of the sentences of a batch: a list per head, layer by layer."""
        observed = observe_batch(bundle, examples.take(rows))
        trees: list[list[np.ndarray]] = []
        for layer in range(layers):
            scores = _tree_scores(bundle, observed, layer, range(heads))
            trees += [[_tree(scores_WU, method) for scores_WU in sentences] for sentences in scores]
        return trees

    batches = map_batches(bundle.model, list(bounded_batches(examples.source.ids.lengths)), parse_batch, advice=USE_CPU)
    by_head: dict[tuple[int, int], list[np.ndarray]] = {pair: [] for pair in product(range(layers), range(heads))}
    for trees in batches:
        for own, batch_trees in zip(by_head.values(), trees, strict=True):
            own += batch_trees
    return by_head


def _no_heads(bundle: Bundle) -> str:
    return f"The system {bundle.run.system} is {bundle.run.base}: its encoder has no attention heads."


def _tree_scores(bundle: Bundle, observed: ObservedBatch, layer: int, heads: Sequence[int]) -> list[list[np.ndarray]]:
    """Score the heads of words, and words as roots, by some attention heads of a layer: (W, 1 + W) for each sentence.

    A head with which the model parses (`depparse`, `sisa`, `tree_head`) has the scores that it parses with: if `<ROOT>`
    stands before the source, it is the root. Any other head is read as in tran2018: a word attends to its head, its
    attention to itself is its score as the root, and weights are summed within words.
    """
    parsers = _parsers(bundle)
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


def _tree(scores_WU: np.ndarray, method: ParseMethod) -> np.ndarray:
    return getattr(parse_of(scores_WU, to_root=True, methods=[method]), method)
