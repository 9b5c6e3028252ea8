"""Predicted tags of the words of translations, from one forced pass over the best hypotheses.

A search holds no tags. A word's tag is the likeliest one, by the component that predicts tags, at the word's first
subword; or, if the model interleaves words and tags, the tag that it has generated before the word.

Shapes: B sentences, V vocabulary, W words.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nmtcore.annotation.labels import LABEL_SPECIALS, UNKNOWN_LABEL
from nmtcore.config.features import LABEL_SYMBOLS
from nmtcore.features.examples import Examples
from nmtcore.features.transforms.chain import LocatedWord
from nmtcore.inference.batches import in_batches, with_targets
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.schemas import TaggedWord
from nmtcore.inference.search import log_probabilities
from nmtcore.model.batch import Batch
from nmtcore.segmentation.vocabulary import TAG_PREFIX, tag_entry

_NO_TAG = None, None
"""The tag and the probability of a word whose tag is unknown, or that has none."""


def predict_tags(bundle: Bundle, examples: Examples, translations: Sequence[Sequence[int]]) -> list[list[TaggedWord]]:
    """Return the words of translations with their tags, sentence by sentence, for a model that predicts tags.

    `translations` are the best hypotheses of the examples' sources, as ids without `</s>`; targets of `examples` are
    ignored.
    """
    target = bundle.target_vocabulary, bundle.target_segmenter
    words = [bundle.transforms.locate_words(tokens, *target) for tokens in translations]
    batch_tags = _generated_tags if bundle.transforms.tags_targets else _scored_tags

    def work(batch: Batch, rows_B: np.ndarray) -> list[list[TaggedWord]]:
        chosen = [words[row] for row in rows_B]
        tags = iter(batch_tags(bundle, batch, chosen))
        return [[TaggedWord(word.word, *next(tags)) for word in sentence] for sentence in chosen]

    return in_batches(bundle.model, with_targets(examples, translations), work)


def _scored_tags(bundle: Bundle, batch: Batch, words: Sequence[Sequence[LocatedWord]]) -> list[tuple]:
    """Return the likeliest tag at the first subword of every word of a batch, by the component that predicts tags."""
    names = bundle.model.tagger.tag_names
    rows_W = _scored_rows(batch, [[word.position for word in sentence] for sentence in words])
    log_probability_W, tag_W = bundle.model.tag_scores(batch).index_select(0, rows_W).max(dim=1)
    is_tag = range(len(LABEL_SPECIALS), len(names) - LABEL_SYMBOLS)
    probabilities = log_probability_W.exp().tolist()
    return [
        (names[tag], probability) if tag in is_tag else _NO_TAG
        for tag, probability in zip(tag_W.tolist(), probabilities, strict=True)
    ]


def _generated_tags(bundle: Bundle, batch: Batch, words: Sequence[Sequence[LocatedWord]]) -> list[tuple]:
    """Return the tag that an interleaved model generates before every word of a batch, with its probability."""
    model, context = bundle.model, bundle.model.encode(batch)
    positions = [[word.tag_position for word in sentence if word.tag_position is not None] for sentence in words]
    rows_W = _scored_rows(batch, positions)
    places_W = batch.target_positions_N.index_select(0, rows_W)
    token_W = batch.target_output_BT.flatten().index_select(0, places_W)
    logits_WV = model.logits(model.forced_states(batch, context).index_select(0, rows_W), context)
    probabilities = log_probabilities(logits_WV).gather(1, token_W.unsqueeze(1)).squeeze(1).exp().tolist()
    unknown = tag_entry(LABEL_SPECIALS[UNKNOWN_LABEL])
    generated = iter(
        _NO_TAG if entry == unknown else (entry.removeprefix(TAG_PREFIX), probability)
        for entry, probability in zip(bundle.target_vocabulary.tokens(token_W.tolist()), probabilities, strict=True)
    )
    return [_NO_TAG if word.tag_position is None else next(generated) for sentence in words for word in sentence]


def _scored_rows(batch: Batch, positions: Sequence[Sequence[int]]) -> Tensor:
    """Return the rows of scores (N, ...) for positions in each target; `batch` has N real target positions."""
    lengths_B = torch.bincount(batch.target_positions_N // batch.target_output_BT.shape[1], minlength=len(batch))
    first_rows = (lengths_B.cumsum(dim=0) - lengths_B).tolist()
    rows = [
        first + position
        for first, target_positions in zip(first_rows, positions, strict=True)
        for position in target_positions
    ]
    return torch.tensor(rows, dtype=torch.int64, device=batch.target_positions_N.device)
