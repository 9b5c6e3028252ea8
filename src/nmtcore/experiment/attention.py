"""Measuring the attention of a run on the first sentences of a split."""

from pathlib import Path

import torch

from nmtcore.config.runs import RunSettings
from nmtcore.experiment.inference import LabelFiles, check_labels
from nmtcore.experiment.load_examples import load_split
from nmtcore.inference.attention import load_observed_bundle, write_attention_of_examples
from nmtcore.model.device import choose_device


def measure_attention(
    run: RunSettings,
    *,
    model: Path,
    features: Path,
    split: str,
    sentences: int,
    output: Path,
    device: str,
    threads: int,
    labels: LabelFiles | None = None,
) -> None:
    """Write the attention of a run on the first `sentences` of a split as `ATTENTION_SCHEMA`.

    It is the attention in the encoder, if that has heads, and the attention to the source while the best translation is
    generated; `id` is that of the pair. The weights are rounded (`write_attention_of_examples`).
    """
    torch.set_num_threads(threads)
    bundle = load_observed_bundle(model, choose_device(device))
    check_labels(bundle, model, run.inference_features, labels)
    limit = run.sentences.of(split)
    stop = sentences if limit is None else min(sentences, limit)
    examples = bundle.transforms.for_translation(load_split(run, features, split, stop=stop, target=False))
    write_attention_of_examples(output, bundle, examples, run.decoding)
