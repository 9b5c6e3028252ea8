"""Charts: the numbers that are drawn, their labels, room for long names, and files that are the same each time."""

import re
import shutil
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from nmtcore.config.project import project_of_folder
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.charts import (
    COLOURS,
    broken,
    chart_svg,
    difference_figure,
    part_figure,
    system_looks,
    time_figure,
    write_chart,
)
from nmtcore.tables.curves import AXES, MARKED, curve_chart
from nmtcore.tables.make import write_table
from nmtcore.tables.measures import measure_label
from nmtcore.tables.plan import table_plan
from nmtcore.tables.query import NUMBERS, Frame

LONG = "relative_tree_traversal_with_the_brackets_of_both_sides_l4"
SYSTEMS = ("transformer_base", "pascal", LONG)


def number_frame(rows, baseline="transformer_base"):
    """Make a frame of numbers, on the test of a data set, with BLEU unless a row says something else."""
    same = {"dataset": "wmt16_en2de", "test": "test", "measure": "bleu", "column": "", "training_noise": True}
    table = PlannedTable(
        paper="p",
        name="t",
        table_kind="scores",
        title="",
        place="",
        description="",
        baselines=(baseline,),
    )
    return Frame(table, [dict.fromkeys(NUMBERS.names) | same | row for row in rows], [])


def differences():
    return number_frame(
        {"measure": measure, "column": f"rehearsal_multi30k_en2de/test/{measure}", "row": system, "runs": system,
         "baseline": "transformer_base", "delta": delta, "low": delta - 1.5, "high": delta + 0.5,
         "training_noise": False}
        for measure, first in (("bleu", -1.25), ("chrf", 0.5))
        for delta, system in zip((first, 0.25, 3), (*SYSTEMS[1:], LONG + "5"), strict=True)
    )  # fmt: skip


def times():
    numbers = {"transformer_base": (1, 1), "depparse_l1": (1.2, 1.5), LONG: (None, 3.5)}
    return number_frame(
        {
            "row": system,
            "dataset": "multi30k_cs2en",
            "column": "relative_time",
            "measure": "relative_time",
            "published": own[0],
            "values": own[1:],
        }
        for system, own in numbers.items()
    )


def gains():
    parts = (("question", 1.5, 32, 1.4), ("control_raising", -0.5, 16, 0.1), ("all", 0.5, 1000, None))
    return number_frame(
        {"row": name, "item": name, "sentences": count, "share": 12.5, "system": LONG, "baseline": "transformer_base",
         "delta": gain, "low": gain - 1, "high": gain + 1, "published": published}
        for name, gain, count, published in parts
    )  # fmt: skip


def curves(updates=5):
    rows = [
        {
            "system": system,
            "seed": seed,
            "metric": metric,
            "update": 1000 * update,
            "value": len(system) + update * seed,
        }
        for system in SYSTEMS
        for seed, most in ((1, updates), (2, updates - 1))
        for metric in ("loss", "bleu")
        for update in range(1, most + 1)
    ]
    return pd.DataFrame(rows).assign(dataset="multi30k_cs2en")


CHARTS = {
    "differences": lambda: difference_figure(differences()),
    "times": lambda: time_figure(times()),
    "parts": lambda: part_figure(gains()),
    "curves": lambda: curve_chart(curves()),
    "curves beside one another": lambda: curve_chart(curves(), columns=3),
}


def dots(ax):
    """Return the dots of axes: their places, the ends of their intervals (None: none), and whether they are hollow."""
    drawn = []
    for dot, _, bars in ax.containers:
        (x,), (y,) = dot.get_data()
        ends = bars[0].get_segments()[0].tolist() if bars else []
        drawn.append((x, y, None if not ends or np.isnan(ends).any() else ends, dot.get_markerfacecolor() == "none"))
    return drawn


def names_at(ax):
    """Return the names along the y axis, joined again, by their places."""
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    return {place: joined(text) for place, text in ticks}


def joined(text):
    """Return a name that may be broken into lines; a space at the end of a line is not there."""
    return re.sub(r"(?<![_/])\n", " ", text.get_text()).replace("\n", "")


def title(part):
    return part.get_suptitle().replace("\n", " ")


