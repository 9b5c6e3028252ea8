"""Curves of systems, from the logs of their training."""

import json

import pytest

from nmtcore.errors import LineError
from nmtcore.files import write_lines
from nmtcore.reporting.curves_page import POINTS, system_curves


def write_history(path, losses, scores=(), *, every=10):
    """Write a log with a loss every `every` updates, and validations after the last of them."""
    lines = [{"update": every * k, "loss/translation": loss} for k, loss in enumerate(losses, start=1)]
    lines += [{"update": every * len(losses) + k, "validation": own} for k, own in enumerate(scores)]
    write_lines(path, list(map(json.dumps, lines)))
    return path


def test_each_metric_has_the_curves_of_the_seeds_that_have_it(tmp_path):
    first = write_history(tmp_path / "1", [9.0, 8.0, 7.0], [{"perplexity": 50.0, "bleu": 1.0}])
    second = write_history(tmp_path / "2", [8.0, 7.0], [{"perplexity": 60.0, "bleu": None, "accuracy/tags": 0.25}])
    entry = system_curves("d", "s", {1: first, 2: second})
    assert [entry[key] for key in ("dataset", "system", "seeds")] == ["d", "s", [1, 2]]
    assert entry["curves"] == {
        "loss": {"1": [(10, 9.0), (20, 8.0), (30, 7.0)], "2": [(10, 8.0), (20, 7.0)]},
        "bleu": {"1": [(30, 1.0)]},
        "perplexity": {"1": [(30, 50.0)], "2": [(20, 60.0)]},
        "accuracy": {"2": [(20, 25.0)]},
    }


def test_a_long_loss_curve_is_thinned_to_means(tmp_path):
    losses = [float(k) for k in range(4 * POINTS)]
    logs = {1: write_history(tmp_path / "1", losses), 2: write_history(tmp_path / "2", losses[: 2 * POINTS])}
    first, second = system_curves("d", "s", logs)["curves"]["loss"].values()
    assert (len(first), len(second)) == (POINTS, POINTS / 2)
    assert first[1] == (80, 5.5)
    assert second == first[: POINTS // 2], "seeds keep the same updates"


@pytest.mark.parametrize(
    ("line", "sentence"), [('{"update": "a"}', "this is no line of a training log"), ("{", "this is not JSON")]
)
def test_a_broken_log_is_named(tmp_path, line, sentence):
    write_lines(tmp_path / "log", [line])
    with pytest.raises(LineError, match=f"log, line 1: {sentence}"):
        system_curves("d", "s", {1: tmp_path / "log"})
