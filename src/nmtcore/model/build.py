"""Building a run's model from its settings, and initialising its parameters."""

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from torch import nn

from nmtcore.config.components import COMPONENTS
from nmtcore.config.features import ComponentSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import BASES, BaseSettings
from nmtcore.errors import UserError
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import LabelVocabularies
from nmtcore.model.components.base import Build, Component


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
    machine has not enough memory for the parameters.
    """
    needed = 4 * run.parameter_count({"source": source_size, "target": target_size})
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise UserError(
            f"The parameters of the model of {run.system} take {needed / 1e9:,.1f} GB, and this machine has "
            f"{memory / 1e9:,.1f} GB of memory: make the model smaller."
        )
    model = BASES.configured(run.base)(
        run.model,
        source_size=source_size,
        target_size=target_size,
        joint=run.segmentation.joint,
        components=[*build_components(run.components, run.model, labels, dataset=run.dataset), *observers],
    )
    initialise_model(model, run.training.initialisation, run.training.uniform_range)
    return model


def build_components(
    settings: Mapping[str, ComponentSettings], model: BaseSettings, labels: LabelVocabularies | None = None, **of: str
) -> list[Component]:
    """Build a model's components from settings, which are keyed by their names, in order; `of` is the `dataset`."""
    builds = {name: Build(name=name, model=model, labels=labels or {}, **of) for name in settings}
    return [COMPONENTS.configured(COMPONENTS.name_of(entry))(entry, builds[name]) for name, entry in settings.items()]


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
        elif isinstance(module, nn.Linear | nn.LSTM):
            parts = 4 if isinstance(module, nn.LSTM) else getattr(module, "parts", 1)
            for name, parameter in module.named_parameters(recurse=False):
                if "bias" in name:
                    nn.init.zeros_(parameter)
                else:
                    for part in parameter.data.chunk(parts):
                        nn.init.xavier_uniform_(part)
    for module in model.modules():
        if isinstance(module, Component):
            module.initialise(initialisation)
