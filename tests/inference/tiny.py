"""Tiny models with random weights, as bundles or in memory."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from factories import build_tiny_model, run_settings, side

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.features.examples import Examples
from nmtcore.features.schema import labels_of
from nmtcore.features.transforms.chain import run_vocabularies
from nmtcore.inference.bundle import save_bundle
from nmtcore.model.transformer import Transformer
from nmtcore.segmentation.vocabulary import Vocabulary

MERGES = ["t h", "th e</w>", "c a", "ca t</w>", "d o", "do g</w>"]
PIECES = ["the", "cat", "dog", "ca@@", "do@@", "th@@", *(f"{c}@@" for c in "abcdeghot"), *"abcdeghot.,"]


def write_segmentation(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "codes").write_text("#version: 0.2\n" + "".join(f"{merge}\n" for merge in MERGES))
    for name in ("source", "target"):
        Vocabulary.of(PIECES).save(folder / f"{name}.vocab")
    return folder


def write_bundle(
    folder: Path, run: RunSettings | None = None, *, seed: int = 1, label_names: Sequence[str] = ("a",)
) -> Path:
    run = run or run_settings()
    segmentation = write_segmentation(folder.parent / "segmentation")
    labels = {
        side: {column: [*LABEL_SPECIALS, *label_names] for column in columns}
        for side, features in run.features.items()
        if (columns := labels_of(features))
    }
    size = len(run_vocabularies(run, segmentation, labels)["source"])
    model = build_tiny_model(run, vocabulary=size, seed=seed, labels=labels or None)
    save_bundle(folder, run=run, model=model, segmentation=segmentation, labels=labels)
    return folder


def random_model(
    *components: ComponentSettings, seed: int = 1, vocabulary: int = 17, joint: bool = True
) -> Transformer:
    """Make a model in float64 and evaluation mode whose predictions are far from uniform."""
    segmentation = SegmentationSettings(kind="bpe", size=6, joint=joint)
    model = build_tiny_model(run_settings(*components, segmentation=segmentation), vocabulary=vocabulary, seed=seed)
    with torch.no_grad():
        model.target_embedding.weight.mul_(3)
    return model.double().eval()


def random_examples(count: int, *, seed: int = 1, longest: int = 9, vocabulary: int = 17) -> Examples:
    random = np.random.default_rng(seed)
    lengths = random.integers(0, longest + 1, count)
    ids = [random.integers(5, vocabulary, n) for n in lengths]
    words = [np.minimum.accumulate(np.cumsum(random.random(n) < 0.7)[::-1])[::-1] if n else [] for n in lengths]
    words = [np.asarray(w) - w[0] if len(w) else w for w in words]
    return Examples(id=np.arange(count) * 2, source=side(ids, words))
