"""Log-probabilities of given translations, with the forward pass of training, and contrastive pairs of translations.

The log-probability of a translation is the sum over its tokens of log p(token | the tokens before it, the source), in
natural logarithms. Its tokens are the subwords into which the model's segmentation cuts it, and `</s>`; other ways to
cut it into subwords do not count. The distribution is the softmax over the whole target vocabulary, as in training,
without any length penalty. Contrastive pairs are compared as whole sentences, without dividing by their lengths, as in
LingEval97 (Sennrich 2017).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from nmtcore.corpus.contrasts import ContrastEntry, ContrastRows, contrast_rows
from nmtcore.corpus.text_lines import clean_lines
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import DivergedError, LineError, UserError
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.inference.batches import MAX_TOKENS, in_batches
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.raw import LINES_PER_CHUNK, MAX_SUBWORDS, TextReader, grouped, grouped_texts
from nmtcore.inference.schemas import ContrastScore
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.segmentation.segmenter import Subwords
from nmtcore.segmentation.vocabulary import UNK

SENTENCES_PER_BATCH = 64
SCORES_PER_BATCH = 1 << 26
"""Scores of the vocabulary per batch (256 MiB in fp32), so that memory does not depend on the size of the input."""
ENTRIES_PER_CHUNK = 500
"""Contrastive entries of raw text that are read, sorted and scored at once."""


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
    sums = in_batches(model, examples, work, sentences=SENTENCES_PER_BATCH, tokens=tokens)
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


class TextFile(NamedTuple):
    """Lines of text, and their name in messages."""

    lines: Iterable[str | bytes]
    name: str


class TextPairs(NamedTuple):
    """Lines of text with their translations, as examples; a line whose source has no words has no example."""

    sources: list[str]
    examples: Examples
    lines: list[int]
    """The line of each example, from 0 in these lines."""
    targets: list[Subwords]
    """The subwords of each line's translation."""


def score_text_pairs(
    bundle: Bundle, source: TextFile, target: TextFile, *, model_folders: Sequence[Path] = ()
) -> Iterator[TargetScore | None]:
    """Score the lines of `target` as translations of those of `source`, in order.

    A source without words has no score (None), since the model never translates it; a translation without words has
    that of `</s>`. Raises `UserError` if the system cannot be scored, and the errors of `read_text_pairs`.
    """
    check_scores_targets(bundle)
    for texts in read_text_pairs(bundle, source, target, model_folders=model_folders):
        scores = dict(zip(texts.lines, score_targets(bundle.model, texts.examples), strict=True))
        yield from (scores.get(line) for line in range(len(texts.sources)))


def read_text_pairs(
    bundle: Bundle, source: TextFile, target: TextFile, *, model_folders: Sequence[Path] = ()
) -> Iterator[TextPairs]:
    """Read the corresponding lines of two texts, some lines at a time.

    Raises the errors of `clean_lines`, and `LineError` if a text has more lines than the other or if a line has more
    than `MAX_SUBWORDS` subwords.
    """
    with bundle.reader(model_folders) as reader:
        pairs = _line_pairs(source, target)
        for first, chunk in grouped_texts(pairs, LINES_PER_CHUNK, characters=lambda pair: len(pair[0]) + len(pair[1])):
            yield _read_pairs(bundle, reader, chunk, first=first + 1, names=(source.name, target.name))


def _line_pairs(source: TextFile, target: TextFile) -> Iterator[tuple[str, str]]:
    texts = (clean_lines(text.lines, where=text.name) for text in (source, target))
    for number, (source_line, target_line) in enumerate(zip_longest(*texts), start=1):
        if source_line is None or target_line is None:
            longer, shorter = (target, source) if source_line is None else (source, target)
            raise LineError(
                longer.name,
                number,
                f"{shorter.name} ends before this line: give one sentence per line, and as many lines in both files.",
            )
        yield source_line, target_line


def _read_pairs(
    bundle: Bundle, reader: TextReader, pairs: Sequence[tuple[str, str]], *, first: int, names: tuple[str, str]
) -> TextPairs:
    """Cut pairs of lines into subwords and annotate the sources, as to translate them.

    `first` is the number of the first line and `names` are the files' names in messages. A part of a long translation
    has no counterpart in the source.
    """
    words = WordTokenizer(bundle.run.text_words("target"), bundle.run.target)
    targets = [bundle.target_segmenter.segment(words.split(text)) for _, text in pairs]
    parts = reader.parts(reader.split(text) for text, _ in pairs)
    lines = [part.line for part in parts]
    long_sources = {line for line, after in pairwise(lines) if line == after}
    long_targets = {line for line, target in enumerate(targets) if len(target.pieces) > MAX_SUBWORDS}
    for name, long_lines in zip(names, (long_sources, long_targets), strict=True):
        if long_lines:
            problem = (
                f"the line has more than {MAX_SUBWORDS:,} subwords: shorten it, or split the sentence on both sides."
            )
            raise LineError(name, first + min(long_lines), problem)
    side = SideExamples(
        ids=Ragged.from_lists([bundle.target_vocabulary.ids(targets[line].pieces) for line in lines], np.int32),
        word_of_subword=Ragged.from_lists([targets[line].word_of_subword for line in lines], np.int32),
    )
    return TextPairs([text for text, _ in pairs], replace(reader.examples_of(parts), target=side), lines, targets)


def score_entries(
    bundle: Bundle, entries: Iterable[ContrastEntry], *, where: Path, model_folders: Sequence[Path] = ()
) -> Iterator[ContrastScore]:
    """Score the pairs of a file, `where` in messages, in order.

    Raises `UserError` if the system cannot be scored (`check_scores_targets`), if a text has no words or more than
    `MAX_SUBWORDS` subwords, and the errors of `score_targets`.
    """
    check_scores_targets(bundle)
    with bundle.reader(model_folders) as reader:
        for chunk in grouped(iter(entries), ENTRIES_PER_CHUNK):
            texts = _read_entries(bundle, reader, chunk, where)
            yield from score_contrasts(bundle.model, texts.examples, list(contrast_rows(chunk)))


def _read_entries(bundle: Bundle, reader: TextReader, entries: Sequence[ContrastEntry], where: Path) -> TextPairs:
    """Make one example per sentence pair."""
    pairs = [(source.text, target.text) for entry in entries for source, target in entry.pairs]
    places = [f"{where}, {entry.place}" for entry in entries for _ in entry.pairs]
    try:
        texts = _read_pairs(bundle, reader, pairs, first=0, names=(str(where), str(where)))
    except LineError as error:
        raise UserError(f"{places[error.line]}: {error.problem}") from error
    with_words = set(texts.lines)
    for line, target in enumerate(texts.targets):
        if line not in with_words or not target.pieces:
            side = "translation" if line in with_words else "source"
            raise UserError(f"{places[line]}: a {side} has no words: correct it.")
    return texts
