"""Trees induced from attention that was not trained to parse (tran2018, section 5)."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import torch
from torch import Tensor

from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.attention import ObservedBatch, bounded_batches, observe_batch
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.parse import Parser, parse_of
from nmtcore.inference.parse_files import Parse, ParseMethod
from nmtcore.inference.sentence_batches import USE_CPU, map_batches
from nmtcore.model.pooling import pool_words, with_root_scores

_OTHER_SYSTEMS = "Use a model of another system, for example sa_nmt_shared, which parses without --attention."


def attention_parser(bundle: Bundle, *, layer: int, head: int) -> Parser:
    """Make a parser of one attention head of the encoder (from 0), with weights summed within words (`pool_words`).

    A word's head is the word it attends to; its attention to itself is its score as a root. `bundle` comes from
    `load_observed_bundle`. Raises `UserError` if the encoder has no such head.
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
            observed = observe_batch(bundle, examples.take(rows))
            weights_BSS = observed.maps["encoder", layer][:, head]
            sentences_WW = _word_scores(observed, weights_BSS)
            return [parse_of(with_root_scores(scores_WW), to_root=True, methods=methods) for scores_WW in sentences_WW]

        batches = list(bounded_batches(examples.source.ids.lengths))
        parses = map_batches(bundle.model, batches, parse_batch, advice=USE_CPU)
        return [parse for batch_parses in parses for parse in batch_parses]

    return parse


def parse_with_all_heads(bundle: Bundle, examples: Examples) -> dict[tuple[int, int], list[np.ndarray]]:
    """Parse every example with every attention head of the encoder, in one pass of the model per batch.

    Returns the trees with one root, as `attention_parser` makes them, by layer and head. `bundle` comes from
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
            sentences_HWW = _word_scores(observed, observed.maps["encoder", layer])
            trees += [[_tree(scores_HWW[head]) for scores_HWW in sentences_HWW] for head in range(heads)]
        return trees

    batches = map_batches(bundle.model, list(bounded_batches(examples.source.ids.lengths)), parse_batch, advice=USE_CPU)
    by_head: dict[tuple[int, int], list[np.ndarray]] = {pair: [] for pair in product(range(layers), range(heads))}
    for trees in batches:
        for own, batch_trees in zip(by_head.values(), trees, strict=True):
            own += batch_trees
    return by_head


def _no_heads(bundle: Bundle) -> str:
    return f"The system {bundle.run.system} is {bundle.run.base}: its encoder has no attention heads."


def _word_scores(observed: ObservedBatch, weights: Tensor) -> list[np.ndarray]:
    """Sum attention weights, (B, S, S) or (B, H, S, S), within words: (W, W) or (H, W, W) per sentence."""
    counts = (observed.words_BS.max(axis=1) + 1).tolist()
    words_BS = torch.from_numpy(observed.words_BS).to(weights.device)
    scores = pool_words(weights, words_BS, count=max(counts)).cpu().numpy()
    return [sentence[..., :count, :count] for sentence, count in zip(scores, counts, strict=True)]


def _tree(scores_WW: np.ndarray) -> np.ndarray:
    parse = parse_of(with_root_scores(scores_WW), to_root=True, methods=["one_root"])
    return parse.one_root
