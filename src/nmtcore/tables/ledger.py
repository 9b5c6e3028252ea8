"""The ledger: what claims of papers compare, as rows of frames, and what our results say about each.

Shapes: B sentences.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nmtcore.evaluation.subsets import FEW
from nmtcore.tables.cells import MARGIN, Cell, Claim, PlannedTable, trained_name
from nmtcore.tables.measures import as_gain, measure_label
from nmtcore.tables.parts import claimed_part, parts_of
from nmtcore.tables.query import Frame, Results, Row, plain_row, rows_by

ANSWERS = ("upheld", "contradicted", "not decided", "not run")
"""The verdicts."""

SINGLE_SEED = "one seed, so that training noise is unknown"
"""Why there is no verdict on a difference of which a system has one seed."""

MARKED = "Systems with a mark of significance are better"
"""What the papers claim by marks in their tables."""

DIRECTIONS = {
    "difference": {"gain": "better", "loss": "worse", "no_gain": "not better", "none": "as good"},
    "gains": {"gain": "larger gain", "loss": "smaller gain", "no_gain": "no larger gain", "none": "the same gain"},
    "slope": {"gain": "rises", "loss": "falls", "no_gain": "does not rise", "none": "neither rises nor falls"},
    "correlation": {
        "gain": "correlated",
        "loss": "negatively correlated",
        "no_gain": "not positively correlated",
        "none": "not correlated",
    },
}
"""What is claimed, by what a claim compares and by its direction."""

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
    if claim.compares == "gains":
        beyond = claim.terms[2][1]
        other = f"{other}, beyond the gain on {beyond.item if beyond.item != cell.item else beyond.tested}"
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
        if one.ours != other.ours and not results.have_same_test(one, other):
            return plain_row(cell) | {"reason": f"{one.runs} and {other.runs} are not tested on the same sentences"}
    parts, reason = [], ""
    for one in cells:
        name, rows_B = (None, None) if one.item is None else claimed_part(parts_of(table, results, one), one.item)
        if one.item is not None and rows_B is None:
            noun = "subset by length" if table.table_kind == "lengths" else "construction"
            return plain_row(cell) | {"reason": f"{one.item} is no {noun}"}
        if one.item is not None and len(rows_B) < FEW:
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
        "claimed": DIRECTIONS[claim.compares][claim.direction]
        + f" (margin {claim.margin:g})" * (claim.margin != MARGIN),
        "system": ours["row"],
        "baseline": ours["baseline"],
        "dataset": claim.system.tested,
        "system_dataset": claim.system.dataset,
        "baseline_dataset": claim.baseline.dataset,
        **{key: getattr(claim.system, key) for key in ("split", "item", "metric")},
        "published": claim.difference,
        "ours": None if delta is None else measured,
        "detectable": ours["detectable"],
        "answer": answer,
        "shown_answer": answer + f": a gain of less than {claim.margin:g}" * is_small,
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
