"""What a model makes of given translations: log-probabilities, contrastive pairs, and norms of gates.

The log-probability of a translation is the sum over its tokens of log p(token | the tokens before it, the source), in
natural logarithms. Its tokens are the subwords into which the model's segmentation cuts it, and `</s>`; other ways to
cut it into subwords do not count. The distribution is the softmax over the whole target vocabulary, as in training,
without any length penalty. Contrastive pairs are compared as whole sentences, without dividing by their lengths, as in
LingEval97 (Sennrich 2017).

Shapes: B sentences, D width, N target tokens, T target, V vocabulary.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from nmtcore.corpus.contrasts import ContrastRows
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import DivergedError, UserError
from nmtcore.features.examples import NO_WORD, Examples, check_ids
from nmtcore.features.sources import MAX_SUBWORDS
from nmtcore.inference.batches import MAX_TOKENS, in_batches, with_targets
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.schemas import GATES_SCHEMA, ContrastScore
from nmtcore.inference.text import LINES_PER_CHUNK, Chunk, InputSentence, grouped
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.model.recurrent import Recurrent
from nmtcore.parquet import read_rows, write_rows
from nmtcore.segmentation.vocabulary import EOS, UNK, Vocabulary

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
        context = model.encode(batch)
        logits_NV = model.logits(model.forced_states(batch, context), context)
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
        values = right.log_probability, wrong.log_probability, right.tokens, wrong.tokens, right.unknown + wrong.unknown
        scored.append(ContrastScore(contrast.phenomenon, contrast.distance, *values))
    return scored


def score_text_pairs(
    bundle: Bundle,
    source: Iterable[InputSentence],
    target: Iterable[InputSentence],
) -> Iterator[TargetScore | None]:
    """Score the lines of `target` as translations of those of `source`, in order.

    A source without words has no score (None), since the model never translates it; a translation without words has
    that of `</s>`. Raises `UserError` if the system cannot be scored, if a text has more lines than the other or if a
    line has more than `MAX_SUBWORDS` subwords, and the errors of `read_text`.
    """
    check_scores_targets(bundle)
    pairs = _paired(source, target)
    for group in grouped(pairs, LINES_PER_CHUNK, characters=lambda pair: sum(len(sentence.text) for sentence in pair)):
        chunk = _read_pairs(bundle, group)
        for score in chunk.sources.by_sentence(score_targets(bundle.model, chunk.examples)):
            yield score[0] if score else None


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


def _read_pairs(bundle: Bundle, pairs: Sequence[tuple[InputSentence, InputSentence]]) -> Chunk:
    """Cut pairs of sentences into subwords and annotate the sources, as to translate them."""
    tokenizer = WordTokenizer(bundle.run.text_words("target"), bundle.run.target)
    targets = [bundle.target_segmenter.segment(tokenizer.split(target.text)) for _, target in pairs]
    chunk = bundle.reader.read([source for source, _ in pairs])
    long_targets = [
        pair[1].where for pair, target in zip(pairs, targets, strict=True) if len(target.pieces) > MAX_SUBWORDS
    ]
    for place in (*chunk.long, *long_targets):
        raise UserError(
            f"{place}: the line has more than {MAX_SUBWORDS:,} subwords: shorten it, or split the sentence on both "
            "sides."
        )
    ids = [bundle.target_vocabulary.ids(targets[row].pieces) for row in chunk.sources.row_P]
    return chunk._replace(sources=replace(chunk.sources, examples=with_targets(chunk.examples, ids)))


def gate_norms(model: Recurrent, examples: Examples) -> list[np.ndarray]:
    """Compute the L2 norm of the gate with which every target token is predicted: (T,) per pair, `</s>` included.

    The gate is that of head selection in the decoder (tran2018, equation 23). The tokens of the given targets are
    fed to the decoder, which must have a gate (`RunSettings.has_gates`).
    """
    gated = next(component for component in model.components if component.settings and component.settings.gates_output)

    def work(batch: Batch, rows_B: np.ndarray) -> list[np.ndarray]:
        hidden_BTD = model.hidden_states(batch.target_input_BT, model.encode(batch))
        norms_BT = gated.gate_norms(hidden_BTD).float().cpu().numpy()
        lengths = examples.target.ids.lengths[rows_B] + 1
        return [norms_T[:length] for norms_T, length in zip(norms_BT, lengths, strict=True)]

    return in_batches(model, examples, work)


def write_gates(
    path: Path,
    examples: Examples,
    norms: Mapping[int, np.ndarray],
    vocabulary: Vocabulary,
    *,
    tokens: Path,
    tags: Path | None = None,
) -> None:
    """Write the gate norms of sentence pairs as `GATES_SCHEMA`.

    `norms` has an array for each row of `examples` that is written, with `</s>`. `tokens` is the file of the targets'
    subwords, and `tags` the annotation of the target side, if there is any. Raises `UserError` if the annotation has
    other pairs.
    """
    tags_of_words = [None] * len(examples)
    if tags is not None:
        annotated = list(read_rows(tags, columns=["id", "upos"], stop=len(examples)))
        check_ids(examples.id, np.array([row["id"] for row in annotated], dtype=np.int64), tokens, tags)
        tags_of_words = [row["upos"] for row in annotated]
    target = examples.target
    columns = (
        (examples.id[row], target.ids[row], target.word_of_subword[row], tags_of_words[row], norms_T)
        for row, norms_T in norms.items()
    )
    rows = (
        {
            "id": int(id),
            "pieces": vocabulary.tokens([*ids, EOS]),
            "words": [*words, NO_WORD],
            "upos": None if upos is None else [*(None if word == NO_WORD else upos[word] for word in words), None],
            "norms": norms_T,
        }
        for id, ids, words, upos, norms_T in columns
    )
    write_rows(path, GATES_SCHEMA, rows)
