"""The figure of validation curves."""

import json
import math
import re

import pytest

from nmtcore.errors import UserError
from nmtcore.files import read_json, write_lines
from nmtcore.layout import Layout
from nmtcore.reporting.charts import COLOURS, DASHES, SHAPES, system_scale
from nmtcore.reporting.curves_figure import LONE, curve_points, drawn_metrics, write_curve_figure


@pytest.fixture
def layout(tmp_path):
    return Layout(results=str(tmp_path / "results"), scales=("quick",))


def write_history(layout, dataset, system, seed, validations):
    """Write a log with a training line before each validation."""
    path = layout.path("history", scale="quick", dataset=dataset, system=system, seed=seed)
    lines = []
    for update, scores in validations:
        lines.append(json.dumps({"update": update, "loss": 3.0, "seconds": 1}))
        lines.append(json.dumps({"update": update, "validation": scores, "best": True, "seconds": 2}))
    write_lines(path, lines)
    return path


def draw(tmp_path, layout, histories, **beams):
    paths = {"json": tmp_path / "curves.json", "figure": tmp_path / "curves.svg"}
    write_curve_figure(histories, beams={"d": [1], "other_set": [1]} | beams, layout=layout, **paths)
    return read_json(paths["json"]), paths["figure"].read_text()


def bleu(*scores):
    return [((i + 1) * 1000, {"perplexity": 9.0, "bleu": score}) for i, score in enumerate(scores)]


def test_curves_of_systems_and_seeds(tmp_path, layout):
    histories = [
        write_history(layout, "d", "base", 1, bleu(10, 12, 13)),
        write_history(layout, "d", "base", 2, bleu(11, 14)),
        write_history(layout, "d", "other", 1, bleu(9, None, 15)),
        write_history(layout, "other_set", "nmt", 1, [(500, {"perplexity": 8.5})]),
    ]
    entries, svg = draw(tmp_path, layout, histories)
    assert [(entry["dataset"], entry["system"], entry["seeds"], list(entry["curves"])) for entry in entries] == [
        ("d", "base", [1, 2], ["bleu", "perplexity"]),
        ("d", "other", [1], ["bleu", "perplexity"]),
        ("other_set", "nmt", [1], ["perplexity"]),
    ]
    assert entries[0]["curves"]["bleu"] == {"1": [[1000, 10], [2000, 12], [3000, 13]], "2": [[1000, 11], [2000, 14]]}
    assert entries[1]["curves"]["bleu"] == {"1": [[1000, 9], [3000, 15]]}
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    for text in (
        "updates",
        "dev BLEU, greedy search",
        "dev perplexity",
        "base",
        "other",
        "nmt",
        "other_set, scale quick",
    ):
        assert text in texts
    assert "d, scale quick (thick: mean over seeds; thin: seeds)" in texts
    assert 'stroke-dasharray="6,3"' in svg
    assert len(svg) < 40_000


def lone_marks(svg):
    """Count the circles that are as large as those of points that are alone."""
    radius = f"{math.sqrt(LONE) / 2:.3f}"
    return svg.count(f"M{radius},0A{radius},{radius}")


def test_a_line_of_one_point_is_seen(tmp_path, layout):
    long = write_history(layout, "d", "base", 1, bleu(*range(20)))
    assert lone_marks(draw(tmp_path, layout, [long])[1]) == 0
    short = write_history(layout, "d", "other", 1, bleu(10))
    assert lone_marks(draw(tmp_path, layout, [long, short])[1]) == 1
    apart = write_history(layout, "d", "other", 2, [(3000, {"perplexity": 9.0, "bleu": 5.0})])
    assert lone_marks(draw(tmp_path, layout, [short, apart])[1]) == 2, "they have no mean"


def test_few_updates_have_whole_numbers_once_each(tmp_path, layout):
    history = write_history(layout, "d", "base", 1, [(update, {"perplexity": 9.0, "bleu": 1.0}) for update in (1, 3)])
    svg = draw(tmp_path, layout, [history])[1]
    labels = re.findall(r'transform="translate\([\d.]+,15\)"[^>]*>([^<]*)</text>', svg)
    assert labels == ["1", "2", "3"]


def test_the_mean_covers_the_updates_of_all_seeds():
    entry = {
        "system": "base",
        "curves": {"bleu": {"1": [[10, 1.0], [20, 2.0], [30, 3.0]], "2": [[10, 2.0], [20, 4.0]]}},
    }
    points = list(curve_points(entry, "bleu"))
    lines = {
        line: [(p["update"], p["score"]) for p in points if p["line"] == line] for line in ("mean", "seed 1", "seed 2")
    }
    assert lines == {
        "mean": [(10, 1.5), (20, 3.0)], "seed 1": [(10, 1.0), (20, 2.0), (30, 3.0)], "seed 2": [(10, 2.0), (20, 4.0)],
    }  # fmt: skip
    (one,) = curve_points({"system": "base", "curves": {"bleu": {"1": [[10, 1.0]]}}}, "bleu")
    assert (one["line"], one["score"]) == ("mean", 1.0)


def test_perplexity_is_drawn_in_addition_if_a_system_has_no_bleu(tmp_path, layout):
    histories = [
        write_history(layout, "d", "base", 1, bleu(10, 12)),
        write_history(layout, "d", "nmt", 1, [(1000, {"perplexity": 7.0})]),
    ]
    entries, svg = draw(tmp_path, layout, histories)
    assert drawn_metrics(entries) == ["bleu", "perplexity"]
    assert [drawn_metrics([entry]) for entry in entries] == [["bleu"], ["perplexity"]]
    assert svg.index("dev BLEU") < svg.index("dev perplexity")


@pytest.mark.parametrize(("beams", "title"), [([4], "dev BLEU, beam of 4"), ([1, 4], "dev BLEU, beam of 1 or 4")])
def test_the_axis_names_the_search(tmp_path, layout, beams, title):
    _, svg = draw(tmp_path, layout, [write_history(layout, "d", "base", 1, bleu(10, 12))], d=beams)
    assert title in svg


def test_broken_logs_are_refused(tmp_path, layout):
    path = write_history(layout, "d", "base", 1, [])
    with pytest.raises(UserError, match=r"training.jsonl records no validation, so there is no curve to draw"):
        draw(tmp_path, layout, [path])
    for line, sentence in (("{", "line 1: this is not JSON"), ("3", "line 1: this is no line of a training log")):
        write_lines(path, [line])
        with pytest.raises(UserError, match=sentence):
            draw(tmp_path, layout, [path])


def test_systems_differ_without_colour():
    """Also when there are more systems than values."""
    systems = [f"s{number}" for number in range(10)]
    for values in (COLOURS, DASHES, SHAPES):
        assert len(set(values)) == len(values) == 8
        scale = system_scale(systems, values).to_dict()
        assert scale["domain"] == systems
        assert scale["range"][8:] == scale["range"][:2]
