"""Charts: curves of training, lines, dots with whiskers, and how systems look."""

import json
import re
from pathlib import Path

import pytest

from nmtcore.errors import UserError
from nmtcore.files import write_lines
from nmtcore.reporting.charts import COLOURS, MARKED, Row, rows_panel, system_looks, ticks
from nmtcore.reporting.curves_figure import (
    POINTS,
    curve_entries,
    curve_lines,
    draw_curves,
    system_curves,
)


def write_history(layout, dataset, system, seed, validations):
    """Write a log with a training line before each validation."""
    path = layout.path("history", scale="quick", dataset=dataset, system=system, seed=seed)
    lines = [
        {"update": update, "seconds": 1} | own
        for update, scores in validations
        for own in ({"loss": 3.0}, {"validation": scores, "best": True})
    ]
    write_lines(path, list(map(json.dumps, lines)))
    return path


def draw(layout, *histories, **beams):
    entries, figure = curve_entries(histories, layout), Path(layout.results) / "curves.svg"
    draw_curves({"entries": entries, "beams": {"d": [1], "other_set": [1]} | beams}, figure, title="Figure 1")
    return entries, figure.read_text()


def bleu(*scores):
    return [((i + 1) * 1000, {"perplexity": 9.0, "bleu": score}) for i, score in enumerate(scores)]


def test_curves_of_systems_and_seeds(layout):
    histories = [
        write_history(layout, "d", "base", 1, bleu(10, 12, 13)),
        write_history(layout, "d", "base", 2, bleu(11, 14)),
        write_history(layout, "d", "other", 1, bleu(9, None, 15)),
        write_history(layout, "other_set", "nmt", 1, [(500, {"perplexity": 8.5})]),
    ]
    entries, svg = draw(layout, *histories)
    assert [(entry["dataset"], entry["system"], entry["seeds"], list(entry["curves"])) for entry in entries] == [
        ("d", "base", [1, 2], ["bleu", "perplexity"]),
        ("d", "other", [1], ["bleu", "perplexity"]),
        ("other_set", "nmt", [1], ["perplexity"]),
    ]
    assert entries[0]["curves"]["bleu"] == {"1": [(1000, 10), (2000, 12), (3000, 13)], "2": [(1000, 11), (2000, 14)]}
    assert entries[1]["curves"]["bleu"] == {"1": [(1000, 9), (3000, 15)]}
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    axes = {"dev BLEU in validation, greedy search, d", "dev perplexity, other_set"}
    assert axes | {"updates", "base", "other", "nmt"} <= set(texts)
    looks = system_looks(["base", "other", "nmt"])
    lines = [re.findall(rf'<polyline points="([^"]*)" {re.escape(own.stroke(width))}', svg)
             for own in looks.values() for width in (2, 0.7)]  # fmt: skip
    assert [[len(line.split()) for line in drawn] for drawn in lines] == [[2], [3, 2], [2], [], [], []]
    assert (Path(layout.results) / "curves.pdf").read_bytes().startswith(b"%PDF")


def test_each_point_is_marked_if_they_are_few(layout):
    mark = 'fill="#7f7f7f" stroke="#7f7f7f"'
    long = write_history(layout, "d", "base", 1, bleu(*range(MARKED + 1)))
    assert draw(layout, long)[1].count(mark) == 0
    short = write_history(layout, "d", "base", 2, bleu(10, 11))
    assert draw(layout, short)[1].count(mark) == 2
    apart = write_history(layout, "d", "base", 3, [(3000, {"perplexity": 9.0, "bleu": 5.0})])
    assert draw(layout, short, apart)[1].count(mark) == 1, "it is alone on its line, and there is no mean"


@pytest.mark.parametrize(
    ("updates", "expected"), [((1, 3), ["1", "2", "3"]), ((4,), ["4"]), ((10, 1000), ["0", "500", "1,000"])]
)
def test_updates_are_whole_numbers_once_each(layout, updates, expected):
    own = [(update, {"perplexity": 9.0, "bleu": 20.0 + update}) for update in updates]
    svg = draw(layout, write_history(layout, "d", "base", 1, own))[1]
    assert re.findall(r'y="173"[^>]*>([\d,]+)</text>', svg) == expected


def test_the_mean_covers_the_updates_of_all_seeds():
    looks = system_looks(["base"])["base"]
    curves = {"1": [[10, 1.0], [20, 2.0], [30, 3.0]], "2": [[10, 2.0], [20, 4.0]]}
    lines = [([point[:2] for point in line.points], line.thin) for line in curve_lines(curves, looks)]
    assert lines == [
        ([(10, 1.0), (20, 2.0), (30, 3.0)], True), ([(10, 2.0), (20, 4.0)], True), ([(10, 1.5), (20, 3.0)], False),
    ]  # fmt: skip
    (one,) = curve_lines({"1": [[10, 1.0]]}, looks)
    assert (one.thin, one.points[0].y) == (False, 1.0)


def test_the_axis_names_the_search(layout):
    _, svg = draw(layout, write_history(layout, "d", "base", 1, bleu(10, 12)), d=[1, 4])
    assert "validation, beam of 1 or 4" in svg


def test_broken_logs_are_refused(layout):
    path = write_history(layout, "d", "base", 1, [])
    with pytest.raises(UserError, match=r"training.jsonl records no validation, so there is no curve to draw"):
        draw(layout, path)
    for line, sentence in (("{", "line 1: this is not JSON"), ("3", "line 1: this is no line of a training log")):
        write_lines(path, [line])
        with pytest.raises(UserError, match=sentence):
            draw(layout, path)


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
    assert system_looks(systems[::-1]) == looks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (13, 4713, [1000, 2000, 3000, 4000]),
        (-3, 3, [-2, 0, 2]),
        (7, 7, [7]),
    ],
)
def test_ticks_are_round(low, high, expected):
    assert ticks(low, high, most=6) == pytest.approx(expected)


def test_whiskers_are_at_their_values_on_the_axis():
    """The places of the dot, its ends, 0 and the ticks are one linear function of their values."""
    looks = system_looks(["base"])["base"]
    drawing = rows_panel([Row("a", looks, 2.0, -1.0, 3.5), Row("b", looks, -0.5, hollow=True)], title=["t"])
    svg = "".join(drawing.elements)
    numbers = re.findall(r'<text x="([\d.]+)"[^>]*anchor="middle">([-\d]+)</text>', svg)
    (first, low), (last, high) = ((float(x), float(number)) for x, number in (numbers[0], numbers[-1]))
    place = {value: first + (value - low) * (last - first) / (high - low) for value in (-1, -0.5, 0, 2, 3.5)}
    (ends,) = re.findall(rf'd="M([\d.]+) [\d.]+H([\d.]+)" stroke="{looks.colour}"', svg)
    assert [float(end) for end in ends] == pytest.approx([place[-1], place[3.5]], abs=0.1)
    marks = re.findall(r'translate\(([\d.]+) [\d.]+\) scale\(.8\)" d="[^"]*" fill="([^"]*)"', svg)
    assert [float(x) for x, _ in marks] == pytest.approx([place[2], place[-0.5]], abs=0.1)
    assert [fill for _, fill in marks] == [looks.colour, "none"]
    assert f'<path d="M{place[0]:.1f} ' in svg
