"""The ledger of claims: what papers claim, and what our results say about it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import fill
from typing import Any

from nmtcore.config.cells import GridCell
from nmtcore.config.claims import Claim, TrainedSystem, trained_name
from nmtcore.config.planned_tables import PlannedClaim, PlannedTable
from nmtcore.config.published import MARGIN
from nmtcore.evaluation.compare import ONE_SEED, Difference
from nmtcore.evaluation.verdicts import ANSWERS, JudgedControl, Verdict, judge_claim
from nmtcore.reporting.results import Compared, Undecided
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Page,
    Paragraph,
    Table,
    TableCell,
    estimate_cell,
    estimate_column,
    grouped_table,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)

_DIRECTIONS = {"gain": "better", "loss": "worse", "no_gain": "not better"}

_NOTES = f"""
Published and ours: the system's score minus the baseline's. Ours on: our data set and split, where they stand in for
the paper's, which the columns data set and test name. Upheld: our 95 % interval is on the claimed side of 0;
contradicted: on the other side; not decided: around 0, or for the reason given. An interval from one seed decides
nothing: it {ONE_SEED}. That a system is not better is upheld if the interval is below the margin, 1 point of the metric
unless another is named, and contradicted if it is above 0 and not below the margin. Detectable: the smallest difference
that we would detect with a probability of 80 %. Comparisons: ours, of which claims share one where a data set stands in
for several. Also by: of a gain that is upheld, controls that gain over the same baseline, so that the gain may have
another cause. Not by: controls whose interval is not above 0. Significant gain: the paper has a mark of significance,
of level p.
"""


@dataclass(frozen=True, kw_only=True)
class JudgedClaim:
    """A comparison that a paper makes, with our verdict and what is behind it."""

    claim: Claim
    verdict: Verdict
    seeds: int | None = None
    """Seeds of the system; None if it was not run."""
    baseline_seeds: int | None = None
    """Seeds of the baseline; None if it was not run or is no system of ours."""
    runs: str = ""
    """The runs of the system, DATASET/SYSTEM; empty if it was not run."""
    baseline_runs: str = ""
    """The runs of the baseline; empty if it was not run or is no system of ours."""
    dataset: str | None = None
    """Our data set on which the system was trained and tested; None if it was not run."""
    split: str | None = None
    """Our split; None if the system was not run."""

    @property
    def comparison(self) -> tuple[Any, ...]:
        """What tells our comparison behind the claim from others."""
        claim = self.claim
        baseline = self.baseline_runs or claim.baseline.system
        return (self.runs, baseline, self.dataset, self.split, claim.metric, claim.item)

    @property
    def text(self) -> tuple[str, str, str]:
        """The paper, the place and the words of the claim; claims with the same are one row of the ledger."""
        claim = self.claim
        return claim.paper, claim.place, claim.says or f"significant gain (p < {claim.level})"


def judged_claims(table: PlannedTable, compare: Callable[[GridCell, GridCell], Compared]) -> list[JudgedClaim]:
    """Judge the claims about a table."""
    return [_judged(table, planned, compare) for planned in table.claims]


def _judged(
    table: PlannedTable, planned: PlannedClaim, compare: Callable[[GridCell, GridCell], Compared]
) -> JudgedClaim:
    claim, cell, baseline = planned.claim, planned.cell, planned.baseline
    compared: Compared = planned.reason if cell is None or baseline is None else compare(cell, baseline)
    if isinstance(compared, str):
        return JudgedClaim(claim=claim, verdict=judge_claim(claim, None, reason=compared))
    difference, reason = compared if isinstance(compared, Undecided) else (compared, "")
    controls: dict[TrainedSystem, Difference | str] = {}
    for control in planned.controls:
        compared = compare(control.cell, control.baseline) if control.cell else control.reason
        controls[control.trained] = compared.reason if isinstance(compared, Undecided) else compared
    seeds = [len(table.runs[own.runs].seeds) if own.runs else None for own in (cell, baseline)]
    return JudgedClaim(
        claim=claim,
        verdict=judge_claim(claim, difference, controls=controls, reason=planned.undecided or reason),
        seeds=seeds[0],
        baseline_seeds=seeds[1],
        runs=cell.runs or "",
        baseline_runs=baseline.runs or "",
        dataset=cell.dataset,
        split=cell.split,
    )


def claims_page(judged: Sequence[JudgedClaim], *, scale: str) -> Page:
    """Make the ledger: the counts of each paper, a row per claim, and the comparisons that were run."""
    compared = [entry for entry in judged if entry.verdict.answer != "not run"]
    blocks: list[Block] = [Paragraph(stand_in_text(scale, _stand_ins(judged), whose="the papers'")), _counts(judged)]
    if compared:
        blocks += [Heading("Claims"), _claims(compared), Heading("Comparisons"), _comparisons(compared, scale)]
    blocks += _not_run([entry for entry in judged if entry.verdict.answer == "not run"])
    return Page(title="Claims", blocks=(*blocks, note(fill(" ".join(_NOTES.split()), 120))))


def _counts(judged: Sequence[JudgedClaim]) -> Table:
    """Count the verdicts of each paper, upheld claims that hold for a control too, and our comparisons behind them."""
    columns = [*text_columns("paper")]
    columns += number_columns("claims", *ANSWERS, "upheld, but also by a control", "comparisons")
    rows = []
    for paper, group in groupby(judged, key=lambda entry: entry.claim.paper):
        own = list(group)
        answers = Counter(entry.verdict.answer for entry in own)
        also = sum(bool(entry.verdict.also_by) for entry in own)
        comparisons = {entry.comparison for entry in own if entry.verdict.difference is not None}
        rows.append([paper, len(own), *(answers[answer] for answer in ANSWERS), also, len(comparisons)])
    return make_table(columns, rows)


def _claims(judged: Sequence[JudgedClaim]) -> Table:
    """Make a row per claim: its verdicts, and the smallest and the largest of our differences."""
    groups: dict[tuple[str, str, str], list[JudgedClaim]] = {}
    for entry in judged:
        groups.setdefault(entry.text, []).append(entry)
    columns = [*text_columns("paper", "place", "claim", "claimed", "verdict")]
    columns += number_columns("comparisons")
    columns += [
        Column(name=name, content="number", digits=2, signed=True)
        for name in ("published, mean", "ours, least", "ours, most")
    ]
    rows = []
    for text, entries in groups.items():
        answers = Counter(entry.verdict.answer for entry in entries)
        shown = [
            answer if len(answers) == 1 else f"{answer} {answers[answer]}" for answer in ANSWERS if answers[answer]
        ]
        published = [entry.claim.difference for entry in entries if entry.claim.difference is not None]
        deltas = [entry.verdict.difference.delta for entry in entries]
        rows.append(
            [
                *(*text, ", ".join(dict.fromkeys(claimed_text(entry.claim) for entry in entries)), ", ".join(shown)),
                len({entry.comparison for entry in entries}),
                *(sum(published) / len(published) if published else None, min(deltas), max(deltas)),
            ]
        )
    return make_table(columns, rows)


def _comparisons(judged: Sequence[JudgedClaim], scale: str) -> Table:
    """Make a row per comparison of a claim, a group per claim."""
    columns = [
        *text_columns("paper", "place", "claim", "claimed", "system", "data set"),
        Column(name="published", content="number", digits=2, signed=True),
        estimate_column("ours"),
        *text_columns("verdict", "baseline", "also by", "ours on", "test", "subset", "metric"),
        *(Column(name=name, content="number", digits=digits, detail=True)
          for name, digits in (("detectable", 2), ("seeds", 0), ("seeds of the baseline", 0))),
        Column(name="scale", detail=True),
    ]  # fmt: skip
    groups = [[_row(entry, scale) for entry in group] for _, group in groupby(judged, key=lambda entry: entry.text)]
    return grouped_table(columns, groups, folded=f"{len(judged)} rows")


def _row(entry: JudgedClaim, scale: str) -> list[Any]:
    claim, verdict = entry.claim, entry.verdict
    estimate = estimate_cell(verdict.difference)
    difference, detectable = with_origin([estimate, verdict.difference.detectable], entry.runs)
    return [
        *(*entry.text, claimed_text(claim)),
        *with_origin([trained_name(claim.system, claim.dataset)], entry.runs),
        *(claim.dataset, claim.difference, difference, _answer(claim, verdict)),
        *with_origin([trained_name(claim.baseline, claim.dataset)], entry.baseline_runs),
        *(_also_by(claim, verdict), _ours_on(entry), claim.split, claim.item, claim.metric, detectable),
        *with_origin([entry.seeds], entry.runs),
        *with_origin([entry.baseline_seeds], entry.baseline_runs),
        scale,
    ]


def _not_run(judged: Sequence[JudgedClaim]) -> Iterator[Block]:
    """Yield a line that counts the comparisons that were not run, and says how they are."""
    if judged:
        reasons = Counter(entry.verdict.reason for entry in judged)
        (reason, count), *others = reasons.most_common()
        more = f" and {len(others)} other reasons" if others else ""
        yield Paragraph(
            f"{len(judged)} comparisons were not run ({reason}: {count}{more}). `snakemake --cores 8 tables` makes the "
            "runs that are missing; results/tables/claims.json has the reason of each."
        )


def claimed_text(claim: Claim) -> str:
    """Say which way the difference goes, and the margin of no gain if it is an unusual one."""
    words = _DIRECTIONS[claim.direction]
    return words if claim.margin == MARGIN else f"{words} (margin {claim.margin:g})"


def _answer(claim: Claim, verdict: Verdict) -> TableCell:
    """Write a verdict, with the reason why nothing was decided."""
    small = verdict.answer == "upheld" and claim.direction == "no_gain" and verdict.difference.interval[0] > 0
    gain = f": a gain of less than {claim.margin:g}" if small else ""
    return TableCell(f"{verdict.answer}{gain}", reason=verdict.reason)


def _also_by(claim: Claim, verdict: Verdict) -> str:
    """Say which controls have an upheld gain as well, which have not, and why there is nothing to say."""
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
    pairs: Mapping[tuple[str, str], None] = dict.fromkeys(
        (trained.dataset, ours)
        for entry in judged
        for trained, ours in (
            (entry.claim.system, entry.dataset),
            (entry.claim.baseline, entry.baseline_runs.partition("/")[0]),
        )
        if trained.dataset and ours and ours != trained.dataset
    )
    return list(pairs)


def _ours_on(entry: JudgedClaim) -> str:
    """Name our data set and split if they are not the paper's."""
    ours, theirs = (entry.dataset, entry.split), (entry.claim.system.dataset, entry.claim.split)
    return "" if ours == theirs else ", ".join(filter(None, ours))
