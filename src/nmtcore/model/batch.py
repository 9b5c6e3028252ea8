"""A batch: its numpy arrays, to which components add, and its tensors; labels of its tokens, and sums over words.

Shapes: B sentences, J subwords, N target tokens, S source, T target, W words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nmtcore.annotation.labels import NO_LABEL, UNKNOWN_LABEL
from nmtcore.features.examples import NO_WORD, Examples, SideExamples
from nmtcore.model.losses import TRANSLATION, at_least_fp32
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD
from nmtcore.syntax.trees import NO_COLUMN

LabelVocabularies = Mapping[str, Mapping[str, Sequence[str]]]
"""Label vocabularies by side and by column of the feature files: labels["source"]["deprel"]."""


@dataclass(kw_only=True)
class BatchArrays:
    """The sources of a batch in numpy, with the prefixes of components and `</s>`, and what components add to them."""

    tokens_BS: np.ndarray
    """Prefix, subwords, `</s>`, and padding on the right."""
    examples: SideExamples
    """The sentences, in the order of the batch."""
    offset: int = 0
    """Length of the prefix. Subword i of a sentence is in column `offset + i`."""
    target: "BatchArrays | None" = None
    """The same of the targets, as they are to be generated: without `<s>`. None if there are none."""
    ids_B: np.ndarray | None = None
    """The ids of the sentences; None for targets."""
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    """The arrays that components add."""
    counts: dict[str, int] = field(default_factory=dict)
    """What each term of the objective is a sum over."""

    @classmethod
    def of(
        cls, side: SideExamples, *, prefix: Sequence[int] = (), **others: "BatchArrays | np.ndarray | None"
    ) -> "BatchArrays":
        """Pad one side of examples."""
        width = len(prefix) + int(side.ids.lengths.max(initial=0)) + 1
        tokens_BS = side.ids.padded(fill=PAD, width=width, offset=len(prefix)).astype(np.int64)
        tokens_BS[:, : len(prefix)] = prefix
        arrays = cls(tokens_BS=tokens_BS, examples=side, offset=len(prefix), **others)
        tokens_BS[np.arange(len(tokens_BS)), arrays.ends_B] = EOS
        return arrays

    @cached_property
    def ends_B(self) -> np.ndarray:
        """The column of each sentence's `</s>`."""
        return self.offset + self.examples.ids.lengths

    @cached_property
    def mask_BS(self) -> np.ndarray:
        """True for real tokens."""
        return np.arange(self.tokens_BS.shape[1]) <= self.ends_B[:, None]

    @cached_property
    def subwords(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sentence, column and word (from 0) of every subword (J), without tags that a transform added: int64."""
        words = self.examples.word_of_subword
        rows_J, positions_J = words.rows_and_columns()
        subwords_3J = np.stack([rows_J, positions_J + self.offset, words.values.astype(np.int64)])
        return tuple(subwords_3J[:, words.values != NO_WORD])

    @cached_property
    def first_subword_BW(self) -> np.ndarray:
        """The column of each word's first subword; `NO_COLUMN` after a sentence's last word."""
        rows_J, columns_J, words_J = self.subwords
        first_subword_BW = np.full((len(self.tokens_BS), words_J.max(initial=-1) + 1), NO_COLUMN)
        is_first_J = np.diff(rows_J * first_subword_BW.shape[1] + words_J, prepend=-1) != 0
        first_subword_BW[rows_J[is_first_J], words_J[is_first_J]] = columns_J[is_first_J]
        return first_subword_BW

    @cached_property
    def word_of_column_BS(self) -> np.ndarray:
        """The word (from 0) of each column of `tokens_BS`, `NO_WORD` for other tokens: int64."""
        return self._on_columns(self.subwords[2], NO_WORD)

    def of_words(self, name: str, *, fill: float) -> np.ndarray:
        """Return a feature of the word of each token, such as "governor", `fill` for tokens outside words: (B, S)."""
        feature, (rows_J, _, words_J) = self.examples.features[name], self.subwords
        return self._on_columns(feature.values[feature.offsets[rows_J] + words_J], fill)

    def _on_columns(self, values_J: np.ndarray, fill: float) -> np.ndarray:
        values_BS = np.full(self.tokens_BS.shape, fill, dtype=values_J.dtype)
        values_BS[self.subwords[:2]] = values_J
        return values_BS


@dataclass(kw_only=True)
class Batch:
    """One batch on its device. Masks are True for real tokens; padding (`PAD`) is on the right."""

    ids_B: np.ndarray
    """The ids of the examples."""
    source_BS: Tensor
    """Prefix, subwords, `</s>`."""
    source_mask_BS: Tensor
    source_words_BS: Tensor
    """The word (from 0) of each token, `NO_WORD` for tokens outside words."""
    source_lengths_B: Tensor
    """Real tokens of the sources, int64; always on the CPU, where packing sequences needs it."""
    target_input_BT: Tensor | None = None
    """`<s>`, subwords."""
    target_output_BT: Tensor | None = None
    """Subwords, `</s>`."""
    target_positions_N: Tensor | None = None
    """Indices of the real tokens in the flattened `target_output_BT`; computed in numpy, to avoid a GPU sync."""
    extra: dict[str, Tensor]
    counts: dict[str, int]
    """The divisor of each requested term of the objective, by its name: "translation" or a component's name."""
    tokens: int
    """Number of real target tokens, `</s>` included."""
    without: "Callable[[int], Batch]"
    """Makes the batch again, without the sentence in a row."""

    def __len__(self) -> int:
        return len(self.source_BS)


def make_batch(
    examples: Examples,
    rows_B: np.ndarray,
    components: Sequence[Any] = (),
    device: str | torch.device = "cpu",
    *,
    terms: frozenset[str] | None = None,
) -> Batch:
    """Make one batch of the rows `rows_B` of `examples`, with the arrays that the `Component`s add.

    `terms` names the requested terms of the objective (default: all); the batch has no counts for the others.
    """

    def move(array: np.ndarray) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        on_gpu = torch.device(device).type == "cuda"
        return (tensor.pin_memory() if on_gpu else tensor).to(device, non_blocking=on_gpu)

    chosen, prefix = examples.take(rows_B), [i for component in components for i in component.source_prefix]
    target = None if chosen.target is None else BatchArrays.of(chosen.target)
    arrays = BatchArrays.of(chosen.source, prefix=prefix, target=target, ids_B=chosen.id)
    if target is not None:
        arrays.counts[TRANSLATION] = int(target.mask_BS.sum())
    for component in components:
        component.add_to_batch(arrays)
    batch = Batch(
        ids_B=chosen.id,
        source_BS=move(arrays.tokens_BS),
        source_mask_BS=move(arrays.mask_BS),
        source_words_BS=move(arrays.word_of_column_BS),
        source_lengths_B=torch.from_numpy(arrays.ends_B + 1),
        extra={name: move(array) for name, array in arrays.extra.items()},
        counts={name: count for name, count in arrays.counts.items() if terms is None or name in terms},
        tokens=arrays.counts.get(TRANSLATION, 0),
        without=lambda row: make_batch(examples, np.delete(rows_B, row), components, device, terms=terms),
    )
    if target is not None:
        begun_BT = np.roll(target.tokens_BS, 1, axis=1)
        begun_BT[:, 0] = BOS
        batch.target_input_BT = move(np.where(begun_BT == EOS, PAD, begun_BT))
        batch.target_output_BT = move(target.tokens_BS)
        batch.target_positions_N = move(np.flatnonzero(target.mask_BS))
    return batch


def token_label_ids(arrays: BatchArrays, label_column: str, *, label_count: int) -> np.ndarray:
    """Return the label id of every token of `arrays.tokens_BS`: (B, S), int64, `NO_LABEL` for padding.

    Every subword of a word has the word's label. Ids 0 to L-1, where L is `label_count`, are those of the vocabulary
    (`NO_LABEL`, `UNKNOWN_LABEL`...), L is `</s>`, and L+1 is any prefix. A larger id of a word is `UNKNOWN_LABEL`.
    """
    ids_BS = arrays.of_words(label_column, fill=NO_LABEL).astype(np.int64)
    ids_BS[ids_BS >= label_count] = UNKNOWN_LABEL
    ids_BS[:, : arrays.offset] = label_count + 1
    ids_BS[np.arange(len(ids_BS)), arrays.ends_B] = label_count
    return ids_BS


def pool_words(scores: Tensor, words_BS: Tensor, *, count: int) -> Tensor:
    """Sum scores over the block of every pair of words (tran2018, equation 24): (B, ..., S, S) to (B, ..., W, W).

    The sums are in fp32 or float64. `words_BS` comes from `BatchArrays.word_of_column_BS`, and `count` is W. Cell
    (a, b) is the sum over the subwords of word a (rows) and word b (columns), whichever of the two is the head; a
    word's diagonal cell sums its whole block. Rows and columns without a word are ignored. Cells of words beyond a
    sentence's last word are 0.
    """
    exact = at_least_fp32(scores)
    words = words_BS.reshape(len(words_BS), *[1] * (scores.dim() - 3), words_BS.size(1))
    # Scores without a word go to an extra cell, which is dropped. Masked scores may be infinite, so multiplying them
    # by 0 would not remove them.
    cells = words.masked_fill(words == NO_WORD, count)
    columns = exact.new_zeros(*scores.shape[:-1], count + 1)
    columns = columns.scatter_add(-1, cells.unsqueeze(-2).expand(exact.shape), exact)[..., :count]
    pooled = exact.new_zeros(*scores.shape[:-2], count + 1, count)
    return pooled.scatter_add(-2, cells.unsqueeze(-1).expand(columns.shape), columns)[..., :count, :]


def tree_scores(scores_BSS: Tensor, words_BS: Tensor) -> list[np.ndarray]:
    """Turn scores of subwords (rows) as dependents of subwords into the `parse_scores` of words, by `pool_words`.

    The diagonal holds the scores of roots. Returns one float32 array (W, 1 + W) per sentence, roots in column 0; W are
    the words that have subwords.
    """
    count = int(words_BS.max()) + 1
    pooled_BWW = pool_words(scores_BSS.detach(), words_BS, count=count).float().cpu().numpy()
    words_of_sentences = (np.unique(words_S[words_S != NO_WORD]) for words_S in words_BS.cpu().numpy())
    return [
        with_root_scores(pooled_WW[np.ix_(words_W, words_W)])
        for pooled_WW, words_W in zip(pooled_BWW, words_of_sentences, strict=True)
    ]


def with_root_scores(scores_WW: np.ndarray) -> np.ndarray:
    """Move the diagonal, the scores of words (rows) as roots, to a column of its own: `parse_scores`, (W, 1 + W).

    Rows are dependents, columns heads. A word's score for itself becomes -inf.
    """
    scores_WW = scores_WW.copy()
    roots_W = scores_WW.diagonal().copy()
    np.fill_diagonal(scores_WW, -np.inf)
    return np.column_stack([roots_W, scores_WW])
