"""Models of configured systems with random weights, in any size."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from nmtcore.config.bases import BaseSettings
from nmtcore.config.components import COMPONENTS, check_composition
from nmtcore.config.project import Project
from nmtcore.model.base import TranslationModel
from nmtcore.model.build import build_model
from nmtcore.model.components.base import LabelVocabularies

CONFIG = Path(__file__).parents[1] / "config"
BASELINES = {"transformer": "transformer_base", "recurrent": "nmt"}
"""The system without components of each base."""


def random_model(
    system: str,
    sizes: Mapping[str, BaseSettings],
    *,
    vocabulary: int,
    joint: bool = True,
    labels: LabelVocabularies | None = None,
    config: Path = CONFIG,
) -> TranslationModel:
    """Build the model of a system; `sizes` has the settings of the models by base."""
    project = Project.load(config)
    parts = project.system(system)
    settings = sizes[parts.base]
    components = {name: COMPONENTS.build_named(name, entry, where=system) for name, entry in parts.components.items()}
    check_composition(components, parts.base, settings, where=system)
    run = project.run("demo_en2de", BASELINES[parts.base], "paper", 1)
    run = replace(run, model=settings, components=components, segmentation=replace(run.segmentation, joint=joint))
    return build_model(run, source_size=vocabulary, target_size=vocabulary, labels=labels)
