"""Making the tensors of one batch from examples."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from nmtcore.features.examples import Examples, SideExamples
from nmtcore.model.arrays import BatchArrays, SideArrays
from nmtcore.model.components.base import Component
from nmtcore.model.losses import TRANSLATION
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD

PIN_MEMORY = True
"""Whether batches are copied to a GPU from pinned memory, so that the host need not wait."""


@dataclass(kw_only=True)
class Batch:
    """One batch on its device. Masks are True for real tokens; padding (`PAD`) is on the right."""

    source_BS: Tensor
    """Prefix, subwords, `</s>`."""
    source_mask_BS: Tensor
    sorted_lengths_B: Tensor
    """Real tokens of the sources, the longest first, int64; always on the CPU, where packing sequences needs it."""
    source_order_2B: Tensor
    """The sources in the order of `sorted_lengths_B`, and the place of each source in that order."""
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
    multiple: int = 1,
) -> Batch:
    """Make one batch of the rows `rows_B` of `examples`, with the arrays that the components add.

    `terms` names the requested terms of the objective (default: all); the batch has no counts for the others. Padding
    makes the lengths of both sides multiples of `multiple`.
    """
    chosen = examples.take(np.asarray(rows_B, dtype=np.int64))
    prefix = [i for component in components for i in component.source_prefix]
    arrays = BatchArrays(source=_side_arrays(chosen.source, prefix, multiple))
    if chosen.target is not None:
        arrays.target = _side_arrays(chosen.target, [], multiple)
        arrays.counts[TRANSLATION] = int(chosen.target.ids.lengths.sum()) + len(chosen)
    for component in components:
        component.add_to_batch(arrays, chosen)
    batch = _to_device(arrays, torch.device(device))
    batch.terms = terms
    batch.counts = {name: count for name, count in batch.counts.items() if batch.includes(name)}
    return batch


def _side_arrays(side: SideExamples, prefix: list[int], multiple: int) -> SideArrays:
    longest = len(prefix) + int(side.ids.lengths.max(initial=0)) + 1
    width = -(-longest // multiple) * multiple
    return SideArrays(tokens_BS=_padded_ids(side, prefix, [EOS], width), examples=side, offset=len(prefix))


def _padded_ids(side: SideExamples, before: list[int], after: list[int], width: int) -> np.ndarray:
    """Add the same ids before and after each sequence, and pad the sequences to int64 (B, `width`)."""
    lengths_B = side.ids.lengths
    ids = side.ids.padded(fill=PAD, width=width, offset=len(before)).astype(np.int64)
    ids[:, : len(before)] = before
    for i, token in enumerate(after):
        ids[np.arange(len(ids)), len(before) + lengths_B + i] = token
    return ids


def _to_device(arrays: BatchArrays, device: torch.device) -> Batch:
    def move(array: np.ndarray) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        if PIN_MEMORY and device.type == "cuda":
            return tensor.pin_memory().to(device, non_blocking=True)
        return tensor.to(device)

    source, target = arrays.source, arrays.target
    # torch's order, in which recurrent models packed before sentences were sorted here: ties decide over rounding.
    lengths_B, order_B = torch.from_numpy((source.ends_B + 1).astype(np.int64)).sort(descending=True)
    batch = Batch(
        source_BS=move(source.tokens_BS),
        source_mask_BS=move(source.mask_BS),
        sorted_lengths_B=lengths_B,
        source_order_2B=move(np.stack([order_B.numpy(), np.argsort(order_B.numpy())])),
        extra={name: move(array) for name, array in arrays.extra.items()},
        counts=arrays.counts,
        tokens=arrays.counts.get(TRANSLATION, 0),
    )
    if target is not None:
        batch.target_input_BT = move(_padded_ids(target.examples, [BOS], [], target.tokens_BS.shape[1]))
        batch.target_output_BT = move(target.tokens_BS)
        batch.target_positions_N = move(np.flatnonzero(target.mask_BS))
    return batch
