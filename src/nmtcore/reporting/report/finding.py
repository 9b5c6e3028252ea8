"""What the report begins with: the finding in a sentence, the runs with their differences drawn, and the claims."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from nmtcore.evaluation.attachment import UAS_LABELS
from nmtcore.evaluation.compare import FALSE_ALARMS, Difference, holm
from nmtcore.evaluation.metrics import label_of
from nmtcore.reporting.report.runs import SystemRuns
from nmtcore.tables.blocks import Column, SeedMean, TableCell, estimate_cell, estimate_column
from nmtcore.tables.charts import system_looks
from nmtcore.tables.ledger import ANSWERS, Judged
from nmtcore.tables.query import rows_by

SHOWN = 13
"""Systems of a data set that are shown; others are folded."""

SHOWN_SCORES = ("bleu", "chrf", *UAS_LABELS)
"""The scores of a system on its row."""

COLUMNS = {
    "bleu": Column(name="BLEU", content="mean", digits=2),
    "difference": estimate_column("Δ BLEU"),
    "length_ratio": Column(name="length", content="number", digits=2),
    "empty_translations": Column(name="empty", content="number", digits=1),
    **{name: Column(name=label_of(name), content="mean", digits=2, group="minor") for name in SHOWN_SCORES[1:]},
    "seeds": Column(name="seeds", content="number", group="minor"),
}
"""The columns of numbers of a row; those of the group `minor` are left out on narrow screens."""

NAMED = 3
"""Compared systems up to which the finding names each."""


def run_tables(
    groups: Sequence[SystemRuns],
    compared: Mapping[str, Difference],
    tests: Mapping[str, str],
    *,
    descriptions: Mapping[str, str],
    compared_with: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return a table per data set, with a row per system: scores on the main test, and the difference as a drawing."""
    tables = []
    for dataset in dict.fromkeys(group.dataset for group in groups):
        dataset_groups = [group for group in groups if group.dataset == dataset]
        split = tests.get(dataset, "test")
        intervals = [compared[group.origin].interval for group in dataset_groups if group.origin in compared]
        bounds = [0.0, *(bound for interval in intervals for bound in interval)]
        looks, rows = system_looks([group.system for group in dataset_groups]), []
        for group in dataset_groups:
            scores, difference = group.scores[group.scores.split == split], compared.get(group.origin)
            values = {measure: list(of_measure.value) for measure, of_measure in scores.groupby("measure")}
            cells = {name: SeedMean.over(values[name]) for name in SHOWN_SCORES if name in values}
            cells |= scores[["length_ratio", "empty_translations"]].mean().dropna()  # those of BLEU
            rows.append(
                {
                    "system": group.system,
                    "description": descriptions.get(group.system, ""),
                    "cells": {**cells, "seeds": len(group.seeds), "difference": estimate_cell(difference).value},
                    "against": compared_with.get(group.system) if difference else None,
                    "difference": difference,
                    "drawing": difference and _whiskers(difference, bounds, looks[group.system].color),
                }
            )
        # Systems without a difference come first, then the largest gain.
        rows.sort(key=lambda row: -math.inf if row["difference"] is None else -row["difference"].delta)
        same_seeds = len({row["cells"]["seeds"] for row in rows}) == 1
        columns = {
            key: column
            for key, column in COLUMNS.items()
            if any(row["cells"].get(key) for row in rows) and not (key == "seeds" and same_seeds)
        }
        for row in rows:
            row["texts"] = [(column, column.shown(TableCell(row["cells"].get(key)))) for key, column in columns.items()]
        table = {"dataset": dataset, "split": split, "columns": list(columns.values())}
        tables.append({**table, "rows": rows[:SHOWN], "more": rows[SHOWN:]})
    return tables


def _text(difference: Difference) -> str:
    return COLUMNS["difference"].shown(estimate_cell(difference))


def _whiskers(difference: Difference, bounds: Sequence[float], colour: str) -> Any:
    from markupsafe import Markup

    low, high = min(bounds), max(bounds)
    margin = 0.04 * (high - low) or 1.0
    left, scale = low - margin, 100 / (high - low + 2 * margin)
    zero, middle, *ends = (f"{(value - left) * scale:.1f}%" for value in (0, difference.delta, *difference.interval))
    return Markup(
        f'<svg class="whiskers" role="img"><title>{_text(difference)}</title>'
        f'<line class="zero" x1="{zero}" x2="{zero}" y2="18"/>'
        f'<line stroke="{colour}" stroke-width="2" x1="{ends[0]}" x2="{ends[1]}" y1="9" y2="9"/>'
        f'<circle cx="{middle}" cy="9" r="4.5" fill="{colour}"/></svg>'
    )


