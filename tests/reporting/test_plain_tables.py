"""The table of contrastive pairs: counts, ties, groups of distances, and intervals against their definition."""

import math
from pathlib import Path

import pytest

from nmtcore.inference.schemas import ContrastScore, write_contrast_scores
from nmtcore.reporting.plain_tables import contrast_page, wilson_interval
from nmtcore.tables.render import page_markdown

PAIRS = [("number", 15), ("number", 4), ("order", None), ("number", 15)]


def write_pairs(layout, system, seed, right, *, dataset="d", pairs=PAIRS, unknown=0):
    """Write the scores of pairs; `right` has a letter for each: right, wrong or tie.

    Right translations have more subwords, so that their mean is lower.
    """
    wrong = {"r": -1.1, "w": -0.5, "t": -1.0}
    names = {"scale": "quick", "dataset": dataset, "system": system, "seed": seed, "split": "contrast_x"}
    path = Path(layout.path("contrast_scores", **names))
    scores = [ContrastScore(*pair, -1.0, wrong[own], 4, 3, unknown) for pair, own in zip(pairs, right, strict=True)]
    write_contrast_scores(path, scores)
    return path


def rows_of(lines, heading):
    start = lines.index(f"## {heading}") + 4
    return lines[start : next((i for i in range(start, len(lines)) if not lines[i]), len(lines))]


def test_pairs_are_counted_by_phenomenon_and_distance_with_means_over_seeds(layout):
    files = [write_pairs(layout, *run) for run in (("base", 1, "rrwt"), ("base", 2, "rwrr"), ("other", 1, "wwww"))]
    far = [("order", 400), ("number", 16), ("order", 2)]
    files.append(write_pairs(layout, "other", 1, "rrw", dataset="e", pairs=far, unknown=2))
    lines = page_markdown(contrast_page(files, layout=layout)).splitlines()
    assert lines[0].startswith("Scale quick, seeds 1, 2; percentages, mean over seeds, and standard deviation")
    start = lines.index("## d, contrast_x")
    assert lines[start + 2 : start + 6] == [
        "| system | all | number | order |",
        "| --- | ---: | ---: | ---: |",
        "| base | 62.5 ± 17.7 | 66.7 ± 0.0 | 50.0 ± 70.7 |",
        "| other | 0.0 | 0.0 | 0.0 |",
    ]
    low, high = wilson_interval(2.5, 4)
    row = f"| base | `all` | 4 | 62.5 ± 17.7 | {100 * low:.1f} to {100 * high:.1f} | 0 | 0 |"
    assert rows_of(lines, "d, contrast_x: by phenomenon")[0] == row
    cells = [line.split(" | ") for line in rows_of(lines, "d, contrast_x: by distance")]
    assert [(system, *numbers[:3]) for system, *numbers in cells] == [
        ("| base", "4", "1", "50.0 ± 70.7"), ("| base", "15", "2", "75.0 ± 35.4"),
        ("| other", "4", "1", "0.0"), ("| other", "15", "2", "0.0"),
    ]  # fmt: skip
    assert [line.split(" | ")[1:4] for line in rows_of(lines, "e, contrast_x: by distance")] == [
        ["2", "1", "0.0"], [">15", "2", "100.0"],
    ]  # fmt: skip
    unknown = [line.split(" | ")[-1] for line in rows_of(lines, "e, contrast_x: by phenomenon")]
    assert unknown == ["3 |", "2 |", "1 |"]


def bound(successes, trials, z, *, low):
    """Search the proportion from which the observed one is z standard errors away (the definition of the interval)."""
    observed = successes / trials
    inside, outside = observed, 0.0 if low else 1.0
    for _ in range(200):
        middle = (inside + outside) / 2
        if abs(observed - middle) <= z * math.sqrt(middle * (1 - middle) / trials):
            inside = middle
        else:
            outside = middle
    return inside


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 9), (3, 9), (7, 7), (989, 1000)])
def test_an_interval_has_all_proportions_that_are_near_enough(successes, trials):
    low, high = wilson_interval(successes, trials)
    z = 1.959963984540054
    assert low == pytest.approx(bound(successes, trials, z, low=True), abs=1e-9)
    assert high == pytest.approx(bound(successes, trials, z, low=False), abs=1e-9)
    assert 0 <= low <= successes / trials <= high <= 1
