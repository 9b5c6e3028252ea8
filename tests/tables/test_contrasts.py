"""Claims about more than two numbers: gains compared with gains, slopes over systems, correlations, and times."""

import json
import re
from statistics import fmean

import numpy as np
import pytest
from published_claims import paper_claims
from tables.planned import claim, planned, scored, stored_frame
from tables.runs import Results as Folder
from tables.test_papers import BLEU, OTHER, TABLE, published

from nmtcore.errors import UserError
from nmtcore.files import write_lines
from nmtcore.tables.ledger import comparisons, ledger

WORDS = ["the cat sees a dog .", "does he see it ?", "a cat and a dog", "he tries to sleep .", "who is it now ?"] * 8
SYSTEMS = ("base", "two", "three", "four", "five")
SEEDS = (1, 2, 3)
CHRF = BLEU.replace("bleu", "chrf")


def translate(step):
    """Replace every `step`-th word of the references."""
    lines = [line.split() for line in WORDS]
    return [" ".join("x" if (i + k) % step == 0 else w for k, w in enumerate(line)) for i, line in enumerate(lines)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = Folder(tmp_path_factory.mktemp("contrasts"), WORDS, WORDS)
    runs = {name: [translate(2 + 2 * place + seed) for seed in SEEDS] for place, name in enumerate(SYSTEMS)}
    return made.write_runs(runs)


def judged(folder, *claims):
    """Judge claims by the scores of the runs; return the ledger's rows and the frame's."""
    cells = [{"row": name, "column": "ours", **scored(folder.layout, name, SEEDS)} for name in SYSTEMS]
    frame = stored_frame(planned("scores", cells, seeds={name: [*SEEDS] for name in SYSTEMS}, claims=claims))
    return ledger([frame]), frame


def means(folder):
    """Return the mean BLEU of each system, as the table has it."""
    _, frame = judged(folder)
    return [fmean(row["values"]) for row in frame.rows if row["delta"] is None]


def read(make_project, **keys):
    """Read the claims of a table with two data sets, three systems and a sentence."""
    rows = {"transformer_base": [1.0, 5.0], "depparse_l1": [2, 7.5], "depparse_l2": [4, 8.5]}
    says = {"says": "So", "systems": ["depparse_l1"], **keys}
    return paper_claims(published(make_project, TABLE | {"columns": [BLEU, OTHER], "rows": rows, "claims": [says]}))


def test_a_gain_is_read_with_the_gain_that_it_is_compared_with(make_project):
    (own,) = read(make_project, columns=[OTHER], beyond_columns=[BLEU])
    assert own.difference == (7.5 - 5) - (2 - 1)
    terms = [(weight, cell.system, cell.tested) for weight, cell in own.terms]
    assert terms == [
        (1, "depparse_l1", "demo_de2en"), (-1, "transformer_base", "demo_de2en"),
        (-1, "depparse_l1", "demo_en2de"), (1, "transformer_base", "demo_en2de"),
    ]  # fmt: skip


def test_a_slope_is_read_for_each_column(make_project):
    systems = ["transformer_base", "depparse_l1", "depparse_l2"]
    slopes = read(make_project, systems=systems, places=[1, 2, 4])
    published_slopes = [np.polyfit([1, 2, 4], numbers, 1)[0] for numbers in ([1, 2, 4], [5, 7.5, 8.5])]
    assert [own.difference for own in slopes] == pytest.approx(published_slopes)
    assert [cell.system for _, cell in slopes[0].terms] == systems


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"beyond_columns": [OTHER]}, "beyond_columns has 1 entries for 0 columns"),
        ({"beyond_systems": ["depparse_l1"] * 2}, "beyond_systems has 2 entries for 1 systems"),
        ({"beyond_baselines": ["nmt"]}, "beyond_baselines needs beyond_systems, which are compared with them"),
        ({"beyond_systems": ["nmt"]}, "claims: unknown row 'nmt'"),
        ({"places": [1, 2]}, "places has 2 entries for 1 systems"),
        ({"places": [1], "correlated_with": [BLEU]}, "a claim has one of places and correlated_with, not both"),
        ({"columns": [BLEU], "correlated_with": ["demo_en2de/test/ter"]}, "unknown column 'demo_en2de/test/ter'"),
    ],
)
def test_mistakes_are_sentences(make_project, keys, message):
    with pytest.raises(UserError, match=re.escape(message)):
        read(make_project, **keys)