def finding(tables: Sequence[Mapping[str, Any]]) -> Any:
    """Say in a sentence per data set what the differences are, as HTML."""
    from markupsafe import Markup

    sentences = []
    for table in tables:
        rows = [row for row in (*table["rows"], *table["more"]) if row["difference"] is not None]
        if len(rows) > NAMED:
            sentences.append(_counted(rows, table["dataset"]))
        elif rows:
            named = "; ".join(map(_named, rows))
            sentences.append(f"{named[0].upper() if len(tables) > 1 else named[0]}{named[1:]}.")
    return Markup(" ".join(sentences) or "No system can be compared with another one yet.")


def _named(row: Mapping[str, Any]) -> str:
    """Say what one system gains or loses."""
    (low, high), text = row["difference"].interval, _text(row["difference"])
    if low <= 0 <= high:
        said = f"{escape(row['system'])} is not told apart from {row['against']} (<b>{text} BLEU</b>)"
    else:
        gains, over = ("gains", "over") if low > 0 else ("loses", "against")
        said = f"{escape(row['system'])} {gains} <b>{text.lstrip('+-')} BLEU</b> {over} {row['against']}"
    but, cells = "though" if high < 0 else "and", row["cells"]
    if "diagonal_precision" in cells:
        words = f"{cells['diagonal_precision'].mean:.0f} % of the words"
        return f"{said}, {but} its head points to the previous word for {words}"
    if "uas" not in cells:
        return said
    trees = f" (as trees {cells['tree_uas'].mean:.0f} %)" if "tree_uas" in cells else ""
    return f"{said}, {but} it finds the heads of {cells['uas'].mean:.0f} % of the words{trees}"


def _counted(rows: Sequence[Mapping[str, Any]], dataset: str) -> str:
    """Say how many systems gain or lose by Holm's p, and which gains most."""
    others = list(dict.fromkeys(row["against"] for row in rows))
    over = others[0] if len(others) == 1 else "what they are compared with"
    corrected = holm({number: row["difference"].p for number, row in enumerate(rows)})
    clear = [rows[number]["difference"].delta for number, p in corrected.items() if p is not None and p < 0.05]
    gains, losses = sum(delta > 0 for delta in clear), sum(delta < 0 for delta in clear)
    best = max(rows, key=lambda row: row["difference"].delta)
    return (
        f"Of {len(rows)} systems on {dataset}, <b>{gains} gain</b> over {over} and <b>{losses} lose</b>; the "
        f"others are not told apart. The largest difference is {escape(best['system'])}'s from {best['against']}, "
        f"<b>{_text(best['difference'])} BLEU</b>."
    )


def seeds_sentence(groups: Sequence[SystemRuns]) -> str:
    """Say what intervals lack where systems have one seed; empty if none has."""
    single = sum(len(group.seeds) == 1 for group in groups)
    if not single:
        return ""
    whose = "One seed each" if single == len(groups) else f"{single} of {len(groups)} systems have one seed"
    return (
        f"{whose}: such intervals leave the noise of training out, and in a simulation, {FALSE_ALARMS} of 100 pairs of "
        "equal systems seemed to differ by them."
    )


def state(scale: str, judged: Sequence[Judged], groups: Sequence[SystemRuns], *, runs: int, planned: int) -> str:
    """Say how much was run and compared."""
    seeds, compared = {len(group.seeds) for group in groups}, [entry for entry in judged if entry["ours"]]
    each = f", {_count(seeds.pop(), 'seed')}" if len(seeds) == 1 else ""
    said = (
        f"Scale {scale}: {runs:,} of {planned:,} runs{each}. {len(compared)} of {_count(len(judged), 'claim')} compared"
    )
    reasons = {entry["reason"] for entry in compared}
    if len(reasons) == 1 and (reason := reasons.pop()):
        said += f", none decided: {reason}"
    return f"{said}."


def papers(
    judged: Sequence[Judged], titles: Mapping[str, str], show: Callable[[Sequence[Judged]], str]
) -> list[dict[str, Any]]:
    """Return the papers, those with compared claims first: their numbers of answers, and the comparisons of a claim.

    `show` writes comparisons of a claim as HTML.
    """
    described = []
    for (paper,), paper_entries in rows_by(judged, "paper").items():
        claims = rows_by([entry for entry in paper_entries if entry["ours"]], "says")
        described.append(
            {
                "name": paper,
                "title": titles.get(paper, paper),
                "claims": len(paper_entries),
                "answers": _answers(paper_entries),
                "compared": [
                    {
                        "says": says,
                        "place": ", ".join(dict.fromkeys(entry["place"] for entry in entries)),
                        "as_claimed": sum(entry["as_claimed"] for entry in entries),
                        "answers": _answers(entries),
                        "comparisons": len(entries),
                        "table": show(entries),
                    }
                    for (says,), entries in claims.items()
                ],
            }
        )
    return sorted(described, key=lambda description: not description["compared"])


def _answers(judged: Sequence[Judged]) -> dict[str, int]:
    counts = Counter(entry["answer"] for entry in judged)
    return {answer: counts[answer] for answer in ANSWERS if counts[answer]}


def _count(number: int, name: str) -> str:
    return f"{'one' if number == 1 else f'{number:,}'} {name}{'' if number == 1 else 's'}"
