"""Models of configured systems with random weights, in any size, and random sources for them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from nmtcore.config.components import COMPONENTS, check_composition
from nmtcore.config.project import Project
from nmtcore.config.training import BaseSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
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


def random_sources(sentences: int, vocabulary: int) -> Examples:
    """Draw sentences as long as those of Multi30k with 6,000 merges: 15 subwords on average, 3 to 45."""
    random = np.random.default_rng(1)
    lengths = np.clip(random.gamma(6.0, 2.5, sentences).round().astype(np.int64), 3, 45)
    ids = Ragged.from_lengths(random.integers(5, vocabulary, lengths.sum(), dtype=np.int32), lengths)
    words = Ragged.from_lengths(np.concatenate([np.arange(n, dtype=np.int32) for n in lengths]), lengths)
    return Examples(id=np.arange(sentences), source=SideExamples(ids=ids, word_of_subword=words))
