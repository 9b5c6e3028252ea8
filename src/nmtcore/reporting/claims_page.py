"""The ledger of claims: what papers claim, the published differences, ours, and the verdicts."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from textwrap import fill
from typing import Any, NamedTuple

from nmtcore.config.claims import Claim, ClaimedGain, TrainedSystem, trained_name
from nmtcore.config.published import MARGIN
from nmtcore.evaluation.compare import ONE_SEED
from nmtcore.evaluation.verdicts import ANSWERS, JudgedControl, Verdict
from nmtcore.reporting.difference_columns import comparison_cells, difference_columns
from nmtcore.reporting.table import (
    Column,
    Heading,
    Page,
    Paragraph,
    Table,
    TableCell,
    grouped_table,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)

_DIRECTIONS = {"gain": "better", "loss": "worse", "no_gain": "not better"}
_DIRECTIONS_OF_GAINS = {"gain": "gains more", "loss": "gains less", "no_gain": "gains no more"}

_NOTES = f"""
Published and ours: the system's score minus the baseline's. Ours on: our data set and split, where they stand in for
the paper's, which the columns data set and test name. Upheld: our 95 % interval is on the claimed side of 0;
contradicted: on the other side; not decided: around 0, or for the reason given. An interval from one seed decides
nothing: it {ONE_SEED}. That a system is not better is upheld if the interval is below the margin, 1 point of the metric
unless another is named, and contradicted if it is above 0 and not below the margin. Detectable: the smallest difference
that we would detect with a probability of 80 %. Comparisons: ours, of which claims share one where a data set stands in
for several. Also by: of a gain that is upheld, controls that gain over the same baseline, so that the gain may have
another cause. Not by: controls whose interval is not above 0. Significant gain: the paper has a mark of significance,
of level p. Gains more: the claim is about two gains; published and ours are the system's gain over the baseline minus
that of the column "than the gain of". Its interval joins the variances over the seeds of all four systems with that
over bootstrap samples of the sentences: the same samples of both tests if their sentences are the same, else
independent ones.
"""


class JudgedMinus(NamedTuple):
    """The gain that is subtracted from that of a claim, as it was run."""

    seeds: int
    """Seeds of its system."""
    baseline_seeds: int
    runs: str
    """The runs of its system, DATASET/SYSTEM."""
    dataset: str
    """Our data set."""
    split: str
    """Our split."""


class JudgedClaim(NamedTuple):
    """A claim with our verdict, and the numbers of seeds behind it."""

    claim: Claim
    verdict: Verdict
    seeds: int | None = None
    """Seeds of the system; None if it was not run."""
    baseline_seeds: int | None = None
    runs: str = ""
    """The runs of the system, DATASET/SYSTEM; empty if it was not run."""
    dataset: str | None = None
    """Our data set on which the system was trained and tested; None if it was not run."""
    split: str | None = None
    """Our split; None if the system was not run."""
    baseline_dataset: str | None = None
    """Our data set on which the baseline was trained; None if it was not run or is no system of ours."""
    baseline_runs: str = ""
    """The runs of the baseline, DATASET/SYSTEM; empty if it was not run or is no system of ours."""
    minus: JudgedMinus | None = None
    """The gain that is subtracted; None if it was not run or if there is none."""


def claims_page(judged: Sequence[JudgedClaim], *, scale: str) -> Page:
    """Make the ledger: a row per claim, a group per paper."""
    columns = [
        *text_columns("paper", "place", "claim", "claimed", "system", "data set"),
        Column(name="published", content="number", digits=2, signed=True),
        *difference_columns("ours"),
        *text_columns("verdict", "baseline", "also by", "than the gain of", "ours on", "test", "subset", "metric"),
        *number_columns("detectable", digits=2),
        *number_columns("seeds", "seeds of the baseline"),
        *text_columns("scale"),
    ]
    stand_ins = stand_in_text(scale, _stand_ins(judged), whose="the papers'")
    blocks = (Paragraph(stand_ins), _counts(judged), Heading("All claims"))
    groups = [
        [_row(entry, scale) for entry in group] for _, group in groupby(judged, key=lambda entry: entry.claim.paper)
    ]
    notes = note(fill(" ".join(_NOTES.split()), 120))
    return Page(title="Claims", blocks=(*blocks, grouped_table(columns, groups), notes))


def _counts(judged: Sequence[JudgedClaim]) -> Table:
    """Count the verdicts of each paper, upheld claims that hold for a control too, and our comparisons behind them."""
    columns = [*text_columns("paper")]
    columns += number_columns("claims", *ANSWERS, "upheld, but also by a control", "comparisons")
    rows = []
    for paper in dict.fromkeys(entry.claim.paper for entry in judged):
        own = [entry for entry in judged if entry.claim.paper == paper]
        answers = Counter(entry.verdict.answer for entry in own)
        also = sum(bool(entry.verdict.also_by) for entry in own)
        comparisons = {_comparison(entry) for entry in own if entry.verdict.difference is not None}
        rows.append([paper, len(own), *(answers[answer] for answer in ANSWERS), also, len(comparisons)])
    return make_table(columns, rows)


def _comparison(entry: JudgedClaim) -> tuple[Any, ...]:
    """Return what tells our comparison behind a claim from others."""
    claim, baseline = entry.claim, entry.baseline_runs or entry.claim.baseline.system
    items = (claim.item, claim.minus and claim.minus.item)
    return (entry.runs, baseline, entry.dataset, entry.split, claim.metric, *items, entry.minus)


def _row(entry: JudgedClaim, scale: str) -> list[Any]:
    claim, verdict = entry.claim, entry.verdict
    ours = verdict.difference
    *difference, detectable = with_origin(comparison_cells(verdict.reason if ours is None else ours), entry.runs)
    return [
        claim.paper,
        claim.place,
        claim.says or f"significant gain (p < {claim.level})",
        _claimed(claim),
        *with_origin([trained_name(claim.system, claim.dataset)], entry.runs),
        claim.dataset,
        claim.difference,
        *difference,
        _answer(claim, verdict),
        *with_origin([trained_name(claim.baseline, claim.dataset)], entry.baseline_runs),
        _also_by(claim, verdict),
        _other_gain(entry),
        _ours_on(entry),
        *(claim.split, claim.item, claim.metric),
        detectable,
        *with_origin([entry.seeds], entry.runs),
        *with_origin([entry.baseline_seeds], entry.baseline_runs),
        scale,
    ]


def _claimed(claim: Claim) -> str:
    """Say which way the difference goes, and the margin of no gain if it is an unusual one."""
    words = (_DIRECTIONS if claim.minus is None else _DIRECTIONS_OF_GAINS)[claim.direction]
    return words if claim.margin == MARGIN else f"{words} (margin {claim.margin:g})"


def _other_gain(entry: JudgedClaim) -> TableCell:
    """Say of two gains what the other one is, with a link to its runs."""
    claim, minus = entry.claim, entry.minus
    if claim.minus is None:
        return TableCell(None)
    if minus is None:
        return TableCell(_gain_text(claim.minus))
    seeds = f"seeds: {minus.seeds} and {minus.baseline_seeds}"
    return TableCell(f"{_gain_text(claim.minus)}, {seeds}", origin=minus.runs)


def _gain_text(gain: ClaimedGain) -> str:
    system, baseline = (trained_name(trained, gain.dataset) for trained in (gain.system, gain.baseline))
    return ", ".join(filter(None, (f"{system} over {baseline} on {gain.dataset}", gain.split, gain.item)))


def claimed_text(claim: Claim) -> str:
    """Say what a claim says about its difference."""
    return _claimed(claim) + ("" if claim.minus is None else f" than {_gain_text(claim.minus)}")


def _answer(claim: Claim, verdict: Verdict) -> TableCell:
    """Write a verdict, with the reason why nothing was run or decided."""
    gain = ""
    if verdict.answer == "upheld" and claim.direction == "no_gain" and verdict.difference.interval[0] > 0:
        margin = f"less than {claim.margin:g}"
        gain = f": a gain of {margin}" if claim.minus is None else f": {margin} more"
    return TableCell(f"{verdict.answer}{gain}", reason=verdict.reason)


def _also_by(claim: Claim, verdict: Verdict) -> str:
    """Say which controls have an upheld gain as well, which have not, and why there is nothing to say.

    Of a claim that was not run there is nothing to say in any case.
    """
    if verdict.answer == "not run":
        return ""
    if claim.direction != "gain":
        return "no gain claimed"
    if not claim.controls:
        return "no control named"
    if verdict.answer != "upheld":
        return "no gain to explain"
    names = [trained_name(control.trained, claim.dataset) for control in verdict.controls]
    return "; ".join(_judged_control(*named) for named in zip(verdict.controls, names, strict=True))


def _judged_control(control: JudgedControl, name: str) -> str:
    if control.gains is None:
        return f"not known of {name}: {control.reason or 'not run'}"
    return name if control.gains else f"not by {name}"


def stand_in_text(scale: str, stand_ins: Sequence[tuple[str, str]], *, whose: str = "the paper's") -> str:
    """Say at which scale and on which data sets results are ours, given pairs of a paper's data set and ours."""
    named = ", ".join(f"{ours} for {dataset}" for dataset, ours in stand_ins)
    return f"Scale {scale}" + (f"; data sets that stand in for {whose}: {named}." if named else ".")


