"""Factories of runs, models and examples for tests."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from named_components import by_name
from torch import Tensor

from nmtcore.config.corpora import SegmentationSettings, WordsSettings
from nmtcore.config.features import ComponentSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import DecodingSettings, EvaluationSettings, TrainingSettings, TransformerSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch, LabelVocabularies
from nmtcore.model.build import build_model
from nmtcore.model.components.base import Component
from nmtcore.model.testing import forced_logits as forced_logits

MODEL = TransformerSettings(width=16, feed_forward=32, heads=2, encoder_layers=2, decoder_layers=2)


def target_mask(batch: Batch) -> Tensor:
    """Mark the real targets of a batch, which `target_positions_N` lists: (B, T)."""
    mask_BT = torch.zeros_like(batch.target_output_BT, dtype=torch.bool)
    mask_BT.view(-1)[batch.target_positions_N] = True
    return mask_BT


def run_settings(
    *components: ComponentSettings, words: str | dict[str, WordsSettings] = "spaces", **values: Any
) -> RunSettings:
    """Make the settings of a run with a tiny model; `values` replace settings by name.

    `words` is a way of tokenisation for both sides, or the settings of each side.
    """
    words_by_side = words if isinstance(words, dict) else dict.fromkeys(("source", "target"), WordsSettings(kind=words))
    return RunSettings(
        **{
            "dataset": "tiny",
            "system": "tiny",
            "scale": "smoke",
            "seed": 1,
            "source": "en",
            "target": "de",
            "words": words_by_side,
            "segmentation": SegmentationSettings(kind="bpe", size=6, joint=True),
            "features": {},
            "annotators": {},
            "base": "transformer",
            "model": MODEL,
            "components": by_name(*components),
            "training": TrainingSettings(max_updates=1),
            "decoding": DecodingSettings(beam=3, max_length_ratio=1.0, max_length_extra=3),
            "evaluation": EvaluationSettings(),
            "tests": ("test",),
            **values,
        }
    )


def build_tiny_model(
    run: RunSettings,
    *,
    vocabulary: int,
    seed: int | None = None,
    labels: LabelVocabularies | None = None,
    extra_components: Sequence[Component] = (),
) -> TranslationModel:
    """Build the model of a run with a fixed seed; `extra_components` are called after its own."""
    torch.manual_seed(run.seed if seed is None else seed)
    return build_model(run, source_size=vocabulary, target_size=vocabulary, labels=labels, observers=extra_components)


def side(
    ids: Sequence[Sequence[int]],
    words: Sequence[Sequence[int]] | None = None,
    features: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> SideExamples:
    """Make one side from subword ids, the word of each subword (None: every subword is a word) and feature columns."""
    dtypes = {"parent_position": np.float32}
    words = [range(len(sentence)) for sentence in ids] if words is None else words
    return SideExamples(
        ids=Ragged.from_lists(ids, np.int32),
        word_of_subword=Ragged.from_lists(words, np.int32),
        features={
            name: Ragged.from_lists(lists, dtypes.get(name, np.int32)) for name, lists in (features or {}).items()
        },
    )


def examples_of(source: SideExamples, target: SideExamples | None = None) -> Examples:
    """Make examples with the ids 0, 1... from their sides."""
    return Examples(id=np.arange(len(source.ids)), source=source, target=target)
