"""Norms of the gate in the decoder of head selection (tran2018, equation 23), computed on given translations."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.bundle import LINES_PER_CHUNK, Bundle
from nmtcore.inference.gate_files import GatedSentence
from nmtcore.inference.raw import TextReader, grouped_texts
from nmtcore.inference.sentence_batches import USE_CPU, batches_by_length, device_of, map_batches
from nmtcore.inference.text_pairs import TextFile, line_pairs, pair_characters, read_text_pairs
from nmtcore.model.batch import make_batch
from nmtcore.model.recurrent import Recurrent

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
        for pairs in grouped_texts(line_pairs(source, target), LINES_PER_CHUNK, characters=pair_characters):
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
            "Measure the gates of a test split with the workflow (docs/analysis.md), or use a model of another system."
        )


def _chunk_gates(
    bundle: Bundle, reader: TextReader, pairs: list[tuple[str, str]], *, first: int, names: tuple[str, str]
) -> Iterator[GatedSentence]:
    """Yield the gate norms of some lines; `first` is the number of the first one, `names` are those of the texts."""
    texts = read_text_pairs(bundle, reader, pairs, numbers=range(first, first + len(pairs)), names=names)
    rows = [row for row, line in enumerate(texts.lines) if texts.targets[line].pieces]
    examples = texts.examples.take(np.array(rows, dtype=np.int64))
    norms = dict(zip((texts.lines[row] for row in rows), gate_norms(bundle.model, examples), strict=True))
    for line, (source, _) in enumerate(pairs):
        if line in norms:
            yield GatedSentence(source, texts.targets[line].pieces, norms[line][:-1])
        else:
            yield GatedSentence(source, [], np.zeros(0, dtype=np.float32))
