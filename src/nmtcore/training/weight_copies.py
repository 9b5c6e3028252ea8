"""Copies of weights in bf16: all of them are cast at once, where autocast casts each by a kernel of its own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import nn

from nmtcore.model.components.base import Component


class WeightCopies:
    """Stand in for the weights and biases of a model's linear layers in the forward passes of an update.

    Autocast casts each of them to bf16 once per forward pass, and each gradient back once per backward pass: two small
    kernels for every tensor, in every micro-batch. These copies have the same values, and so the same gradients.
    Autocast still casts all other weights. Those of the output layer are the embeddings of the target, whose lookup
    stays in fp32; those of components of the user's own may be used where autocast is off, and then in fp32.
    """

    def __init__(self, model: nn.Module) -> None:
        copies: dict[nn.Parameter, nn.Parameter] = {}
        self._places: list[tuple[dict[str, nn.Parameter | None], str, nn.Parameter, nn.Parameter]] = []
        """Where a weight is a parameter of a layer, with its copy."""
        for layer in _linear_layers(model):
            for name, weight in layer._parameters.items():
                if weight is not None and weight.requires_grad:
                    copy = copies.setdefault(weight, nn.Parameter(torch.empty_like(weight, dtype=torch.bfloat16)))
                    self._places.append((layer._parameters, name, weight, copy))
        self._weights, self._copies = list(copies), list(copies.values())

    def tensors(self) -> Sequence[torch.Tensor]:
        """Return the copies."""
        return self._copies

    @torch.no_grad()
    def refresh(self) -> None:
        """Copy the current weights; call this after every change of them."""
        if self._copies:
            torch._foreach_copy_(self._copies, self._weights)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let the layers compute with the copies within a block."""
        for parameters, name, _, copy in self._places:
            parameters[name] = copy
        try:
            yield
        finally:
            for parameters, name, weight, _ in self._places:
                parameters[name] = weight

    @torch.no_grad()
    def move_gradients(self) -> None:
        """Add the gradients of the copies, cast to fp32, to those of the weights; the copies end without any.

        Call this after each micro-batch: sums of several are in fp32.
        """
        used = [
            (weight, copy) for weight, copy in zip(self._weights, self._copies, strict=True) if copy.grad is not None
        ]
        if not used:
            return
        gradients = [torch.empty_like(weight) for weight, _ in used]
        torch._foreach_copy_(gradients, [copy.grad for _, copy in used])
        sums, added = [], []
        for (weight, copy), gradient in zip(used, gradients, strict=True):
            if weight.grad is None:
                weight.grad = gradient
            else:
                sums.append(weight.grad)
                added.append(gradient)
            copy.grad = None
        if sums:
            torch._foreach_add_(sums, added)


def _linear_layers(module: nn.Module) -> Iterator[nn.Linear]:
    """Yield the linear layers within a module, except those of components that are not the package's."""
    if isinstance(module, Component) and type(module).__module__.partition(".")[0] != "nmtcore":
        return
    if isinstance(module, nn.Linear):
        yield module
    for child in module.children():
        yield from _linear_layers(child)
