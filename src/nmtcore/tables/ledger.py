"""The ledger: what claims of papers compare, as rows of frames, what our results say about each, and its page.

Shapes: B sentences.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill
from typing import Any

from nmtcore.evaluation.compare import ONE_SEED
from nmtcore.evaluation.subsets import FEW
from nmtcore.tables.blocks import (
    Block,
    Column,
    Estimate,
    Heading,
    Page,
    Paragraph,
    Table,
    estimate_column,
    grouped_table,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.tables.cells import MARGIN, Cell, Claim, PlannedTable, trained_name
from nmtcore.tables.kinds import KINDS
from nmtcore.tables.measures import as_gain, is_amount, measure_label
from nmtcore.tables.parts import claimed_part, parts_of
from nmtcore.tables.query import Frame, Results, Row, plain_row, rows_by
from nmtcore.tables.sheets import stand_in_text

ANSWERS = ("upheld", "contradicted", "not decided", "not run")
"""The verdicts."""

SINGLE_SEED = "one seed, so that training noise is unknown"
"""Why there is no verdict on a difference of which a system has one seed."""

MARKED = "Systems with a mark of significance are better"
"""What the papers claim by marks in their tables."""

DIRECTIONS = {
    "difference": {"gain": "better", "loss": "worse", "no_gain": "not better", "none": "as good"},
    "amount": {"gain": "more", "loss": "less", "no_gain": "no more", "none": "as much"},
    "gains": {"gain": "larger gain", "loss": "smaller gain", "no_gain": "no larger gain", "none": "the same gain"},
    "slope": {"gain": "rises", "loss": "falls", "no_gain": "does not rise", "none": "neither rises nor falls"},
    "correlation": {
        "gain": "correlated",
        "loss": "negatively correlated",
        "no_gain": "not positively correlated",
        "none": "not correlated",
    },
}
"""What is claimed, by what a claim compares (of differences, also whether they are of scores) and by its direction."""

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

Judged = dict[str, Any]
"""A row of the ledger: a comparison that a paper makes, and what our results say of it, as plain values."""


def claim_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield what claims compare: of each, the system and then its controls, unless there is a reason not to."""
    for number, claim in enumerate(table.claims):
        pairs = [(claim.system, claim.baseline), *claim.controls]
        for position, (cell, baseline) in enumerate(pairs[:1] if claim.reason else pairs):
            row = plain_row(cell) | {"reason": claim.reason or cell.reason}
            yield (row if row["reason"] else _claimed(table, results, claim, cell, baseline)) | {
                **{"claim": number, "control": position - 1 if position else None},
                **_names(claim, cell, baseline),
                "column": "/".join(filter(None, (cell.tested, cell.split, cell.metric))),
                "published": None if position else claim.difference,
            }


def _names(claim: Claim, cell: Cell, baseline: Cell) -> Row:
    """Name what is compared, and with what."""
    row, other = (trained_name(one, claim.system.tested) for one in (cell, baseline))
    if claim.compares == "difference":
        measured = ((baseline.item, cell.item), (measure_label(baseline.measure), measure_label(cell.measure)))
        other = ", ".join([other, *(theirs for theirs, ours in measured if theirs != ours)])
    if claim.compares == "gains":
        beyond = claim.terms[2][1]
        gain = f"gain on {beyond.item if beyond.item != cell.item else beyond.tested}"
        if beyond.system != cell.system:
            gain = f"gain of {trained_name(beyond, cell.tested)} over {trained_name(claim.terms[3][1], cell.tested)}"
        other = f"{other}, beyond the {gain}"
    if claim.compares == "slope":
        row, other = f"{other} to {row}", f"slope over {len(claim.terms)} systems"
    if claim.compares == "correlation":
        systems = {pair[0].system for pair in claim.pairs}
        row, other = f"{len(systems)} systems", f"{cell.metric} with {baseline.metric}"
    return {"row": row, "baseline": other}


