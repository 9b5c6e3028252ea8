"""From a run's settings to its model, and the first values of its parameters."""

from collections.abc import Mapping, Sequence
from typing import Literal

from torch import nn

from nmtcore.config.components import COMPONENTS, ComponentSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.errors import UserError
from nmtcore.model.attention import Packed
from nmtcore.model.components.base import Component, Labels
from nmtcore.model.transformer import Transformer


def build_model(
    run: RunSettings,
    *,
    source_size: int,
    target_size: int,
    labels: Labels | None = None,
    observers: Sequence[Component] = (),
) -> Transformer:
    """Build the model of a run and initialise it by its recipe, from torch's random generator.

    `observers` stand behind the run's own components and have no parameters.
    """
    if run.base != "transformer":
        raise UserError(f"The system {run.system} has the base '{run.base}'. Valid are: transformer.")
    model = Transformer(
        run.model,
        source_size=source_size,
        target_size=target_size,
        joint=run.segmentation.joint,
        components=[*build_components(run.components, run.model, labels), *observers],
    )
    initialise(model, run.training.initialisation, run.training.uniform_range)
    return model


def build_components(
    settings: Mapping[str, ComponentSettings], model: TransformerSettings, labels: Labels | None = None
) -> list[Component]:
    """Build components by name, in order; their modules are imported here."""
    return [
        component_class(COMPONENTS.name_of(entry))(entry, name=name, model=model, labels=labels)
        for name, entry in settings.items()
    ]


def component_class(kind: str) -> type[Component]:
    """Find the class of a kind of component: `Pascal` in its module, where the settings are `PascalSettings`."""
    return getattr(COMPONENTS.module(kind), COMPONENTS[kind].__name__.removesuffix("Settings"))


def initialise(model: nn.Module, kind: Literal["xavier", "uniform"] = "xavier", uniform_range: float = 0.04) -> None:
    """Draw all parameters afresh.

    "xavier": matrices by Glorot and Bengio's uniform distribution (layers that were packed into one, each by
    itself), biases 0, embeddings N(0, 1/D). "uniform": everything U(-uniform_range, uniform_range). Layer norms
    start at 1 and 0 either way. Components then set what they want otherwise.
    """
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.reset_parameters()
        elif kind == "uniform":
            for parameter in module.parameters(recurse=False):
                nn.init.uniform_(parameter, -uniform_range, uniform_range)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        elif isinstance(module, nn.Linear):
            _xavier(module)
    for module in model.modules():
        if isinstance(module, Component):
            module.initialise(kind)


def _xavier(linear: nn.Linear) -> None:
    parts = linear.parts if isinstance(linear, Packed) else 1
    for part in linear.weight.data.chunk(parts):
        nn.init.xavier_uniform_(part)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)