def test_slopes_and_gains_are_sums_of_means(folder):
    names = [scored(folder.layout, name, SEEDS) for name in SYSTEMS]
    cells = [claim(own).system for own in names]
    places = np.arange(5.0)
    weights = (places - 2) / ((places - 2) ** 2).sum()
    slope = claim(names[4], names[0], compares="slope", terms=tuple(zip(weights.tolist(), cells, strict=True)))
    terms = tuple(zip((1.0, -1.0, -1.0, 1.0), (cells[1], cells[0], cells[4], cells[3]), strict=True))
    gains = claim(names[1], names[0], compares="gains", terms=terms, direction="gain")
    (rising, larger), _ = judged(folder, slope, gains)
    scores = means(folder)
    assert rising["ours"][0] == pytest.approx(np.polyfit(places, scores, 1)[0])
    assert (rising["claimed"], rising["answer"]) == ("rises", "upheld")
    assert (rising["system"], rising["baseline"]) == ("base to five", "slope over 5 systems")
    assert larger["ours"][0] == pytest.approx((scores[1] - scores[0]) - (scores[4] - scores[3]))
    assert larger["baseline"] == "base, beyond the gain of five over four"


def test_two_measures_of_systems_correlate(folder):
    pairs = tuple(
        tuple(claim(scored(folder.layout, name, SEEDS, metric)).system for metric in ("chrf", "bleu"))
        for name in SYSTEMS
    )
    own = claim(
        scored(folder.layout, "base", SEEDS, "chrf"), scored(folder.layout, "base", SEEDS), compares="correlation",
        pairs=pairs * 2, difference=None,  # as if the data set stood in for two
    )  # fmt: skip
    (row,), frame = judged(folder, own)
    flat = frame.claims[0]["values"]
    assert row["ours"][0] == pytest.approx(np.corrcoef(flat[::2], flat[1::2])[0, 1])
    assert (row["system"], row["baseline"], row["answer"]) == ("5 systems", "chrf with bleu", "upheld")


def test_times_are_compared_over_seeds(folder, tmp_path):
    def timed(name, times):
        files = {str(seed): str(tmp_path / f"{name}{seed}.jsonl") for seed in SEEDS}
        for path, time in zip(files.values(), times, strict=True):
            line = {"update": 10, "updates": 10, "epoch": 1, "seconds": 10 * time, "tokens_per_second": 1}
            write_lines(path, [json.dumps(line)])
        source = {"files": {"history": files}}
        return {"system": name, "runs": f"d/{name}", "ours": "d", "metric": "seconds_per_update", "source": source}

    slow, base = timed("two", (1.2, 1.3, 1.4)), timed("base", (1.0, 1.1, 1.2))
    total = slow | {"metric": "training_time"}
    claims = [claim(slow, base, direction="no_gain", difference=None), claim(total, slow, difference=None)]
    (row, itself), _ = judged(folder, *claims)
    assert row["ours"][0] == pytest.approx(0.2)
    assert row["answer"] == "upheld"
    # Two numbers of the same runs: their differences by seed, 10 times 1.2 less 1.2...
    differences = np.array([10.8, 11.7, 12.6])
    half = 4.302653 * differences.std(ddof=1) / 3**0.5
    assert itself["ours"] == pytest.approx([11.7, 11.7 - half, 11.7 + half])
    assert (itself["system"], itself["baseline"]) == ("two", "two, seconds per update")
    assert comparisons([row, itself]) == 2
