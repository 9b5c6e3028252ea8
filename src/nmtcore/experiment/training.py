"""Training a run: a job as plain values, and what it reads and writes."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import torch
from torch import nn

from nmtcore.config.runs import RunSettings, run_from_json
from nmtcore.evaluation.bleu import score_translations
from nmtcore.experiment.load_examples import load_sources, load_training, run_labels
from nmtcore.experiment.output import Output
from nmtcore.features.examples import Examples, concatenate
from nmtcore.features.transforms.chain import Transforms, run_vocabularies
from nmtcore.inference.bundle import MANIFEST, load_initial_weights, save_bundle
from nmtcore.inference.translate import translate_examples
from nmtcore.model.build import build_model
from nmtcore.model.device import choose_device
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary
from nmtcore.training.distributed import silent
from nmtcore.training.fingerprint import checkpoint_folder, hash_files
from nmtcore.training.train import train


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """What a training process is told, as plain values; paths are relative to the working directory."""

    run: dict[str, Any]
    features: str
    """The folder of the data set's features under the run's segmentation."""
    segmentation: str
    labels: dict[str, dict[str, str]]
    """Files of label vocabularies by side and annotator, where components read trees."""
    dev_corpus: str
    checkpoints: str
    model: str
    """The bundle to write."""
    history: str
    """The log to write, JSON lines."""
    device: str
    gpus: int
    threads: int
    start: str | None = None
    """The bundle of `run.start_from`, which gives the first weights."""


def train_run(job: TrainingJob, *, terminal: TextIO | None = None) -> None:
    """Train one run from its features and write its bundle and log; goes on from its last checkpoint."""
    torch.set_num_threads(job.threads)
    run, segmentation = run_from_json(job.run, where="the training job"), Path(job.segmentation)
    vocabularies = run_vocabularies(run, segmentation)
    examples, files = _training_data(run, Transforms.of(run, vocabularies), Path(job.features))
    files += sorted(path for path in segmentation.iterdir() if path.is_file())
    files += [Path(job.start, MANIFEST)] if job.start else []
    labels = run_labels(run, job.labels)
    main = os.environ.get("RANK", "0") == "0"
    checkpoints = checkpoint_folder(Path(job.checkpoints), run, data=hash_files(files), log=print if main else silent)

    torch.manual_seed(run.seed)
    sizes = {f"{side}_size": len(vocabulary) for side, vocabulary in vocabularies.items()}
    model = build_model(run, **sizes, labels=labels or None)
    if job.start:
        load_initial_weights(model, Path(job.start), run=run, segmentation=segmentation)
    treebanks = [examples[split] for split in run.treebanks]
    train(
        run,
        model,
        examples.get("train"),
        examples["dev"],
        treebank=concatenate(treebanks) if treebanks else None,
        folder=Path(job.history).parent,
        checkpoints=checkpoints,
        validate=_validator(run, vocabularies, job),
        device=choose_device(job.device),
        terminal=terminal,
    )
    if main:
        save_bundle(Path(job.model), run=run, model=model, segmentation=segmentation, labels=labels or None)


def _training_data(run: RunSettings, transforms: Transforms, folder: Path) -> tuple[dict[str, Examples], list[Path]]:
    """Load what a run trains on and validates with, and name the files."""
    examples = {split: load_training(run, transforms, folder, split) for split in run.training_splits}
    return examples, [folder / name for split in run.training_splits for name in run.feature_files(split)]


def _validator(
    run: RunSettings, vocabularies: Mapping[str, Vocabulary], job: TrainingJob
) -> Callable[[nn.Module], dict[str, float]] | None:
    """Make the function that training calls to score the development set; None where perplexity is enough."""
    if run.training.validation.metric == "perplexity":
        return None
    transforms = Transforms.of(run, vocabularies)
    segmenter = Segmenter.load(job.segmentation, run.segmentation, "target")
    output = Output(run, vocabularies["target"], segmenter, transforms)
    dev = load_sources(run, transforms, Path(job.features), "dev")
    references = output.references(Path(job.dev_corpus), len(dev))
    settings = replace(run.decoding, beam=run.training.validation.beam)

    def validate(model: nn.Module) -> dict[str, float]:
        best = [hypotheses[0] for hypotheses in translate_examples(model, dev, settings)]
        return {"bleu": score_translations(list(map(output.text, best)), references, run.evaluation)["bleu"]}

    return validate