def test_differences_are_dots_with_their_intervals():
    rows = differences().rows
    for part, measure in zip(difference_figure(differences()).subfigs, ("bleu", "chrf"), strict=True):
        (ax,), own = part.axes, [row for row in rows if row["measure"] == measure]
        said = "difference from transformer_base, 95 % interval without training noise"
        assert title(part) == f"{measure_label(measure)}, rehearsal_multi30k_en2de test: {said}"
        drawn = dots(ax)
        names = names_at(ax)
        assert [names[y] for _, y, _, _ in drawn] == [row["row"] for row in own]
        assert [x for x, *_ in drawn] == [row["delta"] for row in own]
        assert [ends for _, _, ends, _ in drawn] == [
            [[pytest.approx(row["low"]), y], [pytest.approx(row["high"]), y]] for row, y in zip(own, names, strict=True)
        ]
        looks = system_looks(["transformer_base", *(row["row"] for row in rows)])
        colours = [container[0].get_color() for container in ax.containers]
        assert colours == [looks[row["row"]].color for row in own]


def test_times_are_dots_beside_the_published_ones():
    (part,) = time_figure(times()).subfigs
    (ax,) = part.axes
    assert title(part) == "multi30k_cs2en: time relative to transformer_base; hollow: published"
    drawn = dots(ax)
    assert [(x, hollow) for x, _, _, hollow in drawn] == [
        (1, True), (1, False), (1.2, True), (1.5, False), (3.5, False),
    ]  # fmt: skip
    places = [np.mean([y for _, y, *_ in drawn[start:end]]) for start, end in ((0, 2), (2, 4), (4, 5))]
    assert list(names_at(ax)) == pytest.approx(places)


def test_gains_on_constructions_stand_beside_the_published_ones():
    figure = part_figure(gains())
    (part,) = figure.subfigs
    (ax,) = part.axes
    assert title(part).startswith("BLEU, wmt16_en2de, test: difference from transformer_base, 95 % interval; hollow:")
    assert list(names_at(ax).values()) == [
        f"{name} (12.5\u00a0%)" for name in ("question: 32", "control/raising: 16", "all: 1,000")
    ]
    drawn = dots(ax)
    assert [x for x, *_ in drawn] == [1.5, 1.4, -0.5, 0.1, 0.5]
    assert [hollow for *_, hollow in drawn] == [False, False, True, False, False]
    assert [None if ends is None else [x for x, _ in ends] for _, _, ends, _ in drawn] == [
        [0.5, 2.5], None, [-1.5, 0.5], None, [-0.5, 1.5],
    ]  # fmt: skip
    assert [joined(text) for text in figure.legends[0].texts] == [LONG, f"{LONG}, published"]
    others = [row | {"baseline": "nmt"} for row in gains().rows]
    assert len(part_figure(gains()._replace(rows=[*gains().rows, *others])).subfigs) == 2


@pytest.mark.parametrize("updates", [5, MARKED + 2])
def test_curves_have_a_thin_line_per_seed_and_a_mean_of_the_updates_of_all(updates):
    rows = curves(updates)
    figure = curve_chart(rows)
    assert [title(part) for part in figure.subfigs] == [AXES["loss"], AXES["bleu"]]
    (ax,) = figure.subfigs[1].axes
    for number, system in enumerate(SYSTEMS):
        first, second, mean = ax.lines[3 * number : 3 * number + 3]
        own = rows[(rows.metric == "bleu") & (rows.system == system)]
        for line, seed in ((first, 1), (second, 2)):
            seeds = own[own.seed == seed]
            assert line.get_xydata().tolist() == seeds[["update", "value"]].to_numpy().tolist()
        both = own.groupby("update").value.mean()[: updates - 1]
        assert mean.get_xydata().tolist() == [[update, pytest.approx(value)] for update, value in both.items()]
        assert first.get_linewidth() < mean.get_linewidth()
        assert mean.get_markevery() == (2 if updates > MARKED else 1)
    marks = [text.get_text() for text in ax.get_xticklabels()]
    assert ("3,000" if updates == 5 else "16,000") in marks


