"""Pages of parts of a test, made from frames: constructions and phrases, and lengths."""

from collections.abc import Iterator, Sequence
from typing import Any

from nmtcore.evaluation.compare import SAMPLES
from nmtcore.evaluation.subsets import FEW
from nmtcore.syntax.categories import FURTHER_CONSTRUCTIONS
from nmtcore.tables.blocks import (
    Block,
    Column,
    Heading,
    Interval,
    Table,
    TableCell,
    estimate_column,
    grouped_table,
    item_blocks,
    make_table,
    note,
    number_columns,
    percentage,
    text_columns,
    with_origin,
)
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.measures import measure_label
from nmtcore.tables.parts import (
    ALL,
    COUNT,
    DEFAULT_SHARE,
    ITEMS,
    LONG,
    LONGEST,
    SHARE,
    UNANALYSED,
    joined_columns,
)
from nmtcore.tables.query import Frame, Row
from nmtcore.tables.sheets import difference_cell, empty_items, mean_cell, mean_of, seed_items

_NOTES = f"""
Few: fewer than {FEW} sentences, too few to conclude anything. Difference: from the baseline on the same sentences, ±
half its 95 % interval, which joins the variance over seeds with that over {SAMPLES:,} paired bootstrap samples.
"""
_CONSTRUCTIONS = """
A sentence has a construction if its reference has a CCG supertag of it, and may have several; they are counted as by
the code of Aycock 2021.
"""
_FURTHER = f"""
{" and ".join(FURTHER_CONSTRUCTIONS)} are not among those of Aycock 2021: words such as "because", and prepositions
whose phrase modifies a verb phrase or a clause.
"""
_LENGTHS = """
Lengths are words of the source sentence. Long sentences: the longest {share:g} % of the test, and those that are as
long as the shortest of them. The bins are ours.
"""


def test_of(row: Row) -> str:
    """Name the test of a row."""
    return f"{row['dataset']}, {row['test']}"


def part_counts(frame: Frame) -> list[Row]:
    """List the rows that count the sentences with a construction, with the published percentage."""
    totals = {cell.column: cell.published for cell in frame.table.cells if ITEMS.get(cell.item) == ALL}
    rows = (row for row in frame.rows if row["measure"] == COUNT and row["item"] not in (None, UNANALYSED))
    return [row | {"published_share": percentage(row["published"], totals.get(row["column"]))} for row in rows]


def part_gains(frame: Frame) -> list[Row]:
    """List the rows of gains on parts of tests."""
    return [row for row in frame.rows if row["baseline"] is not None]


def construction_blocks(frame: Frame) -> list[Block]:
    """Show the numbers of sentences with each construction, and what systems gain on them."""
    counts, gains = part_counts(frame), part_gains(frame)
    blocks = item_blocks(empty_items(frame))
    blocks += [_count_table(counts)] if counts else []
    comparisons: dict[tuple[str, ...], list[Row]] = {}
    for row in gains:
        comparisons.setdefault((test_of(row), row["system"], row["baseline"], row["column"]), []).append(row)
    for (test, system, baseline, _), rows in comparisons.items():
        blocks += [Heading(f"{test}: {system} and {baseline}"), _gain_table(frame.table, rows)]
    further = any(row["row"] in FURTHER_CONSTRUCTIONS for row in gains)
    blocks += [note(_CONSTRUCTIONS), *[note(_FURTHER)] * further, *[note(_NOTES)] * bool(gains)]
    return [*blocks, *item_blocks([*_unanalysed(frame), *(seed_items(frame.table) if gains else ())])]


def _unanalysed(frame: Frame) -> Iterator[str]:
    whole = {test_of(row): row["sentences"] for row in frame.rows if row["item"] is None}
    for row in frame.rows:
        if row["item"] == UNANALYSED:
            of_test = f"{row['sentences']:,} of {whole[test_of(row)]:,} sentences"
            yield f"{test_of(row)}: {of_test} have no supertags of the reference."


def _size_cells(row: Row) -> list[TableCell]:
    """Make the cells of the number of sentences, with a mark if they are few or none, and of their share."""
    count = row["sentences"]
    mark = "" if count is None or count >= FEW else " (few)" if count else " (none)"
    known = row["share"] is not None
    return with_origin([TableCell(count, mark) if known else None, row["share"]], row["dataset"])


def _count_table(counts: Sequence[Row]) -> Table:
    columns, rows = text_columns("subset"), {row["row"]: [row["row"]] for row in counts}
    for name in dict.fromkeys(row["column"] for row in counts):
        columns += number_columns(f"{name}, published")
        columns += number_columns(f"share of {name}, published, %", digits=1)
        columns += number_columns(name)
        columns += number_columns(f"share of {name}, %", digits=1)
    for row in counts:
        count, share = _size_cells(row)
        shown = [row["published"], row["published_share"], count._replace(reason=row["reason"]), share]
        rows[row["row"]] += shown
    return make_table(columns, list(rows.values()))


