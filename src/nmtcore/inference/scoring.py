"""What a model makes of given translations: log-probabilities, contrastive pairs, norms of gates, and tags of words.

The log-probability of a translation is the sum over its tokens of log p(token | the tokens before it, the source), in
natural logarithms. Its tokens are the subwords into which the model's segmentation cuts it, and `</s>`; other ways to
cut it into subwords do not count. The distribution is the softmax over the whole target vocabulary, as in training,
without any length penalty. Contrastive pairs are compared as whole sentences, without dividing by their lengths, as in
LingEval97 (Sennrich 2017).

A search holds no tags. A word's tag is the likeliest one, by the component that predicts tags, at the word's first
subword; or, if the model interleaves words and tags, the tag that it has generated before the word.

Shapes: B sentences, D width, N target tokens, T target, V vocabulary, W words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nmtcore.annotation.labels import LABEL_SPECIALS, UNKNOWN_LABEL
from nmtcore.config.features import LABEL_SYMBOLS
from nmtcore.corpus.contrasts import ContrastRows
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import DivergedError, UserError
from nmtcore.features.examples import NO_WORD, Examples
from nmtcore.features.sources import MAX_SUBWORDS
from nmtcore.features.transforms.chain import LocatedWord
from nmtcore.inference.batches import MAX_TOKENS, in_batches, with_targets
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.schemas import GATES_SCHEMA, ContrastScore, TaggedWord
from nmtcore.inference.search import log_probabilities
from nmtcore.inference.text import LINES_PER_CHUNK, InputSentence, grouped
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.model.recurrent import Recurrent
from nmtcore.parquet import check_ids, read_rows, row_writer
from nmtcore.segmentation.vocabulary import EOS, TAG_PREFIX, UNK, Vocabulary, tag_entry

SCORES_PER_BATCH = 1 << 26
"""Scores of the vocabulary per batch (256 MiB in fp32), so that memory does not depend on the size of the input."""
_NO_TAG = None, None
"""The tag and the probability of a word whose tag is unknown, or that has none."""


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

    A source that is left out (`features.sources`) has no score (None), since the model never translates it; a
    translation without words has that of `</s>`. Raises `UserError` if the system cannot be scored, if a text has more
    lines than the other or if a translation has more than `MAX_SUBWORDS` subwords, and the errors of `read_text`.
    """
    check_scores_targets(bundle)
    tokenizer = WordTokenizer(bundle.run.text_words("target"), bundle.run.target)
    for pairs in grouped(_paired(source, target), LINES_PER_CHUNK):
        segment, texts = bundle.segmenters["target"].segment, [tokenizer.compose(text.text) for _, text in pairs]
        targets = [segment(tokenizer.split(text), text) for text in texts]
        for (_, text), subwords in zip(pairs, targets, strict=True):
            if len(subwords.pieces) > MAX_SUBWORDS:
                raise UserError(f"{text.where}: the translation has more than {MAX_SUBWORDS:,} subwords: shorten it.")
        sources = bundle.reader.read([text for text, _ in pairs]).sources
        ids = [bundle.vocabularies["target"].ids(targets[row].pieces) for row in sources.rows]
        yield from sources.of_all(score_targets(bundle.model, with_targets(sources.examples, ids)), None)


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
        check_ids(examples.id, np.array([row["id"] for row in annotated], dtype=np.int64), files=(tokens, tags))
        tags_of_words = [row["upos"] for row in annotated]
    with row_writer(path, GATES_SCHEMA) as writer:
        for row, norms_T in norms.items():
            words, upos = [*examples.target.word_of_subword[row], NO_WORD], tags_of_words[row]
            gates = {
                "id": int(examples.id[row]),
                "pieces": vocabulary.tokens([*examples.target.ids[row], EOS]),
                "words": words,
                "upos": None if upos is None else [None if word == NO_WORD else upos[word] for word in words],
                "norms": norms_T,
            }
            writer.write(gates)


def predict_tags(bundle: Bundle, examples: Examples, translations: Sequence[Sequence[int]]) -> list[list[TaggedWord]]:
    """Return the words of translations with their tags, sentence by sentence, for a model that predicts tags.

    `translations` are the best hypotheses of the examples' sources, as ids without `</s>`; targets of `examples` are
    ignored.
    """
    target = bundle.vocabularies["target"], bundle.segmenters["target"]
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
        for entry, probability in zip(
            bundle.vocabularies["target"].tokens(token_W.tolist()), probabilities, strict=True
        )
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
