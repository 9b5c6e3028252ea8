"""Log-probabilities of given translations, with the forward pass of training, and contrastive pairs of translations.

The log-probability of a translation is the sum over its tokens of log p(token | the tokens before it, the source), in
natural logarithms. Its tokens are the subwords into which the model's segmentation cuts it, and `</s>`; other ways to
cut it into subwords do not count. The distribution is the softmax over the whole target vocabulary, as in training,
without any length penalty. Contrastive pairs are compared as whole sentences, without dividing by their lengths, as in
LingEval97 (Sennrich 2017).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from nmtcore.corpus.contrasts import ContrastEntry, ContrastRows, contrast_rows
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import DivergedError, UserError
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.inference.batches import MAX_TOKENS, in_batches
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.schemas import ContrastScore
from nmtcore.inference.text import LINES_PER_CHUNK, MAX_SUBWORDS, Chunk, InputSentence, TextReader, grouped
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.segmentation.segmenter import Subwords
from nmtcore.segmentation.vocabulary import UNK

SCORES_PER_BATCH = 1 << 26
"""Scores of the vocabulary per batch (256 MiB in fp32), so that memory does not depend on the size of the input."""
ENTRIES_PER_CHUNK = 500
"""Contrastive entries that are read, sorted and scored at once."""


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

    def work(batch: Batch, rows_B: np.ndarray) -> list[float]:
        encoded = model.encode(batch)
        logits_NV = model.logits(model.forced_states(batch, encoded), encoded.context)
        logits_NV = logits_NV.to(torch.promote_types(logits_NV.dtype, torch.float32))
        targets_N = batch.target_output_BT.flatten().index_select(0, batch.target_positions_N)
        log_N = logits_NV.gather(1, targets_N.unsqueeze(1)).squeeze(1) - logits_NV.logsumexp(dim=1)
        sentences_N = batch.target_positions_N // batch.target_output_BT.size(1)
        sums_B = log_N.new_zeros(len(batch), dtype=torch.float64).index_add(0, sentences_N, log_N.double())
        if not torch.isfinite(sums_B).all():
            raise DivergedError("The model's probabilities are NaN or 0: its training has diverged, so train it again.")
        return sums_B.tolist()

    tokens = min(MAX_TOKENS, SCORES_PER_BATCH // model.target_embedding.num_embeddings)
    sums = in_batches(model, examples, work, tokens=tokens)
    return [
        TargetScore(total, len(target) + 1, int(np.count_nonzero(target == UNK)))
        for total, target in zip(sums, examples.target.ids, strict=True)
    ]


def score_contrasts(
    model: TranslationModel, examples: Examples, contrasts: Sequence[ContrastRows]
) -> list[ContrastScore]:
    """Score pairs of rows of `examples`, in order.

    Translations that consist of the same subwords (because they differ in unknown ones only) have equal scores, even if
    they were in different batches. Raises the errors of `score_targets`.
    """
    scores, targets = score_targets(model, examples), examples.target.ids
    scored = []
    for contrast in contrasts:
        right, wrong = scores[contrast.right], scores[contrast.wrong]
        if np.array_equal(targets[contrast.right], targets[contrast.wrong]):
            wrong = right
        scored.append(
            ContrastScore(
                phenomenon=contrast.phenomenon,
                distance=contrast.distance,
                right=right.log_probability,
                wrong=wrong.log_probability,
                right_tokens=right.tokens,
                wrong_tokens=wrong.tokens,
                unknown=right.unknown + wrong.unknown,
            )
        )
    return scored


def score_text_pairs(
    bundle: Bundle,
    source: Iterable[InputSentence],
    target: Iterable[InputSentence],
    *,
    model_folders: Sequence[Path] = (),
) -> Iterator[TargetScore | None]:
    """Score the lines of `target` as translations of those of `source`, in order.

    A source without words has no score (None), since the model never translates it; a translation without words has
    that of `</s>`. Raises `UserError` if the system cannot be scored, and the errors of `read_text_pairs`.
    """
    check_scores_targets(bundle)
    for chunk, _ in read_text_pairs(bundle, source, target, model_folders=model_folders):
        for score in chunk.by_sentence(score_targets(bundle.model, chunk.examples)):
            yield score[0] if score else None


def read_text_pairs(
    bundle: Bundle,
    source: Iterable[InputSentence],
    target: Iterable[InputSentence],
    *,
    model_folders: Sequence[Path] = (),
) -> Iterator[tuple[Chunk, list[Subwords]]]:
    """Read the corresponding lines of two texts, some at a time: sources with the targets of examples, and all targets.

    Raises the errors of `read_text`, and `UserError` if a text has more lines than the other or if a line has more than
    `MAX_SUBWORDS` subwords.
    """
    pairs = grouped(
        _paired(source, target), LINES_PER_CHUNK, characters=lambda pair: sum(len(own.text) for own in pair)
    )
    with TextReader(bundle, model_folders) as reader:
        for chunk in pairs:
            yield _read_pairs(bundle, reader, chunk)


def _paired(
    source: Iterable[InputSentence], target: Iterable[InputSentence]
) -> Iterator[tuple[InputSentence, InputSentence]]:
    for pair in zip_longest(source, target):
        if None in pair:
            raise UserError(
                f"{(pair[0] or pair[1]).where}: the other text ends before this line: give one sentence per line, and "
                "as many lines in both files."
            )
        yield pair


def _read_pairs(
    bundle: Bundle, reader: TextReader, pairs: Sequence[tuple[InputSentence, InputSentence]]
) -> tuple[Chunk, list[Subwords]]:
    """Cut pairs of sentences into subwords and annotate the sources, as to translate them.

    A part of a long translation has no counterpart in the source.
    """
    tokenizer = WordTokenizer(bundle.run.text_words("target"), bundle.run.target)
    targets = [bundle.target_segmenter.segment(tokenizer.split(target.text)) for _, target in pairs]
    chunk = reader.read([source for source, _ in pairs])
    long_targets = [pair[1].where for pair, own in zip(pairs, targets, strict=True) if len(own.pieces) > MAX_SUBWORDS]
    for place in (*chunk.long, *long_targets):
        raise UserError(
            f"{place}: the line has more than {MAX_SUBWORDS:,} subwords: shorten it, or split the sentence on both "
            "sides."
        )
    own_targets = [targets[part.line] for part in chunk.parts]
    side = SideExamples(
        ids=Ragged.from_lists([bundle.target_vocabulary.ids(own.pieces) for own in own_targets], np.int32),
        word_of_subword=Ragged.from_lists([own.word_of_subword for own in own_targets], np.int32),
    )
    return chunk._replace(examples=replace(chunk.examples, target=side)), targets


def score_entries(
    bundle: Bundle, entries: Iterable[ContrastEntry], *, where: Path, model_folders: Sequence[Path] = ()
) -> Iterator[ContrastScore]:
    """Score the pairs of a file, `where` in messages, in order.

    Raises `UserError` if the system cannot be scored (`check_scores_targets`), if a text has no words or more than
    `MAX_SUBWORDS` subwords, and the errors of `score_targets`.
    """
    check_scores_targets(bundle)
    with TextReader(bundle, model_folders) as reader:
        for chunk in grouped(entries, ENTRIES_PER_CHUNK, characters=lambda entry: len(entry.right.text)):
            pairs = [
                tuple(InputSentence(0, f"{where}, {entry.place}", side.text) for side in pair)
                for entry in chunk
                for pair in entry.pairs
            ]
            read, targets = _read_pairs(bundle, reader, pairs)
            with_words = {part.line for part in read.parts if targets[part.line].pieces}
            for line, (source, _) in enumerate(pairs):
                if line not in with_words:
                    raise UserError(f"{source.where}: a source or a translation has no words: correct it.")
            yield from score_contrasts(bundle.model, read.examples, list(contrast_rows(chunk)))
