"""Building a run's model from its settings, and initialising its parameters."""

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from torch import nn

from nmtcore.config.bases import BASES, BaseSettings
from nmtcore.config.components import COMPONENTS
from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.registry import Registry
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import LabelVocabularies
from nmtcore.model.components.base import Build, Component

BYTES_PER_PARAMETER = 4
"""Models are built in fp32."""


def build_model(
    run: RunSettings,
    *,
    source_size: int,
    target_size: int,
    labels: LabelVocabularies | None = None,
    observers: Sequence[Component] = (),
) -> TranslationModel:
    """Build the model of a run and initialise it as its recipe says, with torch's random generator.

    `observers` are components without parameters that are called after the run's own. Raises `UserError` if the
    machine has not enough memory for the parameters, or if the model cannot be built for another reason.
    """
    parameters = count_parameters(run, source_size=source_size, target_size=target_size, labels=labels)
    if parameters * BYTES_PER_PARAMETER > (memory := memory_bytes()):
        raise UserError(
            f"The model of {run.system} has {parameters:,} parameters, which take "
            f"{parameters * BYTES_PER_PARAMETER / 1e9:,.1f} GB, and this machine has {memory / 1e9:,.1f} GB of memory: "
            "make the model smaller."
        )
    try:
        model = implementation(BASES, run.base)(
            run.model,
            source_size=source_size,
            target_size=target_size,
            joint=run.segmentation.joint,
            components=[*build_components(run.components, run.model, labels), *observers],
        )
        initialise_model(model, run.training.initialisation, run.training.uniform_range)
    except (MemoryError, OverflowError, RuntimeError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise UserError(f"The model of {run.system} cannot be built ({reason}): check its settings.") from error
    return model


def count_parameters(
    run: RunSettings, *, source_size: int, target_size: int, labels: LabelVocabularies | None = None
) -> int:
    """Count the parameters of a run's model before it is built; see `RunSettings.parameter_count`."""
    counts = {f"{side}.{name}": len(entries) for side, own in (labels or {}).items() for name, entries in own.items()}
    return run.parameter_count(sizes={"source": source_size, "target": target_size}, labels=counts)


def memory_bytes() -> int:
    """Return the size of this machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def build_components(
    settings: Mapping[str, ComponentSettings], model: BaseSettings, labels: LabelVocabularies | None = None
) -> list[Component]:
    """Build a model's components from their settings, which are keyed by the components' names; keep the order."""
    return [
        implementation(COMPONENTS, COMPONENTS.name_of(entry))(entry, Build(name=name, model=model, labels=labels or {}))
        for name, entry in settings.items()
    ]


def implementation(registry: Registry, registered_name: str) -> type:
    """Import what a registered settings class configures: for `PascalSettings` the class `Pascal` in its module."""
    class_name = registry[registered_name].__name__.removesuffix("Settings")
    return registry.member(registered_name, class_name)


def initialise_model(
    model: nn.Module, initialisation: Literal["xavier", "uniform"] = "xavier", uniform_range: float = 0.04
) -> None:
    """Initialise all parameters.

    "xavier": matrices from Glorot and Bengio's uniform distribution (packed layers separately), biases 0, embeddings
    N(0, 1/D). "uniform": everything from U(-uniform_range, uniform_range). In both cases layer norms start at 1 and 0,
    and components then change their own parameters if they need to.
    """
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.reset_parameters()
        elif initialisation == "uniform":
            for parameter in module.parameters(recurse=False):
                nn.init.uniform_(parameter, -uniform_range, uniform_range)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        elif isinstance(module, nn.Linear):
            _xavier(module)
        elif isinstance(module, nn.LSTM):
            for name, parameter in module.named_parameters():
                nn.init.zeros_(parameter) if "bias" in name else _xavier_parts(parameter, 4)
    for module in model.modules():
        if isinstance(module, Component):
            module.initialise(initialisation)


def _xavier(linear: nn.Linear) -> None:
    _xavier_parts(linear.weight, getattr(linear, "parts", 1))
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)


def _xavier_parts(weight: nn.Parameter, parts: int) -> None:
    for part in weight.data.chunk(parts):
        nn.init.xavier_uniform_(part)
