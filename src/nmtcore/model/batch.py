"""From examples to the tensors of one batch.

B batch, S source length (with prefix and end of sentence), T target length (with end of sentence), W words,
N real target tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from nmtcore.features.examples import Examples, SideExamples
from nmtcore.model.arrays import Arrays
from nmtcore.model.components.base import Component
from nmtcore.model.losses import TRANSLATION
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD


@dataclass(kw_only=True)
class Batch:
    """One batch on its device. Masks are True where a token is real; padding stands on the right, with id `PAD`."""

    source_BS: Tensor
    """Prefix, subwords, `</s>`."""
    source_mask: Tensor
    target_input_BT: Tensor | None = None
    """`<s>`, subwords."""
    target_output_BT: Tensor | None = None
    """Subwords, `</s>`."""
    target_places_N: Tensor | None = None
    """The real positions of `target_output_BT`, flattened: known beforehand, so that no device has to count."""
    extra: dict[str, Tensor] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """What each part of the objective is divided by: "translation", and the components' names."""
    terms: frozenset[str] | None = None
    """The parts of the objective that this batch is for; None: all. Without targets there is none for translation."""
    tokens: int = 0
    """Real target tokens, `</s>` included."""

    def __len__(self) -> int:
        return len(self.source_BS)

    def wants(self, name: str) -> bool:
        """Say whether a part of the objective is asked for."""
        return self.terms is None or name in self.terms


def make_batch(
    examples: Examples,
    rows: np.ndarray,
    components: Sequence[Component] = (),
    device: str | torch.device = "cpu",
    *,
    terms: frozenset[str] | None = None,
) -> Batch:
    """Lay the rows `rows` of `examples` into one batch, with what the components add.

    `terms` names the parts of the objective that it is for, by default all; nothing is counted for the others.
    """
    chosen = examples.take(np.asarray(rows, dtype=np.int64))
    prefix = [i for component in components for i in component.source_prefix]
    arrays = Arrays(source_BS=_rectangle(chosen.source, prefix, [EOS]), source=chosen.source, offset=len(prefix))
    if chosen.target is not None:
        arrays.target_input_BT = _rectangle(chosen.target, [BOS], [])
        arrays.target_output_BT = _rectangle(chosen.target, [], [EOS])
        arrays.counts[TRANSLATION] = int(chosen.target.ids.lengths.sum()) + len(chosen)
    for component in components:
        component.on_arrays(arrays, chosen)
    target_lengths = None if chosen.target is None else chosen.target.ids.lengths + 1
    batch = _to_device(arrays, target_lengths, torch.device(device))
    batch.terms = terms
    batch.counts = {name: count for name, count in batch.counts.items() if batch.wants(name)}
    return batch


def _rectangle(side: SideExamples, before: list[int], after: list[int]) -> np.ndarray:
    """Pad the sequences, each between the same ids, to int64 (B, longest)."""
    lengths = side.ids.lengths
    width = len(before) + int(lengths.max(initial=0)) + len(after)
    array = side.ids.padded(fill=PAD, width=width, offset=len(before)).astype(np.int64)
    array[:, : len(before)] = before
    for i, token in enumerate(after):
        array[np.arange(len(array)), len(before) + lengths + i] = token
    return array


def _mask(array: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    return np.arange(array.shape[1]) < lengths[:, None]


def _to_device(arrays: Arrays, target_lengths: np.ndarray | None, device: torch.device) -> Batch:
    def move(array: np.ndarray) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)

    batch = Batch(
        source_BS=move(arrays.source_BS),
        source_mask=move(_mask(arrays.source_BS, arrays.source.ids.lengths + arrays.offset + 1)),
        extra={name: move(array) for name, array in arrays.extra.items()},
        counts=arrays.counts,
        tokens=arrays.counts.get(TRANSLATION, 0),
    )
    if target_lengths is not None:
        mask_BT = _mask(arrays.target_output_BT, target_lengths)
        batch.target_input_BT, batch.target_output_BT = move(arrays.target_input_BT), move(arrays.target_output_BT)
        batch.target_places_N = move(np.flatnonzero(mask_BT))
    return batch
