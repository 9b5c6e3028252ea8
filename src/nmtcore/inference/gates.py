"""Norms of the gate in the decoder of head selection (tran2018, equation 23), computed on given translations."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from nmtcore.errors import UserError
from nmtcore.features.examples import NO_WORD, Examples, check_ids
from nmtcore.inference.batches import in_batches
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.schemas import GATES_SCHEMA, GatedSentence, shades
from nmtcore.inference.scoring import read_text_pairs
from nmtcore.inference.text import InputSentence
from nmtcore.model.batch import Batch
from nmtcore.model.recurrent import Recurrent
from nmtcore.parquet import read_rows, write_rows
from nmtcore.segmentation.vocabulary import EOS, Vocabulary


def gate_norms(model: Recurrent, examples: Examples) -> list[np.ndarray]:
    """Compute the L2 norm of the gate with which every target token is predicted: (T,) per pair, `</s>` included.

    The tokens of the given targets are fed to the decoder, which must have a gate (`check_has_gates`).
    """
    gated = next(own for own in model.components if own.settings and own.settings.gates_output)

    def work(batch: Batch, rows_B: np.ndarray) -> list[np.ndarray]:
        hidden_BTD = model.hidden_states(batch.target_input_BT, model.encode(batch))
        norms_BT = gated.gate_norms(hidden_BTD).float().cpu().numpy()
        lengths = examples.target.ids.lengths[rows_B] + 1
        return [norms_T[:length] for norms_T, length in zip(norms_BT, lengths, strict=True)]

    return in_batches(model, examples, work)


def read_gates(
    bundle: Bundle,
    source: Iterable[InputSentence],
    target: Iterable[InputSentence],
    *,
    model_folders: Sequence[Path] = (),
) -> Iterator[GatedSentence]:
    """Compute the gate norms of sentence pairs, one per line of two texts, in order.

    Raises `UserError` if the model has no gate in the decoder, and the errors of `read_text_pairs`.
    """
    check_has_gates(bundle)
    if bundle.transforms.tags_targets:
        raise UserError(
            f"The system {bundle.run.system} generates tags among the words, which the given translations lack. "
            "Measure the gates of a test split with the workflow (docs/analysis.md), or use a model of another system."
        )
    for chunk, targets in read_text_pairs(bundle, source, target, model_folders=model_folders):
        norms = chunk.by_sentence(gate_norms(bundle.model, chunk.examples))
        for sentence, subwords, own in zip(chunk.sentences, targets, norms, strict=True):
            # Without words in the source there are no norms; without words in the target, there is that of `</s>`.
            norms_T = own[0][:-1] if own else np.zeros(0, dtype=np.float32)
            yield GatedSentence(sentence.text, subwords.pieces if own else [], norms_T)


def check_has_gates(bundle: Bundle) -> None:
    """Raise `UserError` if a model has no gate in the decoder."""
    if not bundle.run.has_gates:
        raise UserError(
            f"The system {bundle.run.system} has no gate in the decoder. Use a model of another system, for example "
            "sa_nmt_shared."
        )


def write_gates(
    path: Path,
    examples: Examples,
    norms: Sequence[np.ndarray],
    vocabulary: Vocabulary,
    *,
    tokens: Path,
    tags: Path | None = None,
) -> None:
    """Write the gate norms of sentence pairs as `GATES_SCHEMA`.

    `norms` has one array per pair, with `</s>`. `tokens` is the file of the targets' subwords, and `tags` the
    annotation of the target side, if there is any. Raises `UserError` if the annotation has other pairs, or another
    number of words.
    """
    tags_of_words = [None] * len(examples) if tags is None else _read_tags(tags, examples, tokens=tokens)
    target = examples.target
    columns = zip(examples.id, target.ids, target.word_of_subword, tags_of_words, norms, strict=True)
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


def _read_tags(path: Path, examples: Examples, *, tokens: Path) -> list[list[str] | None]:
    """Read the UPOS tags of the target words of every pair; None for a sentence without tags."""
    rows = list(read_rows(path, columns=["id", "upos"], stop=len(examples)))
    check_ids(examples.id, np.array([row["id"] for row in rows], dtype=np.int64), tokens, path)
    for row, words in zip(rows, examples.target.word_counts.tolist(), strict=True):
        if row["upos"] is not None and len(row["upos"]) != words:
            raise UserError(
                f"{path}: the row with id {row['id']} has {len(row['upos'])} tags, but {words} words: delete the file "
                "and run the workflow again."
            )
    return [row["upos"] for row in rows]


def plain_line(sentence: GatedSentence) -> str:
    """Write every subword of a target with its norm; an asterisk marks the largest."""
    pieces = zip(sentence.pieces, sentence.norms.tolist(), shades(sentence.norms).tolist(), strict=True)
    return " ".join(f"{'*' if shade == 1 else ''}{piece}[{norm:.2f}]" for piece, norm, shade in pieces)