def _claimed(table: PlannedTable, results: Results, claim: Claim, cell: Cell, baseline: Cell) -> Row:
    """Compare what a claim is about, or say why nothing is compared; few sentences are compared, with a reason."""
    terms = claim.terms or ((1.0, cell), (-1.0, baseline))
    cells = [one for pair in claim.pairs for one in pair] or [one for _, one in terms]
    if reason := next(filter(None, (_lacks(results, one) for one in cells)), ""):
        return plain_row(cell) | {"reason": reason}
    if claim.compares == "correlation":
        return plain_row(cell) | results.correlation(claim.pairs)
    for one, other in zip(cells[::2], cells[1::2], strict=False):
        if one.ours != other.ours and results.is_scored(one) and not results.have_same_test(one, other):
            return plain_row(cell) | {"reason": f"{one.runs} and {other.runs} are not tested on the same sentences"}
    parts, reason = [], ""
    for one in cells:
        # What a column of a grid names is measured, and no part of the test.
        is_part = one.item is not None and not KINDS[table.table_kind].is_grid
        name, rows_B = claimed_part(parts_of(table, results, one), one.item) if is_part else (None, None)
        if is_part and rows_B is None:
            noun = "subset by length" if table.table_kind == "lengths" else "construction"
            return plain_row(cell) | {"reason": f"{one.item} is no {noun}"}
        if is_part and len(rows_B) < FEW:
            reason = (
                f"the subset ({name}) has {len(rows_B):,} of the test's sentences, and fewer than {FEW} are too few"
            )
            if len(rows_B) < 2:
                return plain_row(cell) | {"reason": reason}
        parts.append(rows_B)
    if claim.compares == "difference":
        return results.compared(cell, baseline, parts[0]) | {"reason": reason}
    weighted = [(weight, one, rows_B) for (weight, one), rows_B in zip(terms, parts, strict=True)]
    return plain_row(cell) | results.contrast(weighted) | {"reason": reason}


def _lacks(results: Results, cell: Cell) -> str:
    """Say why a cell has no number that can be compared; empty if it has one."""
    if reason := results.reason(cell):
        return reason
    if results.is_scored(cell) or results.row(cell)["values"]:
        return ""
    label = measure_label(cell.measure)
    return f"{cell.runs or cell.system} has no {label}" if cell.metric else "there is no score to compare"


def ledger(frames: Iterable[Frame]) -> list[Judged]:
    """Judge the claims about tables."""
    return [
        judge(frame.table, claim, *rows)
        for frame in frames
        for claim, rows in zip(frame.table.claims, rows_by(frame.claims, "claim").values(), strict=True)
    ]


