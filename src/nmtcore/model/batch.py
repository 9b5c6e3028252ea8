"""Making the tensors of one batch from examples."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from nmtcore.features.examples import Examples, SideExamples
from nmtcore.model.arrays import BatchArrays
from nmtcore.model.components.base import Component
from nmtcore.model.losses import TRANSLATION
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD


@dataclass(kw_only=True)
class Batch:
    """One batch on its device. Masks are True for real tokens; padding (`PAD`) is on the right."""

    source_BS: Tensor
    """Prefix, subwords, `</s>`."""
    source_mask_BS: Tensor
    target_input_BT: Tensor | None = None
    """`<s>`, subwords."""
    target_output_BT: Tensor | None = None
    """Subwords, `</s>`."""
    target_positions_N: Tensor | None = None
    """Indices of the real tokens in the flattened `target_output_BT`; computed in numpy, to avoid a GPU sync."""
    extra: dict[str, Tensor] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """The divisor of each term of the objective, by the term's name: "translation" or a component's name."""
    terms: frozenset[str] | None = None
    """Names of the requested terms of the objective; None: all."""
    tokens: int = 0
    """Number of real target tokens, `</s>` included."""

    def __len__(self) -> int:
        return len(self.source_BS)

    def includes(self, term: str) -> bool:
        """Say whether a term of the objective is requested."""
        return self.terms is None or term in self.terms


def make_batch(
    examples: Examples,
    rows_B: np.ndarray,
    components: Sequence[Component] = (),
    device: str | torch.device = "cpu",
    *,
    terms: frozenset[str] | None = None,
) -> Batch:
    """Make one batch of the rows `rows_B` of `examples`, with the arrays that the components add.

    `terms` names the requested terms of the objective (default: all); the batch has no counts for the others.
    """
    chosen = examples.take(np.asarray(rows_B, dtype=np.int64))
    prefix = [i for component in components for i in component.source_prefix]
    arrays = BatchArrays(source_BS=_padded_ids(chosen.source, prefix, [EOS]), source=chosen.source, offset=len(prefix))
    if chosen.target is not None:
        arrays.target_input_BT = _padded_ids(chosen.target, [BOS], [])
        arrays.target_output_BT = _padded_ids(chosen.target, [], [EOS])
        arrays.counts[TRANSLATION] = int(chosen.target.ids.lengths.sum()) + len(chosen)
    for component in components:
        component.add_to_batch(arrays, chosen)
    target_lengths_B = None if chosen.target is None else chosen.target.ids.lengths + 1
    batch = _to_device(arrays, target_lengths_B, torch.device(device))
    batch.terms = terms
    batch.counts = {name: count for name, count in batch.counts.items() if batch.includes(name)}
    return batch


def _padded_ids(side: SideExamples, before: list[int], after: list[int]) -> np.ndarray:
    """Add the same ids before and after each sequence, and pad the sequences to int64 (B, longest)."""
    lengths_B = side.ids.lengths
    width = len(before) + int(lengths_B.max(initial=0)) + len(after)
    ids = side.ids.padded(fill=PAD, width=width, offset=len(before)).astype(np.int64)
    ids[:, : len(before)] = before
    for i, token in enumerate(after):
        ids[np.arange(len(ids)), len(before) + lengths_B + i] = token
    return ids


def _mask(width: int, lengths_B: np.ndarray) -> np.ndarray:
    """Mark the first `lengths_B` of `width` columns: (B, width)."""
    return np.arange(width) < lengths_B[:, None]


def _to_device(arrays: BatchArrays, target_lengths_B: np.ndarray | None, device: torch.device) -> Batch:
    def move(array: np.ndarray) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)

    batch = Batch(
        source_BS=move(arrays.source_BS),
        source_mask_BS=move(_mask(arrays.source_BS.shape[1], arrays.source.ids.lengths + arrays.offset + 1)),
        extra={name: move(array) for name, array in arrays.extra.items()},
        counts=arrays.counts,
        tokens=arrays.counts.get(TRANSLATION, 0),
    )
    if target_lengths_B is not None:
        mask_BT = _mask(arrays.target_output_BT.shape[1], target_lengths_B)
        batch.target_input_BT, batch.target_output_BT = move(arrays.target_input_BT), move(arrays.target_output_BT)
        batch.target_positions_N = move(np.flatnonzero(mask_BT))
    return batch
