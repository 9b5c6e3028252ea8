"""Trees read off scores between words that nobody trained to be a parse (tran2018, section 5).

W words.
"""

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
from nmtcore.model.pooling import pool_words


def _with_root(scores_WW: np.ndarray) -> np.ndarray:
    """Take a dependent's (row's) score of itself for that of being a root: (W, 1 + W)."""
    return np.column_stack([np.diagonal(scores_WW), scores_WW])


def attention_parser(bundle: Bundle, *, layer: int, head: int) -> Parser:
    """Make a parser of one head of the encoder (from 0), its weights summed within words (`pool_words`).

    A word's head is the word it looks at; what it looks at itself is its score as a root. `bundle` is one of
    `load_observed_bundle`. A head that the encoder lacks is a `UserError`.
    """
    model = bundle.model.settings
    if not (0 <= layer < model.encoder_layers and 0 <= head < model.heads):
        raise UserError(
            f"The encoder has no head {layer}.{head}: its layers are 0 to {model.encoder_layers - 1}, "
            f"the heads of each 0 to {model.heads - 1} (both count from 0)."
        )

    def parse(examples: Examples, methods: Sequence[ParseMethod]) -> list[Parse]:
        def parsed(rows: np.ndarray) -> list[Parse]:
            seen = observe_batch(bundle, examples.take(rows))
            weights_BSS = seen.maps["encoder", layer][:, head]
            counts = (seen.words_BS.max(axis=1) + 1).tolist()
            words_BS = torch.from_numpy(seen.words_BS).to(weights_BSS.device)
            scores_BWW = pool_words(weights_BSS, words_BS, count=max(counts)).cpu().numpy()
            cut_WW = [scores[:count, :count] for scores, count in zip(scores_BWW, counts, strict=True)]
            return [parse_of(_with_root(scores_WW), to_root=True, methods=methods) for scores_WW in cut_WW]

        batches = bounded_batches(examples.source.ids.lengths)
        found = map_batches(bundle.model, list(batches), parsed, advice=USE_CPU)
        return [parse for parses in found for parse in parses]

    return parse
