"""Compiled layers: fewer and larger kernels for the forward and backward passes of training."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import nn

BACKEND = "inductor"


class CompiledLayers:
    """Stand in for the layers of a model during training; validation and search use the layers themselves.

    Each layer is compiled on its own, so that layers with the same code are compiled once, in a time that does not grow
    with the depth. Shapes are symbolic: batches of a token budget have hundreds of them. Dropout draws the numbers of
    the layers that are not compiled, so that results differ by rounding only.

    Compiling begins with the first pass. If it fails, that pass raises one of `errors`.
    """

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        options = {"fallback_random": True} if BACKEND == "inductor" else None
        self._layers = [
            (layer, torch.compile(layer.forward, dynamic=True, backend=BACKEND, options=options)) for layer in layers
        ]

    @staticmethod
    def errors() -> type[Exception]:
        """Return the class of all errors of the compiler; what is wrong in a layer itself raises other errors."""
        from torch._dynamo.exc import TorchDynamoException

        return TorchDynamoException

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Compute with the compiled layers within a block."""
        for layer, compiled in self._layers:
            layer.forward = compiled
        try:
            yield
        finally:
            for layer, _ in self._layers:
                del layer.forward
