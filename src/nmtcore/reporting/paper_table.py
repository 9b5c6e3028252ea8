"""The tables of the papers as pages, the pages of whole papers, and the ledger of their claims."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.typed import build
from nmtcore.files import read_json, write_json
from nmtcore.layout import Layout
from nmtcore.reporting.claims_page import claims_page, stand_in_text
from nmtcore.reporting.page_json import blocks_from_json, blocks_to_json
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.table import Block, Heading, Page, Paragraph, Table
from nmtcore.reporting.table_content import judged_claims, judged_from_json, judged_to_json


def write_paper_table(plan: Mapping[str, Any], *, layout: Layout, json: Path, table: Path) -> str:
    """Make a table of a paper from its plan, as JSON and in all formats; return the Markdown.

    The JSON has the `plan`; the `data` of the kind; the judged `claims`; and the `blocks` of the page.
    """
    planned = build(PlannedTable, plan, where=str(json))
    content = _function(planned.table_kind, f"{planned.table_kind}_content")(planned, layout)
    keys = {"paper": planned.paper, "table": planned.name, "scale": planned.scale, **_stand_in_key(planned)}
    blocks = (Paragraph(scale_text(planned)), *(_with_keys(block, keys) for block in content.blocks))
    claims = [judged_to_json(judged) for judged in judged_claims(planned, content.compare)]
    write_json(json, {"plan": plan, "data": content.data, "claims": claims, "blocks": blocks_to_json(blocks)})
    return write_page(Page(title=title_of(planned), blocks=(Heading(heading_of(planned)), *blocks)), table)


def draw_paper_figure(json: Path, figure: Path) -> None:
    """Draw the figure of a table from its JSON, as SVG."""
    content = read_json(json)
    planned = build(PlannedTable, content["plan"], where=str(json))
    _function(planned.table_kind, f"draw_{planned.table_kind}")(
        content["data"], figure, title=f"{heading_of(planned)}. {scale_text(planned)}"
    )


def write_paper_page(tables: Sequence[Path], page: Path) -> str:
    """Join the tables of a paper, given as their JSON, on one page in all formats; return the Markdown."""
    blocks: list[Block] = []
    title = ""
    for path in tables:
        content = read_json(path)
        planned = build(PlannedTable, content["plan"], where=str(path))
        title = planned.title
        blocks += [Heading(heading_of(planned)), *blocks_from_json(content["blocks"])]
    return write_page(Page(title=title, blocks=(Paragraph(title), *blocks)), page)


def write_claims(tables: Sequence[Path], *, scale: str, json: Path, table: Path) -> str:
    """Write the ledger of the claims about all tables, given as their JSON; return the Markdown."""
    claims = [claim for path in tables for claim in read_json(path)["claims"]]
    write_json(json, claims)
    return write_page(claims_page([judged_from_json(claim) for claim in claims], scale=scale), table)


def heading_of(table: PlannedTable) -> str:
    """Return the heading of a table: where it is in the paper, and what it shows."""
    return f"{table.place}: {table.description}" if table.description else table.place


def title_of(table: PlannedTable) -> str:
    """Return the title of a table's page."""
    return f"{table.title}, {table.place}"


def scale_text(table: PlannedTable) -> str:
    """Say at which scale and on which data sets the results are ours."""
    return stand_in_text(table.scale, list(table.stand_ins.items()))


def _stand_in_key(table: PlannedTable) -> dict[str, str]:
    stand_ins = " ".join(f"{dataset}={ours}" for dataset, ours in table.stand_ins.items())
    return {"stand-ins": stand_ins} if stand_ins else {}


def _with_keys(block: Block, keys: Mapping[str, str]) -> Block:
    return replace(block, keys={**keys, **block.keys}) if isinstance(block, Table) else block


def _function(table_kind: str, name: str) -> Callable[..., Any]:
    return getattr(import_module(f"nmtcore.reporting.table_kinds.{table_kind}"), name)
