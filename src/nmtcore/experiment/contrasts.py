"""Scoring a data set's contrastive pairs with the model of a run."""

from dataclasses import replace
from pathlib import Path

import torch

from nmtcore.config.runs import RunSettings
from nmtcore.corpus.contrast_list import read_contrast_list
from nmtcore.errors import UserError
from nmtcore.experiment.inference import LabelFiles, check_labels
from nmtcore.experiment.load_examples import load_split
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.contrast_files import write_contrast_scores
from nmtcore.inference.contrasts import score_contrasts
from nmtcore.inference.logprob import check_scores_targets
from nmtcore.model.device import choose_device


def score_run_contrasts(
    run: RunSettings,
    *,
    model: Path,
    features: Path,
    split: str,
    contrasts: Path,
    output: Path,
    device: str,
    threads: int,
    labels: LabelFiles | None = None,
) -> None:
    """Score the contrastive pairs that `contrasts` lists of a split, and write them as `CONTRAST_SCORES_SCHEMA`.

    The scale's number of test sentences counts sources. Raises `UserError` if the system cannot be scored, or if the
    features lack sentence pairs of the list.
    """
    torch.set_num_threads(threads)
    bundle = load_bundle(model, choose_device(device))
    check_labels(bundle, model, run.inference_features, labels)
    check_scores_targets(bundle)
    pairs = read_contrast_list(contrasts, entries=run.sentences.of(split))
    examples = load_split(run, features, split, stop=1 + max((pair.wrong for pair in pairs), default=-1))
    if examples.id.tolist() != list(range(len(examples))) or len(examples) <= pairs[-1].wrong:
        raise UserError(
            f"{contrasts} lists sentence pairs that the features of {split} lack: delete the older ones and run the "
            "workflow again."
        )
    examples = bundle.transforms.for_translation(replace(examples, target=replace(examples.target, features={})))
    write_contrast_scores(output, score_contrasts(bundle.model, examples, pairs))
