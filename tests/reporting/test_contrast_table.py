"""The table of contrastive pairs of all systems."""

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.contrasts import wilson_interval
from nmtcore.inference.schemas import ContrastScore, write_contrast_scores
from nmtcore.layout import Layout
from nmtcore.reporting.markdown import page_markdown
from nmtcore.reporting.plain_tables import contrast_page

PAIRS = [("number", 1), ("number", 4), ("order", None), ("number", 1)]


def write_run(folder, system, seed, right, *, dataset="d", pairs=PAIRS):
    """Write the scores of a run; `right` has a letter per pair: right, wrong or tie."""
    path = folder / f"results/quick/{dataset}/{system}/seed{seed}/contrast/contrast_x.parquet"
    wrong = {"r": -2.0, "w": -0.5, "t": -1.0}
    scores = [ContrastScore(*pair, -1.0, wrong[letter], 3, 3, 0) for pair, letter in zip(pairs, right, strict=True)]
    write_contrast_scores(path, scores)
    return path


def text_of(tmp_path, files, **values):
    layout = Layout(results=tmp_path / "results", scales=("quick",))
    return page_markdown(contrast_page(files, layout=layout, **values))


def test_phenomena_are_columns_with_means_over_seeds(tmp_path):
    files = [write_run(tmp_path, "base", 1, "rrwt"), write_run(tmp_path, "base", 2, "rwrr")]
    files.append(write_run(tmp_path, "other", 1, "wwww"))
    text = text_of(tmp_path, files, left_out=["x is left out: it generates tags."])
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
    assert "| base | 4 | 1 | 50.0 ± 70.7 |" in text


def test_every_data_set_has_a_section(tmp_path):
    files = [
        write_run(tmp_path, system, 1, "rr", dataset=name, pairs=PAIRS[2:3] * 2) for system in "ab" for name in "ed"
    ]
    text = text_of(tmp_path, files)
    assert [line for line in text.splitlines() if line.startswith("##")] == [
        "## d, contrast_x", "## d, contrast_x: by phenomenon", "## e, contrast_x", "## e, contrast_x: by phenomenon",
    ]  # fmt: skip


def test_seeds_with_other_pairs_are_refused(tmp_path):
    files = [write_run(tmp_path, "base", 1, "rrrr"), write_run(tmp_path, "base", 2, "rr", pairs=PAIRS[:2])]
    with pytest.raises(UserError, match=r"seed2.* has other pairs than .*seed1.*: delete the older file"):
        text_of(tmp_path, files)