def judge(table: PlannedTable, claim: Claim, ours: Row, *controls: Row) -> Judged:
    """Judge a claim, given the row of its comparison and those of its controls.

    A gain is upheld if the interval of our difference, system minus baseline, is above 0 and contradicted if it is
    below; a loss the other way round. That there is no gain is upheld if the interval is below the claim's margin, and
    contradicted if it is above 0 and not below the margin. That there is no difference is upheld if the interval is
    between the margins of either sign, and contradicted if it is neither between them nor around 0. A larger gain, a
    slope and a correlation are judged like a difference. An interval that leaves training noise out, since a system has
    one seed, decides nothing. Controls count where a gain is upheld.
    """
    measured = delta, low, high = [ours[key] for key in ("delta", "low", "high")]
    if delta is not None and claim.compares in ("difference", "gains"):
        delta, low, high = as_gain(claim.system.measure, *measured)
    answer, reason = "not run", ours["reason"]
    if delta is not None:
        reason = claim.undecided or reason or ("" if ours["training_noise"] else SINGLE_SEED)
        upheld, contradicted = {
            "gain": (low > 0, high < 0),
            "loss": (high < 0, low > 0),
            "no_gain": (high < claim.margin, low > 0),
            "none": (-claim.margin < low and high < claim.margin, low > 0 or high < 0),
        }[claim.direction]
        answer = "not decided" if reason else "upheld" if upheld else "contradicted" if contradicted else "not decided"
    is_small = answer == "upheld" and claim.direction == "no_gain" and low > 0
    compares = "amount" if claim.compares == "difference" and is_amount(claim.system.measure) else claim.compares
    small = f"less than {claim.margin:g} more" if compares == "amount" else f"a gain of less than {claim.margin:g}"
    gaining, controlled = _controlled(claim, answer, controls)
    runs = ("", "") if delta is None else (claim.system.runs or "", claim.baseline.runs or "")
    seeds = [len(table.runs[name].seeds) if name else None for name in runs]
    ours_delta = delta or 0
    expected = {"gain": ours_delta > 0, "loss": ours_delta < 0, "no_gain": ours_delta < claim.margin}
    expected["none"] = abs(ours_delta) < claim.margin
    return {
        "paper": claim.paper,
        "place": claim.place,
        "claim": claim.says or f"significant gain (p < {claim.level})",
        "says": claim.says or MARKED,
        "compares": claim.compares,
        "claimed": DIRECTIONS[compares][claim.direction] + f" (margin {claim.margin:g})" * (claim.margin != MARGIN),
        "system": ours["row"],
        "baseline": ours["baseline"],
        "dataset": claim.system.tested,
        "system_dataset": claim.system.dataset,
        "baseline_dataset": claim.baseline.dataset,
        **{key: getattr(claim.system, key) for key in ("split", "item", "metric")},
        **{f"baseline_{key}": getattr(claim.baseline, key) for key in ("item", "metric")},
        "published": claim.difference,
        "ours": None if delta is None else measured,
        "detectable": ours["detectable"],
        "answer": answer,
        "shown_answer": answer + f": {small}" * is_small,
        "as_claimed": expected[claim.direction],
        "reason": reason,
        "also_by": gaining,
        "controls": controlled,
        **dict(zip(("runs", "baseline_runs", "seeds", "baseline_seeds"), (*runs, *seeds), strict=True)),
        "our_dataset": None if delta is None else claim.system.ours,
        "our_split": None if delta is None else claim.system.test,
    }


def _controlled(claim: Claim, answer: str, controls: Sequence[Row]) -> tuple[list[str], str]:
    """Name the controls that gain like the system; and say which do, which do not, and why nothing is known."""
    if claim.direction != "gain" or not claim.controls:
        return [], "no gain claimed" if claim.direction != "gain" else "no control named"
    if answer != "upheld":
        return [], "no gain to explain"
    gaining, said = [], []
    for row in controls:
        reason = row["reason"] or ("" if row["training_noise"] else SINGLE_SEED)
        if reason:
            said.append(f"not known of {row['row']}: {reason}")
        elif as_gain(row["measure"], row["delta"], row["low"], row["high"])[1] > 0:
            gaining.append(row["row"])
            said.append(row["row"])
        else:
            said.append(f"not by {row['row']}")
    return gaining, "; ".join(said)


def comparisons(judged: Sequence[Judged]) -> int:
    """Count our comparisons behind claims, of which several may share one."""
    keys = ("runs", "our_dataset", "our_split", "metric", "item", "compares", "baseline_metric", "baseline_item")
    compared = [entry for entry in judged if entry["ours"]]
    return len({(entry["baseline_runs"] or entry["baseline"], *(entry[key] for key in keys)) for entry in compared})


def ledger_page(judged: Sequence[Judged], *, scale: str) -> Page:
    """Make the ledger: the counts of each paper, a row per claim, and the comparisons that were run."""
    compared = [entry for entry in judged if entry["ours"]]
    blocks: list[Block] = [Paragraph(stand_in_text(scale, _stand_ins(judged), whose="the papers'")), _counts(judged)]
    if compared:
        blocks += [Heading("Claims"), _claims(compared), Heading("Comparisons"), comparison_table(compared, scale)]
    blocks += _not_run([entry for entry in judged if not entry["ours"]])
    return Page(title="Claims", blocks=(*blocks, note(fill(" ".join(_NOTES.split()), 120))))


