"""Training with tags of the target: the decay of their loss, its return, and accuracy on the development set."""

import numpy as np
import pytest
import torch
from training import tiny
from training.test_train import same_weights, train_tiny

from nmtcore.model.batch import make_batch

VALIDATED = {"batch": {"size": 400}, "validation": {"every": 1}, "checkpoint_every": 100, "log_every": 1}


def weights_by_epoch(lines):
    """List the weights that the log has for each epoch, without repetitions, in order."""
    weights = {}
    for line in lines:
        if "validation" not in line:
            weights.setdefault(line["epoch"], {})[line["weight/tag_attention"]] = None
    return {epoch: list(logged) for epoch, logged in weights.items()}


def test_a_loss_that_has_returned_survives_a_resume(tmp_path):
    """Accuracy never exceeds 1, so a threshold just below 1 lets the loss return whenever it has ended."""
    tags = {"returns_below": 0.999, "decay": 0.3}
    whole = tiny.settings(tags=tags, max_updates=None, max_epochs=5, **VALIDATED)
    _, model, lines = train_tiny(tmp_path / "whole", whole)
    weights = weights_by_epoch(lines)
    assert weights[1] == [1.0]
    assert weights[2] == [pytest.approx(0.3)]
    # Only the first update of the third epoch is without the loss.
    assert weights[3] == [0.0, 1.0]
    assert weights[4] == [1.0]
    assert weights[5] == [pytest.approx(0.3)]
    for epoch in (3, 5):
        folder = tmp_path / str(epoch)
        cut = next(line["update"] for line in lines if line["epoch"] == epoch)
        train_tiny(folder, tiny.settings(tags=tags, max_updates=cut, max_epochs=5, **VALIDATED))
        _, resumed, resumed_lines = train_tiny(folder, whole)
        assert weights_by_epoch(resumed_lines) == weights
        assert same_weights(model, resumed)


def test_accuracy_is_a_mean_over_the_tags_of_the_development_set(tmp_path):
    run, dev = tiny.settings(tags={}, max_updates=8), tiny.examples(20, seed=1, unparsed=0.3)
    _, model, lines = train_tiny(tmp_path, run, data=(tiny.examples(120), dev))
    scores = [line["validation"] for line in lines if "validation" in line][-1]
    batch = make_batch(dev, np.arange(20), model.components)
    with torch.no_grad():
        predicted_N = model.eval().tag_scores(batch).argmax(dim=1)
    tags_N = batch.extra["tag_attention.tags"]
    correct = [bool(p == tag) for p, tag in zip(predicted_N, tags_N, strict=True) if tag]
    assert scores["accuracy/tag_attention"] == pytest.approx(sum(correct) / len(correct))
