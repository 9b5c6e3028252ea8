"""Keys and values of the positions that have been decoded."""

import torch
from torch import Tensor

ROOM = 16
"""The least number of positions by which the cache grows."""


class Cache:
    """The keys and values of R rows in all Y layers, with room for Z positions.

    Rows come first, then positions: what has been decoded of a row is one block of memory, fast to copy.
    """

    def __init__(self, keys_BHSE: Tensor, layers: int) -> None:
        """Make an empty cache for the source's B sentences; heads, width and type are those of its keys."""
        sentences, heads, _, width = keys_BHSE.shape
        self.layers, self.heads, self.width = layers, heads, width
        self.length = 0
        """Number of decoded positions."""
        self._rows, self._room = sentences, ROOM
        self._pairs = keys_BHSE.new_empty(self._shape())
        self._spare = keys_BHSE.new_empty(0)
        """The memory of the previous cache, kept for reuse: allocating memory costs more than the copy."""

    def of_layers(self) -> tuple[Tensor, ...]:
        """Return a view per layer: keys and values of all rows, (R, Z, 2, H, E)."""
        # Not by `unbind`, whose views may not be written to where there are gradients.
        return tuple(self._pairs.select(2, layer) for layer in range(self.layers))

    def make_room(self) -> None:
        """Grow by half if the cache is full."""
        if self.length == self._room:
            self._move(None, self._rows, self._room + max(ROOM, self._room // 2))

    def select(self, rows_R: Tensor) -> None:
        """Continue with these rows (indices); some may be repeated, others left out."""
        self._move(rows_R, len(rows_R), self._room)

    def _move(self, rows_R: Tensor | None, rows: int, room: int) -> None:
        """Copy the decoded positions of `rows_R` (None: all rows) into a cache with room for `room` positions."""
        old, self._rows, self._room = self._pairs, rows, room
        shape = self._shape()
        size = torch.Size(shape).numel()
        if len(self._spare) < size:
            self._spare = old.new_empty(size)
        self._pairs, self._spare = self._spare[:size].view(shape), old.flatten()
        self._copy(old, rows_R, self._pairs)

    def _shape(self) -> tuple[int, ...]:
        return self._rows, self._room, self.layers, 2, self.heads, self.width

    def _copy(self, source: Tensor, rows_R: Tensor | None, target: Tensor) -> None:
        used = self.length * source[0, 0].numel()
        source, target = source.flatten(1)[:, :used], target.flatten(1)[:, :used]
        target.copy_(source) if rows_R is None else torch.index_select(source, 0, rows_R, out=target)


class CacheByPosition(Cache):
    """A cache on a CPU with positions first and rows and heads last, for `NarrowStep`: (Z, Y, 2, E, R, H)."""

    def of_layers(self) -> tuple[Tensor, ...]:
        """Return a view per layer: keys and values of all rows, (Z, 2, E, R, H)."""
        return tuple(self._pairs.select(1, layer) for layer in range(self.layers))

    def _shape(self) -> tuple[int, ...]:
        return self._room, self.layers, 2, self.width, self._rows, self.heads

    def _copy(self, source: Tensor, rows_R: Tensor | None, target: Tensor) -> None:
        source, target = source[: self.length], target[: self.length]
        target.copy_(source) if rows_R is None else take_rows(source, rows_R, out=target)


def take_rows(values: Tensor, rows_R: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Select rows of (..., R, H), on a CPU; NumPy takes two thirds of the time of `torch.index_select`."""
    *outer, _, heads = values.shape
    if out is None:
        out = values.new_empty(*outer, len(rows_R), heads)
    target = out.view(-1, len(rows_R), heads).numpy()
    # `mode` does not change what is copied; by default, NumPy copies twice.
    values.reshape(-1, values.shape[-2], heads).numpy().take(rows_R.numpy(), axis=1, out=target, mode="clip")
    return out