def _counts(judged: Sequence[Judged]) -> Table:
    """Count the verdicts of each paper, upheld claims that hold for a control too, and our comparisons behind them."""
    columns = [*text_columns("paper")]
    columns += number_columns("claims", *ANSWERS, "upheld, but also by a control", "comparisons")
    rows = []
    for paper, entries in rows_by(judged, "paper").items():
        answers = Counter(entry["answer"] for entry in entries)
        also = sum(bool(entry["also_by"]) for entry in entries)
        rows.append([*paper, len(entries), *(answers[answer] for answer in ANSWERS), also, comparisons(entries)])
    return make_table(columns, rows)


def _claims(judged: Sequence[Judged]) -> Table:
    """Make a row per claim: its verdicts, and the smallest and the largest of our differences."""
    columns = [*text_columns("paper", "place", "claim", "claimed", "verdict")]
    columns += number_columns("comparisons")
    columns += [
        Column(name=name, content="number", digits=2, signed=True)
        for name in ("published, mean", "ours, least", "ours, most")
    ]
    rows = []
    for text, entries in rows_by(judged, "paper", "place", "claim").items():
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


def comparison_table(judged: Sequence[Judged], scale: str, *, of_claim: bool = False) -> Table:
    """Make a row per comparison of a claim, a group per claim; of one claim, what all rows share is not shown."""
    columns = [
        *(Column(name=name, detail=of_claim) for name in ("paper", "place", "claim")),
        *text_columns("claimed", "system", "data set"),
        Column(name="published", content="number", digits=2, signed=True),
        estimate_column("ours"),
        *text_columns("verdict"),
        Column(name="reason", raw_name="verdict, reason"),
        *text_columns("baseline", "also by", "ours on", "test", "subset", "metric"),
        *(Column(name=name, content="number", digits=digits, detail=True)
          for name, digits in (("detectable", 2), ("seeds", 0), ("seeds of the baseline", 0))),
        Column(name="scale", detail=True),
    ]  # fmt: skip
    claims = rows_by(judged, "paper", "place", "claim").values()
    groups = [[_row(entry, scale) for entry in entries] for entries in claims]
    return grouped_table(columns, groups)


def _row(entry: Judged, scale: str) -> list[Any]:
    system, ours, detectable, seeds = with_origin(
        [entry["system"], Estimate(*entry["ours"]), entry["detectable"], entry["seeds"]], entry["runs"]
    )
    baseline, baseline_seeds = with_origin([entry["baseline"], entry["baseline_seeds"]], entry["baseline_runs"])
    theirs, ours_on = (entry["system_dataset"], entry["split"]), (entry["our_dataset"], entry["our_split"])
    return [
        *(entry[key] for key in ("paper", "place", "claim", "claimed")),
        *(system, entry["dataset"], entry["published"], ours, entry["shown_answer"], entry["reason"] or None),
        *(baseline, entry["controls"], "" if ours_on == theirs else ", ".join(filter(None, ours_on))),
        *(entry[key] for key in ("split", "item", "metric")),
        *(detectable, seeds, baseline_seeds, scale),
    ]


def _not_run(judged: Sequence[Judged]) -> Iterator[Block]:
    """Yield a line that counts the comparisons that were not run, and says how they are."""
    if judged:
        reasons = Counter(entry["reason"] for entry in judged)
        (reason, count), *others = reasons.most_common()
        more = f" and {len(others)} other reasons" if others else ""
        yield Paragraph(
            f"{len(judged)} comparisons were not run ({reason}: {count}{more}). `snakemake --cores 8 tables` makes the "
            "runs that are missing; results/tables/claims.json has the reason of each."
        )


def _stand_ins(judged: Sequence[Judged]) -> list[tuple[str, str]]:
    """List the data sets of the papers that others stand in for, with these, as far as they were run."""
    pairs = dict.fromkeys(
        pair
        for entry in judged
        for pair in (
            (entry["system_dataset"], entry["our_dataset"]),
            (entry["baseline_dataset"], entry["baseline_runs"].partition("/")[0]),
        )
    )
    return [(theirs, ours) for theirs, ours in pairs if theirs and ours and theirs != ours]
