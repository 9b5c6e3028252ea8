"""The page of the ledger: what papers claim, and what our results say about it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import Any

from nmtcore.evaluation.compare import ONE_SEED
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
from nmtcore.tables.ledger import ANSWERS, Judged
from nmtcore.tables.query import rows_by
from nmtcore.tables.sheets import stand_in_text

_NOTES = f"""
Published and ours: the system's score minus the baseline's. Ours on: our data set and split, where they stand in for
the paper's, which the columns data set and test name. Upheld: our 95 % interval is on the claimed side of 0;
contradicted: on the other side; not decided: around 0, or for the reason given. An interval from one seed decides
nothing: it {ONE_SEED}. A larger gain is the difference of two gains, a slope that of a line of least squares through
the systems' scores. That a system is not better is upheld if the interval is below the margin, 1 point of the metric
unless another is named, and contradicted if it is above 0 and not below the margin. Detectable: the smallest difference
that we would detect with a probability of 80 %. Comparisons: ours, of which claims share one where a data set stands in
for several. Also by: of a gain that is upheld, controls that gain over the same baseline, so that the gain may have
another cause. Not by: controls whose interval is not above 0. Significant gain: the paper has a mark of significance,
of level p.
"""


def comparisons(judged: Sequence[Judged]) -> int:
    """Count our comparisons behind claims, of which several may share one."""
    keys = ("runs", "our_dataset", "our_split", "metric", "item")
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
        *text_columns("verdict", "baseline", "also by", "ours on", "test", "subset", "metric"),
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
        *(system, entry["dataset"], entry["published"], ours, TableCell(entry["shown_answer"], reason=entry["reason"])),
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
