"""Tiny models with random weights, as bundles and by themselves."""

from pathlib import Path

import numpy as np
import torch
from named_components import by_name

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.datasets import EvaluationSettings, SegmentationSettings, WordsSettings
from nmtcore.config.model import TransformerSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.features.schema import labels_of
from nmtcore.inference.bundle import save_bundle
from nmtcore.model.build import build_components, build_model, initialise
from nmtcore.model.transformer import Transformer
from nmtcore.segmentation.vocabulary import Vocabulary

MODEL = TransformerSettings(width=16, feed_forward=32, heads=2, encoder_layers=2, decoder_layers=2)
MERGES = ["t h", "th e</w>", "c a", "ca t</w>", "d o", "do g</w>"]
PIECES = ["the", "cat", "dog", "ca@@", "do@@", "th@@", *(f"{c}@@" for c in "abcdeghot"), *"abcdeghot.,"]


def run_settings(
    *components: ComponentSettings, words: str | dict[str, WordsSettings] = "spaces", **values
) -> RunSettings:
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
            "segmentation": SegmentationSettings(kind="bpe", size=len(MERGES), joint=True),
            "syntax": {},
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


def write_segmentation(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "codes").write_text("#version: 0.2\n" + "".join(f"{merge}\n" for merge in MERGES))
    for side in ("source", "target"):
        Vocabulary.of(PIECES).save(folder / f"{side}.vocab")
    return folder


def write_bundle(folder: Path, run: RunSettings | None = None, *, seed: int = 1) -> Path:
    run = run or run_settings()
    size = len(Vocabulary.of(PIECES))
    labels = {
        side: {column: [*LABEL_SPECIALS, "a"] for column in columns}
        for side, features in run.syntax.items()
        if (columns := labels_of(features))
    }
    torch.manual_seed(seed)
    model = build_model(run, source_size=size, target_size=size, labels=labels or None)
    segmentation = write_segmentation(folder.parent / "segmentation")
    save_bundle(folder, run=run, model=model, segmentation=segmentation, labels=labels)
    return folder


def random_model(
    *components: ComponentSettings, seed: int = 1, vocabulary: int = 17, joint: bool = True
) -> Transformer:
    """A model in float64 and evaluation mode whose predictions are far from flat."""
    torch.manual_seed(seed)
    model = Transformer(
        MODEL,
        source_size=vocabulary,
        target_size=vocabulary,
        joint=joint,
        components=build_components(by_name(*components), MODEL),
    )
    initialise(model)
    with torch.no_grad():
        model.target_embedding.weight.mul_(3)
    return model.double().eval()


def random_examples(count: int, *, seed: int = 1, longest: int = 9, vocabulary: int = 17) -> Examples:
    random = np.random.default_rng(seed)
    lengths = random.integers(0, longest + 1, count)
    ids = [random.integers(5, vocabulary, n) for n in lengths]
    words = [np.minimum.accumulate(np.cumsum(random.random(n) < 0.7)[::-1])[::-1] if n else [] for n in lengths]
    words = [np.asarray(w) - w[0] if len(w) else w for w in words]
    side = SideExamples(ids=Ragged.from_lists(ids, np.int32), word_of_subword=Ragged.from_lists(words, np.int32))
    return Examples(id=np.arange(count) * 2, source=side)
