"""Pages of results as JSON and back, so that several tables can be joined on one page without making them again."""

from collections.abc import Mapping
from typing import Any

from nmtcore.reporting.table import (
    Block,
    Column,
    Estimate,
    Heading,
    Interval,
    Items,
    Paragraph,
    SeedMean,
    Table,
    TableCell,
    grouped_table,
)


def blocks_to_json(blocks: tuple[Block, ...]) -> list[dict[str, Any]]:
    """Convert the parts of a page to plain values, the inverse of `blocks_from_json`."""
    return [_block_to_json(block) for block in blocks]


def blocks_from_json(values: list[Mapping[str, Any]]) -> tuple[Block, ...]:
    """Make the parts of a page from plain values."""
    return tuple(map(_block_from_json, values))


def _block_to_json(block: Block) -> dict[str, Any]:
    match block:
        case Heading():
            return {"heading": block.text}
        case Paragraph():
            return {"paragraph": block.text, "corpus": block.corpus}
        case Items():
            return {"items": list(block.texts)}
        case Table():
            groups = [[list(map(_cell_to_json, row)) for row in group] for group in block.groups]
            named = {"keys": dict(block.keys), "caption": block.caption, "notes": list(block.notes)}
            return {"columns": [vars(column) for column in block.columns], "groups": groups, **named}


def _block_from_json(values: Mapping[str, Any]) -> Block:
    if "heading" in values:
        return Heading(values["heading"])
    if "paragraph" in values:
        return Paragraph(values["paragraph"], values["corpus"])
    if "items" in values:
        return Items(tuple(values["items"]))
    groups = [[list(map(_cell_from_json, row)) for row in group] for group in values["groups"]]
    more = {"keys": values["keys"], "caption": values["caption"], "notes": tuple(values["notes"])}
    return grouped_table([Column(**column) for column in values["columns"]], groups, **more)


def _cell_to_json(cell: TableCell) -> dict[str, Any]:
    named = {"mark": cell.mark, "reason": cell.reason, "digits": cell.digits, "origin": cell.origin}
    rest = {key: value for key, value in named.items() if value not in ("", None)}
    match cell.value:
        case SeedMean():
            return {"mean": cell.value.mean, "stdev": cell.value.stdev, **rest}
        case Interval() | Estimate():
            return {**cell.value._asdict(), **rest}
        case value:
            return {"value": value, **rest}


def _cell_from_json(values: Mapping[str, Any]) -> TableCell:
    rest = {key: values[key] for key in ("mark", "reason", "digits", "origin") if key in values}
    if "mean" in values:
        return TableCell(SeedMean(values["mean"], values["stdev"]), **rest)
    if "delta" in values:
        return TableCell(Estimate(values["delta"], values["low"], values["high"]), **rest)
    if "low" in values:
        return TableCell(Interval(values["low"], values["high"]), **rest)
    return TableCell(values["value"], **rest)
