"""Scoring every attention head of a run's encoder as a parser of a gold treebank."""

from pathlib import Path

import torch

from nmtcore.config.claimed_heads import claimed_heads
from nmtcore.config.runs import RunSettings
from nmtcore.evaluation.induction import BASELINES, score_induction
from nmtcore.evaluation.scores import read_gold_trees
from nmtcore.experiment.inference import LabelFiles, check_labels
from nmtcore.experiment.load_examples import load_sources
from nmtcore.files import write_json
from nmtcore.inference.attention import load_observed_bundle
from nmtcore.inference.induced import parse_with_all_heads
from nmtcore.model.device import choose_device


def score_heads(
    run: RunSettings,
    *,
    model: Path,
    features: Path,
    split: str,
    corpus: Path,
    trees: Path,
    scores: Path,
    device: str,
    threads: int,
    labels: LabelFiles | None = None,
) -> None:
    """Parse a gold treebank with every attention head, and write the scores of their trees as JSON.

    The JSON has the run's names and the split; `heads` and `baselines`, the results of `score_induction` by
    "LAYER.HEAD" and by baseline; and `components`, for heads that a component of the system computes or trains, its
    name.
    """
    torch.set_num_threads(threads)
    bundle = load_observed_bundle(model, choose_device(device))
    check_labels(bundle, model, run.inference_features, labels)
    examples = load_sources(run, bundle.transforms, features, split)
    parses = parse_with_all_heads(bundle, examples, method="one_root")
    predicted = {f"{layer}.{head}": heads for (layer, head), heads in parses.items()}
    results = score_induction(read_gold_trees(corpus, trees, len(examples)), predicted)
    write_json(
        scores,
        {
            **{key: getattr(run, key) for key in ("dataset", "system", "scale", "seed")},
            "split": split,
            "heads": {name: results[name] for name in predicted},
            "baselines": {name: result for name, result in results.items() if name in BASELINES},
            "components": claimed_heads(run),
        },
    )
