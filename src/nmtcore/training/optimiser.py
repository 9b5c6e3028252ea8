"""Adam with torch's fused kernel, and gradient clipping.

`torch.optim.Adam(fused=True)` calls the same kernel, but its constructor imports torch's compiler, which takes a second
or more in every training process.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from nmtcore.config.training import TrainingSettings


class Adam:
    """Adam (Kingma and Ba 2015), or AdamW (Loshchilov and Hutter 2019) if the weights decay.

    All parameters have one dtype and device, and have gradients when `step` is called.
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
        """Update the weights with learning rate `rate`, and drop the gradients."""
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
        """Return the tensors of a checkpoint by name: both moments of every parameter, and the number of steps."""
        named = zip(self.parameters, self._means, self._squares, strict=True)
        moments = {}
        for name, mean, square in named:
            moments |= {f"{name}/mean": mean, f"{name}/square": square}
        return {"steps": self._steps, **moments}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from the tensors that `tensors` returned."""
        for name, tensor in self.tensors().items():
            tensor.copy_(tensors[name])


def clip_gradient(parameters: Sequence[nn.Parameter], max_norm: float | None) -> Tensor:
    """Return the L2 norm of the whole gradient; if it is above `max_norm`, scale the gradient down to `max_norm`."""
    norm = nn.utils.get_total_norm([parameter.grad for parameter in parameters])
    if max_norm is not None:
        nn.utils.clip_grads_with_norm_(parameters, max_norm, norm)
    return norm
