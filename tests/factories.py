"""Settings of runs, models, and examples: what tests make them of, in one place."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from named_components import by_name
from torch import Tensor

from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.datasets import EvaluationSettings, SegmentationSettings, WordsSettings
from nmtcore.config.model import TransformerSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.model.batch import Batch
from nmtcore.model.build import build_model
from nmtcore.model.components.base import Component, Labels
from nmtcore.model.transformer import Transformer

MODEL = TransformerSettings(width=16, feed_forward=32, heads=2, encoder_layers=2, decoder_layers=2)


def target_mask(batch: Batch) -> Tensor:
    """Mark the real places of a batch's targets (B, T), as `target_places_N` tells them."""
    mask_BT = torch.zeros_like(batch.target_output_BT, dtype=torch.bool)
    mask_BT.view(-1)[batch.target_places_N] = True
    return mask_BT


def run_settings(
    *components: ComponentSettings, words: str | dict[str, WordsSettings] = "spaces", **values: Any
) -> RunSettings:
    """Settings of a run of a tiny model; `words` is a kind of them, or settings; `values` replace what they name."""
    kinds = words if isinstance(words, dict) else dict.fromkeys(("source", "target"), WordsSettings(kind=words))
    return RunSettings(
        **{
            "dataset": "tiny",
            "system": "tiny",
            "scale": "smoke",
            "seed": 1,
            "source": "en",
            "target": "de",
            "words": kinds,
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


def model_of(
    run: RunSettings,
    *,
    vocabulary: int,
    seed: int | None = None,
    labels: Labels | None = None,
    parts: Sequence[Component] = (),
) -> Transformer:
    """Build the model of a run, the same every time; `parts` are components that stand behind its own."""
    torch.manual_seed(run.seed if seed is None else seed)
    return build_model(run, source_size=vocabulary, target_size=vocabulary, labels=labels, observers=parts)


def forced_logits(model: Transformer, batch: Batch) -> Tensor:
    """Score the vocabulary at every target position of a batch: (B, T, V)."""
    return model.logits(model.decode(batch.target_input_BT, model.encode(batch)))


def side(
    ids: Sequence[Sequence[int]],
    words: Sequence[Sequence[int]] | None = None,
    features: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> SideExamples:
    """Make one side of its subwords and the word of each (None: every subword is one); `features` is by column."""
    kinds = {"parent_position": np.float32}
    return SideExamples(
        ids=Ragged.from_lists(ids, np.int32),
        word_of_subword=Ragged.from_lists([range(len(each)) for each in ids] if words is None else words, np.int32),
        features={
            name: Ragged.from_lists(lists, kinds.get(name, np.int32)) for name, lists in (features or {}).items()
        },
    )


def examples_of(source: SideExamples, target: SideExamples | None = None) -> Examples:
    """Make examples of two sides, with the ids 0, 1..."""
    return Examples(id=np.arange(len(source.ids)), source=source, target=target)