def _gain_table(table: PlannedTable, rows: Sequence[Row]) -> Table:
    first = rows[0]
    label, column = measure_label(first["measure"]), first["column"]
    digits = next(planned_column.digits for planned_column in table.columns if planned_column.name == column)
    published = any(row["published"] is not None for row in rows)
    empty = any(any(row[key] or ()) for row in rows for key in ("empty", "baseline_empty"))
    columns = [
        *text_columns("subset"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        *number_columns(f"{label} of {first['baseline']}", f"{label} of {first['system']}", content="mean", digits=1),
        *number_columns(*[f"empty of {first['baseline']}", f"empty of {first['system']}"] * empty, digits=1),
        *([Column(name=f"{column}, published", content="number", digits=digits, signed=True)] * published),
        estimate_column(column if published else "difference"),
        Column(name="signature", detail=True),
    ]
    shown = [
        [
            *(row["row"], *_size_cells(row)),
            mean_cell({"values": row["baseline_values"], "runs": row["baseline_runs"], "reason": ""}),
            mean_cell(row)._replace(reason=""),
            *with_origin([mean_of(row["baseline_empty"])], row["baseline_runs"])[:empty],
            *with_origin([mean_of(row["empty"])], row["runs"])[:empty],
            *[row["published"]] * published,
            difference_cell(row, row["reason"] or "the baseline is not run"),
            row["signature"],
        ]
        for row in rows
    ]
    return make_table(columns, shown)


def length_blocks(frame: Frame) -> list[Block]:
    """Show the gains on long sentences, and all parts by length."""
    share = 100 * frame.table.facts.get(SHARE, DEFAULT_SHARE)
    tests = {row["column"]: test_of(row) for row in frame.rows if row["item"] is not None and row["dataset"]}
    same = (
        f"{tests[columns[0]]}: the same for the columns {', '.join(columns)}."
        for columns in joined_columns(frame.table)
        if len(columns) > 1
    )
    return [
        *item_blocks(empty_items(frame)),
        *(Heading("Long sentences"), _long_table(frame), Heading("By length"), _bins_table(frame)),
        note(_LENGTHS.format(share=share)),
        note(_NOTES),
        *item_blocks([*same, *seed_items(frame.table)]),
    ]


def is_longest(row: Row) -> bool:
    """Return whether a row is about the longest sentences of a test."""
    return row["item"] == LONG or (row["item"] or "").startswith(LONGEST)


def length_scores(frame: Frame) -> list[Row]:
    """List the rows of scores by length."""
    return [row for row in frame.rows if row["baseline"] is None and row["item"] is not None]


def _gains_of(frame: Frame) -> dict[tuple[str, str, str], Row]:
    return {(row["row"], row["column"], row["item"]): row for row in part_gains(frame)}


def _long_table(frame: Frame) -> Table:
    """Tabulate the gains on long sentences, ours next to the published ones: a row per column and system."""
    table, compared = frame.table, _gains_of(frame)
    published = {
        (claim.system.tested, claim.system.split, claim.system.system): claim.difference
        for claim in table.claims
        if claim.system.item == LONG
    }
    columns = [
        *text_columns("column", "system", "baseline", "words"),
        *number_columns("sentences"),
        *number_columns("gain, published", digits=1),
        estimate_column("gain"),
    ]
    first = {name: joined[0] for joined in joined_columns(table) for name in joined}
    longest = [row for row in length_scores(frame) if is_longest(row)]
    baseline = table.baselines[0] if table.baselines else None
    rows: list[list[Any]] = []
    for column in table.columns:
        for row in longest:
            if row["column"] != first[column.name] or row["row"] == baseline:
                continue
            cell = table.cell(row["row"], column.name)
            other = table.cell(baseline, column.name).reason if baseline else "there is no baseline"
            gain = compared.get((row["row"], row["column"], row["item"]))
            rows.append(
                [
                    *(column.name, row["row"]),
                    *with_origin([baseline], cell.baseline_runs),
                    row["item"] if row["sentences"] else None,
                    _size_cells(row)[0],
                    published.get((column.dataset, column.split, cell.system)),
                    difference_cell(gain, row["reason"] or other),
                ]
            )
    return make_table(columns, rows)


def _bins_table(frame: Frame) -> Table:
    """Tabulate all parts: a row per test, part and system."""
    scores, compared = length_scores(frame), _gains_of(frame)
    empty = any(any(row["empty"] or ()) for row in scores)
    label = " or ".join(dict.fromkeys(measure_label(row["measure"]) for row in scores))
    columns = [
        *text_columns("test", "words", "system"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        Column(name=label, content="mean", digits=1),
        *number_columns(*["empty"] * empty, digits=1),
        Column(name=f"95 % interval of {label}", content="interval", digits=1, detail=True),
        estimate_column(),
        Column(name="signature", detail=True),
    ]
    groups: dict[str, list[list[Any]]] = {}
    for row in scores:
        test = row["column"] if row["share"] is None else test_of(row)
        interval = None if row["low"] is None else Interval(row["low"], row["high"])
        shown = [test, row["item"], row["row"], *_size_cells(row), mean_cell(row)]
        shown += with_origin([mean_of(row["empty"])], row["runs"])[:empty]
        shown += [*with_origin([interval], row["runs"])]
        shown += [difference_cell(compared.get((row["row"], row["column"], row["item"]))), row["signature"]]
        groups.setdefault(row["column"], []).append(shown)
    return grouped_table(columns, list(groups.values()))
