"""Adam by torch's fused kernel, and the length of the gradient.

`torch.optim.Adam(fused=True)` calls the same kernel, but making one imports torch's compiler: a second or more for
every process that trains.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from nmtcore.config.training import TrainingSettings


class Adam:
    """Adam (Kingma and Ba 2015); AdamW (Loshchilov and Hutter 2019) where the weights decay.

    All parameters are of one type and on one device, and have gradients when `step` is called.
    """

    def __init__(self, parameters: Mapping[str, nn.Parameter], settings: TrainingSettings) -> None:
        self.parameters = dict(parameters)
        self._settings = settings
        values = list(self.parameters.values())
        self._means = [torch.zeros_like(p, requires_grad=False) for p in values]
        self._squares = [torch.zeros_like(p, requires_grad=False) for p in values]
        self._steps = torch.zeros((), device=values[0].device)

    @torch.no_grad()
    def step(self, *, rate: float) -> None:
        """Move the weights with learning rate `rate`, and forget the gradients."""
        values, settings = list(self.parameters.values()), self._settings
        self._steps += 1
        kernel = torch._fused_adamw_ if settings.weight_decay else torch._fused_adam_
        kernel(
            values,
            [parameter.grad for parameter in values],
            self._means,
            self._squares,
            [],
            [self._steps] * len(values),
            lr=rate,
            beta1=settings.betas[0],
            beta2=settings.betas[1],
            weight_decay=settings.weight_decay,
            eps=settings.epsilon,
            amsgrad=False,
            maximize=False,
        )
        for parameter in values:
            parameter.grad = None

    def tensors(self) -> dict[str, Tensor]:
        """Give what a checkpoint needs, by name: the moments of every parameter, and the number of steps."""
        named = zip(self.parameters, self._means, self._squares, strict=True)
        moments = {f"{name}/{kind}": tensor for name, *pair in named for kind, tensor in zip(_KINDS, pair, strict=True)}
        return {_STEPS: self._steps, **moments}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from what `tensors` gave."""
        for name, tensor in self.tensors().items():
            tensor.copy_(tensors[name])


_KINDS = ("mean", "square")
_STEPS = "steps"


def clip(parameters: Sequence[nn.Parameter], longest: float | None) -> Tensor:
    """Give the L2 norm of the whole gradient; where it is longer than `longest`, scale the gradient down to that."""
    norm = nn.utils.get_total_norm([parameter.grad for parameter in parameters])
    if longest is not None:
        nn.utils.clip_grads_with_norm_(parameters, longest, norm)
    return norm
