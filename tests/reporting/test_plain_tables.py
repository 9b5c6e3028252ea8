"""Tables of contrastive pairs and of attention heads."""

from pathlib import Path

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.contrasts import wilson_interval
from nmtcore.evaluation.induction import BASELINES, MEASURES
from nmtcore.files import write_json
from nmtcore.inference.schemas import ContrastScore, write_contrast_scores
from nmtcore.reporting.contrast_table import stored_contrast_page
from nmtcore.reporting.plain_tables import head_page
from nmtcore.tables.render import page_markdown

PAIRS = [("number", 1), ("number", 4), ("order", None), ("number", 1)]


def scored_pairs(right, pairs=PAIRS, unknown=0):
    """Make the scores of pairs; `right` has a letter for each: right, wrong or tie."""
    wrong = {"r": -2.0, "w": -0.5, "t": -1.0}
    return [ContrastScore(*pair, -1.0, wrong[own], 3, 3, unknown) for pair, own in zip(pairs, right, strict=True)]


def write_pairs(layout, system, seed, right, *, dataset="d", pairs=PAIRS):
    names = {"scale": "quick", "dataset": dataset, "system": system, "seed": seed, "split": "contrast_x"}
    path = Path(layout.path("contrast_scores", **names))
    write_contrast_scores(path, scored_pairs(right, pairs))
    return path


def test_phenomena_are_columns_with_means_over_seeds(layout):
    files = [write_pairs(layout, *run) for run in (("base", 1, "rrwt"), ("base", 2, "rwrr"), ("other", 1, "wwww"))]
    files.append(write_pairs(layout, "other", 1, "rr", dataset="e", pairs=PAIRS[2:3] * 2))
    text = page_markdown(stored_contrast_page(files, layout=layout, left_out=["x is left out: it generates tags."]))
    lines = text.splitlines()
    assert lines[0].startswith("Scale quick, seeds 1, 2; percentages, mean over seeds, and standard deviation")
    assert "- x is left out: it generates tags." in lines
    start = lines.index("## d, contrast_x")
    assert lines[start + 2 : start + 6] == [
        "| system | all | number | order |",
        "| --- | ---: | ---: | ---: |",
        "| base | 62.5 ± 17.7 | 66.7 ± 0.0 | 50.0 ± 70.7 |",
        "| other | 0.0 | 0.0 | 0.0 |",
    ]
    low, high = wilson_interval(2.5, 4)
    assert f"| base | `all` | 4 | 62.5 ± 17.7 | {100 * low:.1f} to {100 * high:.1f} | 0 | 0 |" in text
    assert "| base | 1 | 2 | 75.0 ± 35.4 |" in text
    assert [line for line in lines if line.startswith("##")] == [
        "## d, contrast_x", "## d, contrast_x: by phenomenon", "## d, contrast_x: by distance",
        "## e, contrast_x", "## e, contrast_x: by phenomenon",
    ]  # fmt: skip


def test_seeds_with_other_pairs_are_refused(layout):
    files = [write_pairs(layout, "base", 1, "rrrr"), write_pairs(layout, "base", 2, "rr", pairs=PAIRS[:2])]
    with pytest.raises(UserError, match=r"seed2.* has other pairs than .*seed1.*: delete the older file"):
        stored_contrast_page(files, layout=layout)


def write_heads(folder, system, seed, heads, *, split="gold_pud", components=None):
    """Write the accuracy of heads; the values of `heads` are of each of `MEASURES`."""
    path = folder / f"{system}/seed{seed}/heads/{split}.json"
    names = {"dataset": "d", "system": system, "scale": "quick", "seed": seed, "split": split}
    own, baselines = (
        {name: dict(zip(MEASURES, values, strict=True)) | {"scored_words": 1200} for name, values in scores.items()}
        for scores in (heads, dict.fromkeys(sorted(BASELINES), (10, 20, 30)))
    )
    write_json(path, {**names, "heads": own, "baselines": baselines, "components": components or {}})
    return path


def test_the_three_best_heads_of_every_run_follow_the_baselines(tmp_path):
    heads = {"0.0": (20, 45.5, 40), "0.1": (30, 41, 40), "1.0": (30, 42, 40), "11.7": (8, 99, 99)}
    files = [
        write_heads(tmp_path, "base", 1, heads),
        write_heads(tmp_path, "base", 1, {"0.0": (None, None, None)}, split="gold_ewt"),
        write_heads(tmp_path, "depparse", 2, {"1.0": (70.123, 80, 75)}, components={"1.0": "depparse"}),
    ]
    text = page_markdown(head_page(files))
    baselines = [f"{name} |  |  |  |  | 10.00 | 20.00 | 30.00" for name in ("left", "random", "right")]
    assert text.splitlines()[2:13] == [
        *(f"| d | gold_ewt | {row} | 1,200 |" for row in [*baselines, "base |  | 1 | 0 | 0 |  |  | "]),
        *(f"| d | gold_pud | {row} | 1,200 |" for row in [
            *baselines,
            "base |  | 1 | 1 | 0 | 30.00 | 42.00 | 40.00",
            "base |  | 1 | 0 | 1 | 30.00 | 41.00 | 40.00",
            "base |  | 1 | 0 | 0 | 20.00 | 45.50 | 40.00",
            "depparse | depparse | 2 | 1 | 0 | 70.12 | 80.00 | 75.00",
        ]),
    ]  # fmt: skip
    assert "Scale quick." in text
