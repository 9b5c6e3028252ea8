"""Scoring of contrastive pairs: the log-probabilities of a right and a wrong translation of the same source.

Whole sentences are compared, without dividing by their lengths, as in LingEval97 (Sennrich 2017).
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from nmtcore.corpus.contrasts import ContrastEntry, ContrastRows, contrast_rows
from nmtcore.errors import LineError, UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.contrast_files import ContrastScore
from nmtcore.inference.logprob import check_scores_targets, score_targets
from nmtcore.inference.raw import TextReader, grouped
from nmtcore.inference.text_pairs import TextPairs, read_text_pairs
from nmtcore.model.base import TranslationModel

ENTRIES_PER_CHUNK = 500
"""Entries of raw text that are read, sorted and scored at once."""


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
            texts = _read(bundle, reader, chunk, where)
            yield from score_contrasts(bundle.model, texts.examples, list(contrast_rows(chunk)))


def _read(bundle: Bundle, reader: TextReader, entries: Sequence[ContrastEntry], where: Path) -> TextPairs:
    """Make one example per sentence pair."""
    pairs = [(source.text, target.text) for entry in entries for source, target in entry.pairs]
    places = [f"{where}, {entry.place}" for entry in entries for _ in entry.pairs]
    try:
        texts = read_text_pairs(bundle, reader, pairs, numbers=range(len(pairs)), names=(str(where), str(where)))
    except LineError as error:
        raise UserError(f"{places[error.line]}: {error.problem}") from error
    with_words = set(texts.lines)
    for line, target in enumerate(texts.targets):
        if line not in with_words or not target.pieces:
            side = "translation" if line in with_words else "source"
            raise UserError(f"{places[line]}: a {side} has no words: correct it.")
    return texts
