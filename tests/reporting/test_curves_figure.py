"""The figure of validation curves."""

import json
import re

import pytest

from nmtcore.errors import UserError
from nmtcore.files import write_lines
from nmtcore.layout import Layout
from nmtcore.reporting.charts import COLOURS, SHAPES, system_looks, system_scale
from nmtcore.reporting.curves_figure import (
    MARKED,
    POINTS,
    curve_entries,
    curve_points,
    draw_validation_curves,
    drawn_metrics,
    system_curves,
)


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
    entries, figure = curve_entries(histories, layout), tmp_path / "curves.svg"
    draw_validation_curves(entries, figure, beams={"d": [1], "other_set": [1]} | beams)
    return entries, figure.read_text()


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
    assert entries[0]["curves"]["bleu"] == {"1": [(1000, 10), (2000, 12), (3000, 13)], "2": [(1000, 11), (2000, 14)]}
    assert entries[1]["curves"]["bleu"] == {"1": [(1000, 9), (3000, 15)]}
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    axes = {"dev BLEU in validation, greedy search, d", "dev perplexity, other_set"}
    assert {*axes, "updates", "base", "other", "nmt"} <= set(texts)
    looks = system_looks(["base", "other", "nmt"])
    lines = [re.findall(rf'<polyline points="([^"]*)" {re.escape(own.stroke(width))}', svg)
             for own in looks.values() for width in (2, 0.7)]  # fmt: skip
    assert [[len(line.split()) for line in drawn] for drawn in lines] == [[2], [3, 2], [2], [], [], []]
    assert len(svg) < 8_000
    assert (tmp_path / "curves.pdf").read_bytes().startswith(b"%PDF")


def test_each_point_is_marked_if_they_are_few(tmp_path, layout):
    long = write_history(layout, "d", "base", 1, bleu(*range(MARKED + 1)))
    assert draw(tmp_path, layout, [long])[1].count("<circle") == 0
    short = write_history(layout, "d", "other", 1, bleu(10, 11))
    assert draw(tmp_path, layout, [long, short])[1].count("<circle") == 2
    apart = write_history(layout, "d", "other", 2, [(3000, {"perplexity": 9.0, "bleu": 5.0})])
    svg = draw(tmp_path, layout, [short, apart])[1]
    assert re.findall(r'<circle [^>]* r="([\d.]+)"', svg) == ["1.5"], "it is alone on its line, and there is no mean"


@pytest.mark.parametrize(
    ("updates", "expected"), [((1, 3), ["1", "2", "3"]), ((4,), ["4"]), ((10, 1000), ["0", "500", "1,000"])]
)
def test_updates_are_whole_numbers_once_each(tmp_path, layout, updates, expected):
    own = [(update, {"perplexity": 9.0, "bleu": 20.0 + update}) for update in updates]
    svg = draw(tmp_path, layout, [write_history(layout, "d", "base", 1, own)])[1]
    assert re.findall(r'y="172"[^>]*>([\d,]+)</text>', svg) == expected


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


@pytest.mark.parametrize(("beams", "title"), [([4], "validation, beam of 4"), ([1, 4], "validation, beam of 1 or 4")])
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


def test_the_curves_of_a_run_are_of_all_that_its_log_has(tmp_path):
    """The loss is thinned to means, so that seeds keep the same updates; validations are not."""
    losses = [{"update": 10 * k, "loss/translation": float(k)} for k in range(1, 4 * POINTS + 1)]
    validation = {"perplexity": 5.0, "bleu": 3.0, "accuracy/tag_attention": 0.25}
    for name, lines in (("1", losses), ("2", losses[: 2 * POINTS])):
        write_lines(tmp_path / name, list(map(json.dumps, [*lines, {"update": 9, "validation": validation}])))
    curves = system_curves("d", "s", {seed: tmp_path / str(seed) for seed in (1, 2)})["curves"]
    first, second = (curves["loss"][seed] for seed in "12")
    assert (len(first), len(second)) == (POINTS, POINTS / 2)
    assert first[1] == (80, 6.5)
    assert second == first[: POINTS // 2]
    assert [curves[metric]["1"] for metric in ("bleu", "perplexity", "accuracy")] == [[(9, 3)], [(9, 5)], [(9, 25)]]


def test_a_system_looks_the_same_in_all_charts():
    systems = ["transformer_base", *(f"depparse_l{layer}" for layer in range(6))]
    looks = system_looks(systems)
    assert looks["transformer_base"].colour == COLOURS[0]
    for number in range(3):  # colours, dashes and shapes
        assert len({own[number] for own in looks.values()}) == len(systems)
    assert all(system_looks(["other", "mine", system])[system].dashes for system in systems)
    assert system_looks(systems[::-1]) == looks
    scale = system_scale(systems, SHAPES).to_dict()
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {name: own.shape for name, own in looks.items()}
    many = [f"s{number}x" for number in range(20)]
    assert len({own.colour for own in system_looks(many).values()}) == len(COLOURS) - 1
