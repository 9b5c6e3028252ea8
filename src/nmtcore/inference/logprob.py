"""Log-probabilities of given translations, with the forward pass of training.

The log-probability of a translation is the sum over its tokens of log p(token | the tokens before it, the source), in
natural logarithms. Its tokens are the subwords into which the model's segmentation cuts it, and `</s>`; other ways to
cut it into subwords do not count. The distribution is the softmax over the whole target vocabulary, as in training,
without any length penalty.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from nmtcore.errors import DivergedError, UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.bundle import LINES_PER_CHUNK, Bundle
from nmtcore.inference.raw import TextReader, grouped_texts
from nmtcore.inference.sentence_batches import MAX_TOKENS, USE_CPU, batches_by_length, device_of, map_batches
from nmtcore.inference.text_pairs import TextFile, line_pairs, pair_characters, read_text_pairs
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch, make_batch
from nmtcore.segmentation.vocabulary import UNK

SENTENCES_PER_BATCH = 64
SCORES_PER_BATCH = 1 << 26
"""Scores of the vocabulary per batch (256 MiB in fp32), so that memory does not depend on the size of the input."""


class TargetScore(NamedTuple):
    """The log-probability of a translation, and how many tokens it sums over."""

    log_probability: float
    """Natural logarithm; at most 0."""
    tokens: int
    """Subwords, and `</s>`."""
    unknown: int
    """Subwords that the vocabulary lacks, and whose probability is that of `<unk>`."""

    @property
    def per_token(self) -> float:
        """The log-probability divided by the number of tokens."""
        return self.log_probability / self.tokens


def check_scores_targets(bundle: Bundle) -> None:
    """Raise `UserError` if a model generates tags among the words of its translations.

    The probability of such a translation is a sum over all sequences of tags, which cannot be computed.
    """
    if bundle.run.generates_tags:
        raise UserError(
            f"The system {bundle.run.system} generates tags among the words, so the probability of a translation is a "
            "sum over all possible sequences of tags, which cannot be computed: use a model of another system."
        )


def score_targets(model: TranslationModel, examples: Examples) -> list[TargetScore]:
    """Compute the log-probability of every example's target, given its source, in the examples' order.

    The targets must be text without tags (`check_scores_targets`). Sums are in double precision. Raises `UserError` if
    the model's scores are not finite.
    """
    lengths = np.maximum(examples.source.ids.lengths, examples.target.ids.lengths)
    tokens = min(MAX_TOKENS, SCORES_PER_BATCH // model.target_embedding.num_embeddings)
    batches = batches_by_length(lengths, sentences=SENTENCES_PER_BATCH, tokens=tokens)
    components, device = tuple(model.components), device_of(model)

    def batch_sums(rows: np.ndarray) -> list[float]:
        return _log_probabilities(model, make_batch(examples, rows, components, device))

    sums: list = [None] * len(examples)
    for rows, sums_B in zip(batches, map_batches(model, batches, batch_sums, advice=USE_CPU), strict=True):
        for row, total in zip(rows.tolist(), sums_B, strict=True):
            sums[row] = total
    return [
        TargetScore(total, len(target) + 1, int(np.count_nonzero(target == UNK)))
        for total, target in zip(sums, (examples.target.ids[row] for row in range(len(examples))), strict=True)
    ]


def _log_probabilities(model: TranslationModel, batch: Batch) -> list[float]:
    """Sum the log-probabilities of the real tokens of every target of a batch."""
    encoded = model.encode(batch)
    logits_NV = model.logits(model.forced_states(batch, encoded), encoded.context)
    logits_NV = logits_NV.to(torch.promote_types(logits_NV.dtype, torch.float32))
    targets_N = batch.target_output_BT.flatten().index_select(0, batch.target_positions_N)
    log_N = logits_NV.gather(1, targets_N.unsqueeze(1)).squeeze(1) - logits_NV.logsumexp(dim=1)
    rows_N = batch.target_positions_N // batch.target_output_BT.size(1)
    sums_B = log_N.new_zeros(len(batch), dtype=torch.float64).index_add(0, rows_N, log_N.double())
    if not torch.isfinite(sums_B).all():
        raise DivergedError("The model's probabilities are NaN or 0: its training has diverged, so train it again.")
    return sums_B.tolist()


def score_text_pairs(
    bundle: Bundle, source: TextFile, target: TextFile, *, model_folders: Sequence[Path] = ()
) -> Iterator[TargetScore | None]:
    """Score the lines of `target` as translations of those of `source`, in order.

    A source without words has no score (None), since the model never translates it; a translation without words has
    that of `</s>`. Raises `UserError` if the system cannot be scored, and the errors of `line_pairs` and
    `read_text_pairs`.
    """
    check_scores_targets(bundle)
    with bundle.reader(model_folders) as reader:
        first = 1
        for pairs in grouped_texts(line_pairs(source, target), LINES_PER_CHUNK, characters=pair_characters):
            numbers = range(first, first + len(pairs))
            yield from _chunk_scores(bundle, reader, pairs, numbers=numbers, names=(source.name, target.name))
            first += len(pairs)


def _chunk_scores(
    bundle: Bundle,
    reader: TextReader,
    pairs: Sequence[tuple[str, str]],
    *,
    numbers: Sequence[int],
    names: tuple[str, str],
) -> list[TargetScore | None]:
    """Score pairs of a source and a translation; None if the source has no words. See `read_text_pairs`."""
    texts = read_text_pairs(bundle, reader, pairs, numbers=numbers, names=names)
    scores = dict(zip(texts.lines, score_targets(bundle.model, texts.examples), strict=True))
    return [scores.get(line) for line in range(len(pairs))]
