"""Measuring the gate norms of a run on the references of a split."""

from pathlib import Path

import torch

from nmtcore.config.runs import RunSettings
from nmtcore.experiment.inference import LabelFiles, check_labels
from nmtcore.experiment.load_examples import load_split
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.gate_files import write_gates
from nmtcore.inference.gates import check_has_gates, gate_norms
from nmtcore.layout import file_name
from nmtcore.model.device import choose_device


def measure_gates(
    run: RunSettings,
    *,
    model: Path,
    features: Path,
    split: str,
    tags: Path | None,
    output: Path,
    device: str,
    threads: int,
    labels: LabelFiles | None = None,
) -> None:
    """Write the gate norms of a run on the references of a split as `GATES_SCHEMA`.

    `tags` is the annotation of the target side, if there is any.
    """
    torch.set_num_threads(threads)
    bundle = load_bundle(model, choose_device(device))
    check_labels(bundle, model, run.features, labels)
    check_has_gates(bundle)
    pairs = bundle.transforms.for_translation(load_split(run, features, split, stop=run.sentences.of(split)))
    tokens = features / file_name("tokens", split=split, side="target")
    norms = gate_norms(bundle.model, pairs)
    write_gates(output, pairs, norms, bundle.target_vocabulary, tokens=tokens, tags=tags)