def _stand_ins(judged: Sequence[JudgedClaim]) -> list[tuple[str, str]]:
    """List the data sets of the papers that others stand in for, with these, as far as they were run."""
    pairs = [
        (trained.dataset, ours)
        for entry in judged
        for trained, ours in _run_on(entry)
        if trained.dataset is not None and ours is not None and ours != trained.dataset
    ]
    return list(dict.fromkeys(pairs))


def _run_on(entry: JudgedClaim) -> list[tuple[TrainedSystem, str | None]]:
    """Pair the systems of a claim with our data sets on which they were run."""
    claim = entry.claim
    pairs = [(claim.system, entry.dataset), (claim.baseline, entry.baseline_dataset)]
    return [*pairs, (claim.minus.system, entry.minus.dataset)] if claim.minus and entry.minus else pairs


def _ours_on(entry: JudgedClaim) -> str:
    """Name our data set and split if they are not the paper's."""
    claim, minus = entry.claim, entry.minus
    if entry.dataset is None:
        return ""
    places = [((entry.dataset, entry.split), (claim.system.dataset, claim.split))]
    if claim.minus and minus:
        places.append(((minus.dataset, minus.split), (claim.minus.system.dataset, claim.minus.split)))
    if all(ours == theirs for ours, theirs in places):
        return ""
    return " minus ".join(", ".join(filter(None, ours)) for ours, _ in places)
