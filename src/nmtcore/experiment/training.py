"""Training jobs: a run trained from its feature files into a bundle."""

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from nmtcore.config.runs import RunSettings, run_from_json
from nmtcore.evaluation.metrics import score_translations
from nmtcore.evaluation.outputs import read_references
from nmtcore.experiment.inference import scored_output
from nmtcore.experiment.load_examples import load_run_labels, load_sources, load_training
from nmtcore.features.examples import concatenate
from nmtcore.features.transforms.chain import Transforms, run_vocabularies
from nmtcore.files import write_json
from nmtcore.inference.bundle import MANIFEST, load_initial_weights, save_bundle
from nmtcore.inference.search import translate_examples
from nmtcore.layout import file_name
from nmtcore.model.build import build_model
from nmtcore.model.device import choose_device
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary
from nmtcore.training.attempts import read_attempts, recorded_attempt
from nmtcore.training.checkpoints import checkpoint_folder
from nmtcore.training.trainer import train
from nmtcore.training.world import silent


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """The arguments of a training process, as plain values; paths are relative to the working directory."""

    run: dict[str, Any]
    """The run's settings (`run_to_json`)."""
    features: str
    """The folder of the data set's features under the run's segmentation."""
    segmentation: str
    """The folder of the run's segmentation."""
    labels: dict[str, dict[str, str]]
    """The files of label vocabularies by side and annotator, for components and transforms that read annotations."""
    dev_corpus: str
    """The corpus file with the dev set's references."""
    checkpoints: str
    """The folder of the run's checkpoints."""
    model: str
    """The folder of the bundle to write."""
    history: str
    """The log to write, JSON lines."""
    device: str
    gpus: int
    threads: int
    start: str | None = None
    """The bundle of `run.start_from`, from which the weights are initialised."""


def train_run(job: TrainingJob) -> None:
    """Train a run, from its newest checkpoint if there is one, and write its bundle and log."""
    torch.set_num_threads(job.threads)
    run, segmentation = run_from_json(job.run, where="the training job"), Path(job.segmentation)
    labels = load_run_labels(run, job.labels)
    vocabularies = run_vocabularies(run, segmentation, labels)
    transforms = Transforms.of(run, vocabularies, labels)
    is_main = os.environ.get("RANK", "0") == "0"
    log = print if is_main else silent
    examples = {split: load_training(run, transforms, Path(job.features), split) for split in run.training_splits}
    files = [Path(job.features, name) for split in run.training_splits for name in run.feature_files(split)]
    files += sorted(path for path in segmentation.iterdir() if path.is_file())
    files += [Path(job.start, MANIFEST)] if job.start else []
    folder = checkpoint_folder(Path(job.checkpoints), run, data=files, log=log)

    torch.manual_seed(run.seed)
    sizes = {f"{side}_size": len(vocabulary) for side, vocabulary in vocabularies.items()}
    model = build_model(run, **sizes, labels=labels or None)
    if job.start:
        load_initial_weights(model, Path(job.start), run=run, segmentation=segmentation, labels=labels)
    treebanks = [examples[split] for split in run.treebanks]
    run_folder, device = Path(job.history).parent, choose_device(job.device)
    attempt = recorded_attempt(folder, device=device, gpus=job.gpus, threads=job.threads)
    with attempt if is_main else nullcontext():
        train(
            run,
            model,
            examples.get("train"),
            examples["dev"],
            treebank=concatenate(treebanks) if treebanks else None,
            log_folder=run_folder,
            checkpoint_folder=folder,
            validate=_validator(run, vocabularies, transforms, job, log=log),
            device=device,
        )
        if is_main:
            save_bundle(Path(job.model), run=run, model=model, segmentation=segmentation, labels=labels or None)
    if is_main:
        write_json(run_folder / file_name("attempts"), read_attempts(folder / file_name("attempts")))


def _validator(
    run: RunSettings,
    vocabularies: Mapping[str, Vocabulary],
    transforms: Transforms,
    job: TrainingJob,
    *,
    log: Callable[[str], None] = print,
) -> Callable[[nn.Module], dict[str, float]] | None:
    """Make the function that translates and scores the dev set; return None if the metric is perplexity."""
    if run.training.validation.metric == "perplexity":
        return None
    segmenter = Segmenter.load(job.segmentation, run.segmentation, "target")
    output = scored_output(run, vocabularies["target"], segmenter, transforms)
    dev = load_sources(run, transforms, Path(job.features), "dev", log=log)
    references = read_references(run, Path(job.dev_corpus), len(dev))
    settings = transforms.search_settings(replace(run.decoding, beam=run.training.validation.beam))

    def validate(model: nn.Module) -> dict[str, float]:
        hypotheses = translate_examples(model, dev.examples, settings, scores=False)
        texts = output.texts(dev, [best.tokens for best, *_ in hypotheses])
        return {"bleu": score_translations(texts, references, run.evaluation)["bleu"]}

    return validate
