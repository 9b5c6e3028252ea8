"""Trees induced from attention that was not trained to parse (tran2018, section 5)."""

from collections.abc import Sequence

import numpy as np
import torch

from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.attention import bounded_batches, observe_batch
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
        raise UserError(
            f"The system {bundle.run.system} is {bundle.run.base}: its encoder has no attention heads. "
            + ("Leave --attention out: it parses by itself." if bundle.model.parses else _OTHER_SYSTEMS)
        )
    if not (0 <= layer < layers and 0 <= head < heads):
        raise UserError(
            f"The encoder has no head {layer}.{head}: its layers are 0 to {layers - 1}, "
            f"the heads of each 0 to {heads - 1} (both count from 0)."
        )

    def parse(examples: Examples, methods: Sequence[ParseMethod]) -> list[Parse]:
        def parse_batch(rows: np.ndarray) -> list[Parse]:
            observed = observe_batch(bundle, examples.take(rows))
            weights_BSS = observed.maps["encoder", layer][:, head]
            counts = (observed.words_BS.max(axis=1) + 1).tolist()
            words_BS = torch.from_numpy(observed.words_BS).to(weights_BSS.device)
            scores_BWW = pool_words(weights_BSS, words_BS, count=max(counts)).cpu().numpy()
            sentences_WW = [scores_WW[:count, :count] for scores_WW, count in zip(scores_BWW, counts, strict=True)]
            return [parse_of(with_root_scores(scores_WW), to_root=True, methods=methods) for scores_WW in sentences_WW]

        batches = list(bounded_batches(examples.source.ids.lengths))
        parses = map_batches(bundle.model, batches, parse_batch, advice=USE_CPU)
        return [parse for batch_parses in parses for parse in batch_parses]

    return parse
