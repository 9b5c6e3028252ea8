"""The ledger of claims: what papers claim, and what our results say about it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from nmtcore.evaluation.compare import ONE_SEED
from nmtcore.reporting.results import Compared, Undecided
from nmtcore.tables.blocks import (
    Block,
    Column,
    Estimate,
    Heading,
    Page,
    Paragraph,
    Table,
    TableCell,
    estimate_column,
    grouped_table,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.tables.cells import MARGIN, Cell, Claim, PlannedTable, trained_name
from nmtcore.tables.verdicts import ANSWERS, Verdict, judge_claim

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

MARKED = "Systems with a mark of significance are better"
"""What the papers claim by marks in their tables."""

JudgedClaim = Mapping[str, Any]
"""A row of the ledger: a comparison that a paper makes, and what our results say of it, as `claim_row` makes it."""


def judged_claims(table: PlannedTable, compare: Callable[[Cell, Cell], Compared]) -> list[JudgedClaim]:
    """Judge the claims about a table."""
    return [_judged(table, claim, compare) for claim in table.claims]


def _judged(table: PlannedTable, claim: Claim, compare: Callable[[Cell, Cell], Compared]) -> JudgedClaim:
    system, baseline = claim.system, claim.baseline
    compared = claim.reason or compare(system, baseline)
    if isinstance(compared, str):
        return claim_row(claim, judge_claim(claim, None, reason=compared))
    difference, reason = compared if isinstance(compared, Undecided) else (compared, "")
    controls = [control.reason or compare(control, against) for control, against in claim.controls]
    seeds = [len(table.runs[own.runs].seeds) if own.runs else None for own in (system, baseline)]
    return claim_row(
        claim,
        judge_claim(
            claim,
            difference,
            controls=[own.reason if isinstance(own, Undecided) else own for own in controls],
            reason=claim.undecided or reason,
        ),
        runs=system.runs or "",
        baseline_runs=baseline.runs or "",
        our_dataset=system.ours,
        our_split=system.test,
        seeds=seeds[0],
        baseline_seeds=seeds[1],
    )


def claim_row(claim: Claim, verdict: Verdict, **compared: Any) -> JudgedClaim:
    """Make the row of a comparison, of plain values, from the claim, our verdict, and what we `compared` for it.

    That are the `runs` and `baseline_runs` as DATASET/SYSTEM (empty: not run, or a baseline that is no system of ours),
    their numbers of `seeds` and `baseline_seeds`, and `our_dataset` and `our_split`.
    """
    ours = verdict.difference
    delta = 0.0 if ours is None else ours.delta
    small = verdict.answer == "upheld" and claim.direction == "no_gain" and ours.interval[0] > 0
    return {
        "paper": claim.paper,
        "place": claim.place,
        "claim": claim.says or f"significant gain (p < {claim.level})",
        "says": claim.says or MARKED,
        "claimed": _DIRECTIONS[claim.direction] + f" (margin {claim.margin:g})" * (claim.margin != MARGIN),
        "system": trained_name(claim.system, claim.system.tested),
        "baseline": trained_name(claim.baseline, claim.system.tested),
        "dataset": claim.system.tested,
        "system_dataset": claim.system.dataset,
        "baseline_dataset": claim.baseline.dataset,
        **{key: getattr(claim.system, key) for key in ("split", "item", "metric")},
        "published": claim.difference,
        "ours": None if ours is None else Estimate(ours.delta, *ours.interval),
        "detectable": None if ours is None else ours.detectable,
        "answer": verdict.answer,
        "shown_answer": verdict.answer + f": a gain of less than {claim.margin:g}" * small,
        "as_claimed": {"gain": delta > 0, "loss": delta < 0, "no_gain": delta < claim.margin}[claim.direction],
        "reason": verdict.reason,
        "also_by": [trained_name(own, claim.system.tested) for own in verdict.also_by],
        "controls": _controls(claim, verdict),
        **{"runs": "", "baseline_runs": ""},
        **dict.fromkeys(("our_dataset", "our_split", "seeds", "baseline_seeds")),
        **compared,
    }


def _controls(claim: Claim, verdict: Verdict) -> str:
    """Say which controls have an upheld gain as well, which have not, and why there is nothing to say."""
    if claim.direction != "gain":
        return "no gain claimed"
    if not claim.controls:
        return "no control named"
    if verdict.answer != "upheld":
        return "no gain to explain"
    said = []
    for control in verdict.controls:
        name = trained_name(control.cell, claim.system.tested)
        unknown = f"not known of {name}: {control.reason}"
        said.append(unknown if control.gains is None else name if control.gains else f"not by {name}")
    return "; ".join(said)


def comparisons(judged: Sequence[JudgedClaim]) -> int:
    """Count our comparisons behind claims, of which several may share one."""
    keys = ("runs", "our_dataset", "our_split", "metric", "item")
    return len(
        {(own["baseline_runs"] or own["baseline"], *(own[key] for key in keys)) for own in judged if own["ours"]}
    )


def claims_page(judged: Sequence[JudgedClaim], *, scale: str) -> Page:
    """Make the ledger: the counts of each paper, a row per claim, and the comparisons that were run."""
    compared = [own for own in judged if own["ours"]]
    blocks: list[Block] = [Paragraph(stand_in_text(scale, _stand_ins(judged), whose="the papers'")), _counts(judged)]
    if compared:
        blocks += [Heading("Claims"), _claims(compared), Heading("Comparisons"), _comparisons(compared, scale)]
    blocks += _not_run([own for own in judged if not own["ours"]])
    return Page(title="Claims", blocks=(*blocks, note(fill(" ".join(_NOTES.split()), 120))))


def _counts(judged: Sequence[JudgedClaim]) -> Table:
    """Count the verdicts of each paper, upheld claims that hold for a control too, and our comparisons behind them."""
    columns = [*text_columns("paper")]
    columns += number_columns("claims", *ANSWERS, "upheld, but also by a control", "comparisons")
    rows = []
    for paper, own in by(judged, "paper").items():
        answers = Counter(entry["answer"] for entry in own)
        also = sum(bool(entry["also_by"]) for entry in own)
        rows.append([*paper, len(own), *(answers[answer] for answer in ANSWERS), also, comparisons(own)])
    return make_table(columns, rows)


def by(judged: Sequence[JudgedClaim], *keys: str) -> dict[tuple[str, ...], list[JudgedClaim]]:
    """Group rows by some of their values, in the order of the first ones."""
    groups: dict[tuple[str, ...], list[JudgedClaim]] = {}
    for entry in judged:
        groups.setdefault(tuple(entry[key] for key in keys), []).append(entry)
    return groups


def _claims(judged: Sequence[JudgedClaim]) -> Table:
    """Make a row per claim: its verdicts, and the smallest and the largest of our differences."""
    columns = [*text_columns("paper", "place", "claim", "claimed", "verdict")]
    columns += number_columns("comparisons")
    columns += [
        Column(name=name, content="number", digits=2, signed=True)
        for name in ("published, mean", "ours, least", "ours, most")
    ]
    rows = []
    for text, entries in by(judged, "paper", "place", "claim").items():
        answers = Counter(entry["answer"] for entry in entries)
        shown = [
            answer if len(answers) == 1 else f"{answer} {answers[answer]}" for answer in ANSWERS if answers[answer]
        ]
        published = [entry["published"] for entry in entries if entry["published"] is not None]
        deltas = [entry["ours"][0] for entry in entries]
        rows.append(
            [
                *(*text, ", ".join(dict.fromkeys(entry["claimed"] for entry in entries)), ", ".join(shown)),
                comparisons(entries),
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
    claims = by(judged, "paper", "place", "claim").values()
    groups = [[_row(entry, scale) for entry in entries] for entries in claims]
    return grouped_table(columns, groups)


def _row(own: JudgedClaim, scale: str) -> list[Any]:
    system, ours, detectable, seeds = with_origin(
        [own["system"], Estimate(*own["ours"]), own["detectable"], own["seeds"]], own["runs"]
    )
    baseline, baseline_seeds = with_origin([own["baseline"], own["baseline_seeds"]], own["baseline_runs"])
    theirs, ours_on = (own["system_dataset"], own["split"]), (own["our_dataset"], own["our_split"])
    return [
        *(own[key] for key in ("paper", "place", "claim", "claimed")),
        *(system, own["dataset"], own["published"], ours, TableCell(own["shown_answer"], reason=own["reason"])),
        *(baseline, own["controls"], "" if ours_on == theirs else ", ".join(filter(None, ours_on))),
        *(own[key] for key in ("split", "item", "metric")),
        *(detectable, seeds, baseline_seeds, scale),
    ]


def _not_run(judged: Sequence[JudgedClaim]) -> Iterator[Block]:
    """Yield a line that counts the comparisons that were not run, and says how they are."""
    if judged:
        reasons = Counter(own["reason"] for own in judged)
        (reason, count), *others = reasons.most_common()
        more = f" and {len(others)} other reasons" if others else ""
        yield Paragraph(
            f"{len(judged)} comparisons were not run ({reason}: {count}{more}). `snakemake --cores 8 tables` makes the "
            "runs that are missing; results/tables/claims.json has the reason of each."
        )


def stand_in_text(scale: str, stand_ins: Sequence[tuple[str, str]], *, whose: str = "the paper's") -> str:
    """Say at which scale and on which data sets results are ours, given pairs of a paper's data set and ours."""
    named = ", ".join(f"{ours} for {dataset}" for dataset, ours in stand_ins)
    return f"Scale {scale}" + (f"; data sets that stand in for {whose}: {named}." if named else ".")


def _stand_ins(judged: Sequence[JudgedClaim]) -> list[tuple[str, str]]:
    """List the data sets of the papers that others stand in for, with these, as far as they were run."""
    pairs = dict.fromkeys(
        pair
        for own in judged
        for pair in (
            (own["system_dataset"], own["our_dataset"]),
            (own["baseline_dataset"], own["baseline_runs"].partition("/")[0]),
        )
    )
    return [(theirs, ours) for theirs, ours in pairs if theirs and ours and theirs != ours]