@pytest.mark.parametrize("name", CHARTS)
def test_no_text_is_cut_off_or_on_another_one(name, monkeypatch):
    figure, drawn = CHARTS[name](), []
    assert figure.get_figwidth() == pytest.approx(8.4 / 2.54 * (2 if "beside" in name else 1), abs=0.02)
    draw = Text.draw

    def record(self, renderer):
        if self.get_visible() and self.get_text():
            drawn.append((self.get_text(), self.get_window_extent(renderer)))
        draw(self, renderer)

    monkeypatch.setattr(Text, "draw", record)
    figure.draw_without_rendering()
    assert len(drawn) >= 8
    box = figure.bbox.padded(0.5)
    assert [text for text, own in drawn if not (box.contains(own.x0, own.y0) and box.contains(own.x1, own.y1))] == []
    assert [(one, other) for (one, first), (other, second) in combinations(drawn, 2) if overlap(first, second)] == []


def overlap(one, other):
    """Return whether two boxes overlap, by more than the space of a line that no letter fills."""
    return min(one.x1, other.x1) - max(one.x0, other.x0) > 0.5 and min(one.y1, other.y1) - max(one.y0, other.y0) > 2


@pytest.mark.parametrize("name", ["parts", "curves"])
def test_files_have_the_same_bytes_and_no_date(tmp_path, name):
    before = dict(matplotlib.rcParams)
    for folder in "ab":
        write_chart(CHARTS[name](), tmp_path / folder / "a.svg", title=name)
    for ending in ("svg", "pdf"):
        first, second = ((tmp_path / folder / f"a.{ending}").read_bytes() for folder in "ab")
        assert first == second
        assert not re.search(rb"20\d\d-\d\d|Date", first)
    assert first.startswith(b"%PDF")
    assert b"Type3" not in first, "conferences refuse such fonts"
    assert dict(matplotlib.rcParams) == before, "the style is that of our charts alone"


def test_charts_have_the_colour_of_the_text_around_them():
    svgs = [chart_svg(CHARTS["differences"](), title=name, embedded=name == "b") for name in "ab"]
    roots = list(map(ElementTree.fromstring, svgs))
    ids = [element.get("id") for root in roots for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)), "both may stand on one page"
    for svg, own in zip(svgs, roots, strict=True):
        assert (own.get("fill"), own.get("role")) == ("currentColor", "img")
        assert "stroke: currentColor" in svg
        assert not re.search("#000000|: black", svg)
        assert set(re.findall(r'(?:href="|url\()#(\w+)', svg)) <= set(ids)
    assert ["prefers-color-scheme" in svg for svg in svgs] == [True, False]
    texts = ["".join(own.itertext()) for own in roots[0].iter("{http://www.w3.org/2000/svg}text")]
    assert {"pascal", "relative_tree_traversal_"} <= set(texts), "texts are texts"


def test_a_system_looks_the_same_in_all_charts():
    systems = ["transformer_base", *(f"depparse_l{layer}" for layer in range(6))]
    looks = system_looks(systems)
    assert looks["transformer_base"].color == COLOURS[0]
    for number in range(2):  # colours and marks
        assert len({str(own[number]) for own in looks.values()}) == len(systems)
    assert system_looks(systems[::-1]) == looks


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("pascal", ["pascal"]),
        (LONG, ["relative_tree_traversal_", "with_the_brackets_of_", "both_sides_l4"]),
        ("a" * 30, ["a" * 24, "a" * 6]),
        ("a long name, published", ["a long name, published"]),
    ],
)
def test_long_names_are_broken(name, lines):
    assert broken(name).split("\n") == lines


def test_a_frame_is_read_and_drawn_in_python_as_the_page_says(root, tmp_path, monkeypatch):
    shutil.copytree(root / "findings", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    table = Path("results/tables/findings_encoder.md")
    plan = table_plan(project_of_folder(Path()), table=table.stem)
    write_table(plan, frame=table.with_suffix(".parquet"), table=table)
    reading, drawing = re.findall(r"^```python\n(.*?)^```$", (root / "docs/tables.md").read_text(), re.M | re.DOTALL)
    exec(reading, names := {})
    assert len(names["rows"][names["rows"].baseline.notna()]) == 12
    exec(drawing, names := {})
    assert len(dots(names["figure"].axes[0])) == 6
    assert [
        float(own) for own in re.findall(rb"/MediaBox \[ 0 0 ([\d.]+)", (tmp_path / "encoder.pdf").read_bytes())
    ] == [432]
