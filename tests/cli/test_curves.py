"""`nmtcore curves`: curves of the runs below a folder."""

import json
import re

import pytest

from nmtcore.cli import main
from nmtcore.files import write_lines
from nmtcore.reporting.curves_figure import POINTS, folder_curves


def write_history(folder, losses, scores=(), *, every=10):
    """Write a log with a loss every `every` updates, and validations after the last of them."""
    lines = [{"update": every * k, "loss/translation": loss} for k, loss in enumerate(losses, start=1)]
    lines += [{"update": every * len(losses) + k, "validation": own} for k, own in enumerate(scores)]
    write_lines(folder / "training.jsonl", list(map(json.dumps, lines)))
    return folder


def texts(drawing):
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing)


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results/smoke/d"
    write_history(folder / "base/seed1", [9.0, 8.0, 7.0], [{"perplexity": 50.0, "bleu": 1.0}])
    write_history(folder / "base/seed2", [8.0, 7.0], [{"perplexity": 60.0, "bleu": None}])
    write_history(folder / "tags/seed1", [7.0], [{"perplexity": 5.0, "bleu": 3.0, "accuracy/tag_attention": 0.25}])
    write_history(folder / "tags/seed1/checkpoints/0", [1.0])  # the same run, before it ended
    write_history(folder / "cut/seed1/checkpoints/1", [6.0], [])
    write_history(tmp_path / "results/e/nmt/seed1", [5.0], [{"perplexity": 40.0}])
    return tmp_path / "results"


def test_the_curves_of_a_folder(results):
    curves = {(entry["dataset"], entry["system"]): entry["curves"] for entry in folder_curves(results)}
    assert curves == {
        ("results/e", "nmt"): {"loss": {"1": [(10, 5.0)]}, "perplexity": {"1": [(10, 40.0)]}},
        ("smoke/d", "base"): {
            "loss": {"1": [(10, 9.0), (20, 8.0), (30, 7.0)], "2": [(10, 8.0), (20, 7.0)]},
            "bleu": {"1": [(30, 1.0)]},
            "perplexity": {"1": [(30, 50.0)], "2": [(20, 60.0)]},
        },
        ("smoke/d", "cut"): {"loss": {"1": [(10, 6.0)]}},
        ("smoke/d", "tags"): {
            "loss": {"1": [(10, 7.0)]},
            "bleu": {"1": [(10, 3.0)]},
            "perplexity": {"1": [(10, 5.0)]},
            "accuracy": {"1": [(10, 25.0)]},
        },
    }
    assert [entry["system"] for entry in folder_curves(results / "smoke/d/tags/seed1")] == ["tags"]


def test_a_long_loss_curve_is_thinned_to_means(tmp_path):
    losses = [float(k) for k in range(4 * POINTS)]
    write_history(tmp_path / "r/d/s/seed1", losses)
    write_history(tmp_path / "r/d/s/seed2", losses[: 2 * POINTS])
    (entry,) = folder_curves(tmp_path)
    first, second = entry["curves"]["loss"].values()
    assert (len(first), len(second)) == (POINTS, POINTS / 2)
    assert first[1] == (80, 5.5)
    assert second == first[: POINTS // 2], "seeds keep the same updates"


def test_a_drawing_has_a_panel_per_data_set_and_metric(results, tmp_path, capsys):
    main(["curves", str(results), "--output", str(tmp_path / "curves.svg")])
    assert capsys.readouterr().err.endswith("curves.svg: curves of 5 runs\n")
    drawing = (tmp_path / "curves.svg").read_text()
    labels = texts(drawing)
    for dataset in ("smoke/d", "results/e"):
        assert f"training loss per target token, {dataset}" in labels
    assert {"base", "cut", "nmt", "tags"} <= set(labels)
    assert sum(label.startswith("tag accuracy on dev, %") for label in labels) == 1
    assert sum(label.startswith("dev perplexity") for label in labels) == 1, "only where a system has no BLEU"


def test_a_page_has_a_drawing_per_data_set(results, tmp_path):
    main(["curves", str(results), "--output", str(tmp_path / "curves.html")])
    page = (tmp_path / "curves.html").read_text()
    assert page.count("<svg") == 2
    assert "<h2>smoke/d</h2>" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")


def test_the_page_passes_all_checks_in_a_browser(results, browser, tmp_path):
    write_history(results / "demo" / ("long_" * 30) / "system<b>" / "seed1", [5.0, 4.0])
    main(["curves", str(results), "--output", str(tmp_path / "curves.html")])
    browser.check(tmp_path / "curves.html")


def test_names_stay_text_on_the_page(tmp_path):
    write_history(tmp_path / "a<b>/d&e/<s>/seed1", [5.0])
    main(["curves", str(tmp_path), "--output", str(tmp_path / "curves.html")])
    page = (tmp_path / "curves.html").read_text()
    assert "<h2>a&lt;b&gt;/d&amp;e</h2>" in page
    assert "<s>" not in page


def test_mistakes_are_one_sentence(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    write_history(tmp_path / "no_values/d/s/seed1", [])
    write_lines(tmp_path / "strange/d/s/seed1/training.jsonl", ['{"update": "a"}'])
    write_lines(tmp_path / "broken/d/s/seed1/training.jsonl", ["{"])
    for name, sentence in {
        "empty": "There is no training log with curves below",
        "no_values": "There is no training log with curves below",
        "strange": "training.jsonl, line 1: this is no line of a training log",
        "broken": "training.jsonl, line 1: this is not JSON",
        "missing": "is not a folder",
    }.items():
        with pytest.raises(SystemExit) as exit:
            main(["curves", str(tmp_path / name), "--output", str(tmp_path / "curves.svg")])
        errors = capsys.readouterr().err
        assert (exit.value.code, errors.count("\n")) == (2, 1)
        assert sentence in errors
    for output, sentence in (("curves.png", "must end in .svg or .html"), ("empty.svg", "is a folder")):
        (tmp_path / "empty.svg").mkdir(exist_ok=True)
        with pytest.raises(SystemExit):
            main(["curves", str(tmp_path), "--output", str(tmp_path / output)])
        assert sentence in capsys.readouterr().err
