"""Norms of the gate in the decoder of head selection (tran2018, equation 23), computed on given translations."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nmtcore.corpus.text_lines import clean_lines
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.errors import LineError, UserError
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.inference.bundle import LINES_PER_CHUNK, Bundle
from nmtcore.inference.gate_files import GatedSentence
from nmtcore.inference.raw import MAX_SUBWORDS, TextReader, grouped
from nmtcore.inference.sentence_batches import USE_CPU, batches_by_length, device_of, map_batches
from nmtcore.model.batch import make_batch
from nmtcore.model.recurrent import Recurrent
from nmtcore.segmentation.segmenter import Subwords
from nmtcore.segmentation.vocabulary import Vocabulary

SENTENCES_PER_BATCH = 64


def gate_norms(model: Recurrent, examples: Examples) -> list[np.ndarray]:
    """Compute the L2 norm of the gate with which every target token is predicted: (T,) per pair, `</s>` included.

    The tokens of the given targets are fed to the decoder. Raises `ValueError` for a model without a gate in the
    decoder.
    """
    gated = [component for component in model.components if component.settings and component.settings.gates_output]
    if not gated:
        raise ValueError("this model has no gate in the decoder")
    lengths = np.maximum(examples.source.ids.lengths, examples.target.ids.lengths)
    batches = batches_by_length(lengths, sentences=SENTENCES_PER_BATCH)
    components, device = tuple(model.components), device_of(model)

    def batch_norms(rows: np.ndarray) -> np.ndarray:
        batch = make_batch(examples, rows, components, device)
        hidden_BTD = model.hidden_states(batch.target_input_BT, model.encode(batch))
        return gated[0].gate_norms(hidden_BTD).float().cpu().numpy()

    norms: list = [None] * len(examples)
    for rows, norms_BT in zip(batches, map_batches(model, batches, batch_norms, advice=USE_CPU), strict=True):
        for row, norms_T in zip(rows.tolist(), norms_BT, strict=True):
            norms[row] = norms_T[: examples.target.ids.lengths[row] + 1]
    return norms


class TextFile(NamedTuple):
    """Lines of text, and their name in messages."""

    lines: Iterable[str | bytes]
    name: str


def read_gates(
    bundle: Bundle, source: TextFile, target: TextFile, *, model_folders: Sequence[Path] = ()
) -> Iterator[GatedSentence]:
    """Compute the gate norms of sentence pairs, one per line of two texts, in order.

    Raises `UserError` if the model has no gate in the decoder, `LineError` if a text has more lines than the other or
    if a line has more than `MAX_SUBWORDS` subwords, and the errors of `clean_lines`.
    """
    check_has_gates(bundle)
    _check_reads_text(bundle)
    with bundle.reader(model_folders) as reader:
        first = 1
        for pairs in grouped(_line_pairs(source, target), LINES_PER_CHUNK):
            yield from _chunk_gates(bundle, reader, pairs, first=first, names=(source.name, target.name))
            first += len(pairs)


def check_has_gates(bundle: Bundle) -> None:
    """Raise `UserError` if a model has no gate in the decoder."""
    if not bundle.run.has_gates:
        raise UserError(
            f"The system {bundle.run.system} has no gate in the decoder. Use a model of another system, for example "
            "sa_nmt_shared."
        )


def _check_reads_text(bundle: Bundle) -> None:
    """Raise `UserError` if the model's targets have tags, which given translations lack."""
    if bundle.transforms.tags_targets:
        raise UserError(
            f"The system {bundle.run.system} generates tags among the words, which the given translations lack. "
            "Measure the gates of a test split with the workflow (docs/running.md), or use a model of another system."
        )


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


def _chunk_gates(
    bundle: Bundle, reader: TextReader, pairs: list[tuple[str, str]], *, first: int, names: tuple[str, str]
) -> Iterator[GatedSentence]:
    """Yield the gate norms of some lines; `first` is the number of the first one, `names` are those of the texts."""
    target_words = WordTokenizer(bundle.run.text_words("target"), bundle.run.target, bundle.target_truecaser)
    targets = [bundle.target_segmenter.segment(target_words.split(text)) for _, text in pairs]
    parts = reader.parts(reader.split(text) for text, _ in pairs)
    source_lines = [part.line for part in parts]
    _check_lengths(names[0], first, {line for line, after in pairwise(source_lines) if line == after})
    _check_lengths(names[1], first, {line for line, target in enumerate(targets) if len(target.pieces) > MAX_SUBWORDS})
    parts = [part for part in parts if targets[part.line].pieces]
    examples = replace(
        reader.examples_of(parts), target=_target_side([targets[part.line] for part in parts], bundle.target_vocabulary)
    )
    norms = dict(zip((part.line for part in parts), gate_norms(bundle.model, examples), strict=True))
    for line, (source, _) in enumerate(pairs):
        if line in norms:
            yield GatedSentence(source, targets[line].pieces, norms[line][:-1])
        else:
            yield GatedSentence(source, [], np.zeros(0, dtype=np.float32))


def _check_lengths(name: str, first: int, long_lines: set[int]) -> None:
    """Raise `LineError` for the first of the lines (from 0; `first` is the number of line 0) that are too long."""
    if long_lines:
        problem = f"the line has more than {MAX_SUBWORDS:,} subwords: shorten it, or split the sentence on both sides."
        raise LineError(name, first + min(long_lines), problem)


def _target_side(targets: Sequence[Subwords], vocabulary: Vocabulary) -> SideExamples:
    return SideExamples(
        ids=Ragged.from_lists([vocabulary.ids(target.pieces) for target in targets], np.int32),
        word_of_subword=Ragged.from_lists([target.word_of_subword for target in targets], np.int32),
    )
