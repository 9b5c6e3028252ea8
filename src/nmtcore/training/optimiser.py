"""The optimiser of training, whose state has names in checkpoints."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from nmtcore.config.training import TrainingSettings


class Adam:
    """Adam (Kingma and Ba 2015), or AdamW (Loshchilov and Hutter 2019) if the weights decay, with torch's fused kernel.

    All parameters have one device.
    """

    def __init__(self, parameters: Mapping[str, nn.Parameter], settings: TrainingSettings) -> None:
        self.parameters = dict(parameters)
        self._adam = torch.optim.Adam(
            self.parameters.values(),
            betas=settings.betas,
            eps=settings.epsilon,
            weight_decay=settings.weight_decay,
            decoupled_weight_decay=True,
            fused=True,
        )

    def step(self, *, rate: float) -> None:
        """Update the weights with learning rate `rate`, and drop the gradients."""
        self._adam.param_groups[0]["lr"] = rate
        self._adam.step()
        self._adam.zero_grad()

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors of a checkpoint by name: of every parameter both moments and the number of steps."""
        states = {name: self._adam.state[parameter] for name, parameter in self.parameters.items()}
        return {f"{name}/{key}": tensor for name, state in states.items() for key, tensor in state.items()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from the tensors that `tensors` returned."""
        for name, parameter in self.parameters.items():
            state = {key: tensors[f"{name}/{key}"] for key in ("step", "exp_avg", "exp_avg_sq")}
            self._adam.state[parameter] = {key: tensor.to(parameter.device) for key, tensor in state.items()}
