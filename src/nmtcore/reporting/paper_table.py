"""The tables of the papers and of the configured systems, their figures, the pages of papers, and the ledger."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmtcore.config.typed import build, plain
from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json, write_text
from nmtcore.layout import TABLE_FORMATS, Layout
from nmtcore.reporting import charts
from nmtcore.reporting.chart_rows import construction_rows, difference_rows, length_rows, time_rows
from nmtcore.reporting.claims_page import claims_page, judged_claims, stand_in_text
from nmtcore.reporting.curves_table import curves_blocks, curves_data, draw_curves
from nmtcore.reporting.examples_table import examples_blocks, examples_data
from nmtcore.reporting.gates import draw_gates, gates_blocks, gates_data
from nmtcore.reporting.grid import compared_cells, grid_blocks
from nmtcore.reporting.parts import (
    compare_parts,
    construction_blocks,
    construction_entries,
    length_blocks,
    length_entries,
)
from nmtcore.reporting.results import Results
from nmtcore.reporting.sentence_figures import (
    attention_blocks,
    attention_data,
    draw_attention,
    draw_trees,
    trees_blocks,
    trees_data,
)
from nmtcore.reporting.sharpness_table import draw_sharpness, sharpness_blocks, sharpness_data
from nmtcore.tables.blocks import Block, Heading, Page, Paragraph, Table
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.labels import printed_block, printing
from nmtcore.tables.pages import write_page
from nmtcore.tables.render import blocks_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Kind(NamedTuple):
    """What a kind of table shows: what it reads, the parts of its page, and how its figure is drawn."""

    data: Callable[[PlannedTable, Results, Layout], Any]
    blocks: Callable[[PlannedTable, Results, Any], Sequence[Block]]
    chart: Callable[[Any], "Figure"] | None = None
    draw: Callable[..., None] | None = None
    """Writes the files of drawings of sentences, which are no chart."""


KINDS = {
    "scores": Kind(lambda *_: None, lambda table, results, _: grid_blocks(table, results)),
    "differences": Kind(
        lambda table, results, _: compared_cells(table, results),
        lambda table, results, _: grid_blocks(table, results),
        lambda data: charts.difference_chart(difference_rows(data)),
    ),
    "time": Kind(
        lambda table, results, _: time_rows(table, results),
        lambda table, results, _: grid_blocks(table, results),
        charts.time_chart,
    ),
    "lengths": Kind(
        lambda table, results, _: length_entries(table, results),
        lambda table, _, data: length_blocks(table, data),
        lambda data: charts.length_chart(length_rows(data)),
    ),
    "constructions": Kind(
        lambda table, results, _: construction_entries(table, results),
        lambda table, _, data: construction_blocks(table, *data),
        lambda data: charts.construction_chart(*construction_rows(*data)),
    ),
    "examples": Kind(lambda table, *_: examples_data(table), lambda table, _, data: examples_blocks(table, data)),
    "curves": Kind(
        lambda table, _, layout: curves_data(table, layout),
        lambda table, _, data: curves_blocks(table, data),
        draw_curves,
    ),
    "gates": Kind(
        lambda table, _, layout: gates_data(table, layout),
        lambda table, _, data: gates_blocks(table, data),
        draw=draw_gates,
    ),
    "trees": Kind(
        lambda table, _, layout: trees_data(table, layout), lambda *own: trees_blocks(own[-1]), draw=draw_trees
    ),
    "sharpness": Kind(
        lambda table, _, layout: sharpness_data(table, layout),
        lambda *own: sharpness_blocks(own[-1]),
        draw_sharpness,
    ),
    "attention": Kind(
        lambda table, _, layout: attention_data(table, layout),
        lambda *own: attention_blocks(own[-1]),
        draw=draw_attention,
    ),
}
"""The kinds, by name."""


def write_table(plan: Mapping[str, Any], *, layout: Layout, json: Path, table: Path) -> str:
    """Make a table from its plan in all formats; return the Markdown.

    `json` has what pages of several tables need: names, `runs`, the judged `claims`, and the `parts` below the heading
    as HTML, in which the target of a link is the runs or the data set that a number comes from (`linked`).
    """
    planned = build(PlannedTable, plan, where=str(table))
    results, table_kind = Results(), KINDS[planned.table_kind]
    keys = {"paper": planned.paper, "table": planned.name, "scale": planned.scale, **_stand_in_key(planned)}
    content = table_kind.blocks(planned, results, table_kind.data(planned, results, layout))
    command = f"snakemake --cores 8 {table} --config scale={planned.scale}"
    blocks = (Paragraph(scale_text(planned)), *(_of_plan(block, keys, command) for block in content))
    claims = judged_claims(planned, lambda cell, baseline: compare_parts(planned, results, cell, baseline))
    names = {key: plain(getattr(planned, key)) for key in ("paper", "name", "title", "scale", "stand_ins", "runs")}
    with printing(planned):
        parts = [_part(printed_block(block)) for block in blocks]
        write_json(
            json, {**names, "heading": printed_block(heading_of(planned)).whole, "claims": claims, "parts": parts}
        )
        return write_page(Page(title=planned.title, blocks=(heading_of(planned), *blocks)), table)


def draw_figure(plan: Mapping[str, Any], figure: Path, *, layout: Layout) -> None:
    """Draw the figure of a table from its plan, as SVG and PDF."""
    planned = build(PlannedTable, plan, where=str(figure))
    table_kind, title = KINDS[planned.table_kind], f"{heading_of(planned).whole}. {scale_text(planned)}"
    if table_kind.chart:
        charts.write_chart(paper_chart(planned, layout), figure, title=title)
    else:
        with printing(planned):
            table_kind.draw(table_kind.data(planned, Results(), layout), figure, title=title)


def paper_chart(table: PlannedTable, layout: Layout) -> "Figure":
    """Draw the chart of a table. Raises `UserError` if tables of its kind have none."""
    table_kind = KINDS[table.table_kind]
    if table_kind.chart is None:
        raise UserError(f"{heading_of(table).whole} is a table of {table.table_kind}, which is no chart: edit its SVG.")
    with printing(table):
        return table_kind.chart(table_kind.data(table, Results(), layout))


def write_paper_page(tables: Sequence[Path], page: Path) -> None:
    """Join the tables of a paper, given as their JSON next to the other formats, on one page in all formats."""
    title = read_json(tables[0])["title"]
    for ending in (page.suffix.removeprefix("."), *TABLE_FORMATS):
        texts = [path.with_suffix(f".{ending}").read_text(encoding="utf-8") for path in tables]
        text = "\n".join([f"{title}\n", *texts] if ending == "md" else texts)
        write_text(page.with_suffix(f".{ending}"), text)


def _part(block: Block) -> dict[str, Any]:
    """Return a part of a page as HTML, with what its numbers come from."""
    rows = block.rows if isinstance(block, Table) else ()
    origins = {cell.origin for row in rows for cell in row if cell.value is not None}
    html = blocks_html([block], level=4, link=lambda origin: f"#{origin}")
    corpus = isinstance(block, Paragraph) and bool(block.corpus)
    return {"type": type(block).__name__, "corpus": corpus, "origins": sorted(origins), "html": html}


def linked(html: str, target: Callable[[str], str | None]) -> str:
    """Give the links of a table's HTML (`write_table`) their targets; without a target, there is no link."""

    def replaced(match: re.Match[str]) -> str:
        link = target(match[1])
        return match[2] if link is None else f'<a href="{link}">{match[2]}</a>'

    return re.sub(r'<a href="#([^"]*)">(.*?)</a>', replaced, html)


def write_claims(tables: Sequence[Path], *, scale: str, json: Path, table: Path) -> str:
    """Write the ledger of the claims about all tables, given as their JSON; return the Markdown."""
    claims = [claim for path in tables for claim in read_json(path)["claims"]]
    write_json(json, claims)
    return write_page(claims_page(claims, scale=scale), table)


def heading_of(table: PlannedTable) -> Heading:
    """Return the heading of a table: where it is in the paper, and what it shows."""
    return Heading(table.description, place=table.place)


def scale_text(table: PlannedTable) -> str:
    """Say at which scale and on which data sets the results are ours."""
    return stand_in_text(table.scale, list(table.stand_ins.items()))


def _stand_in_key(table: PlannedTable) -> dict[str, str]:
    stand_ins = " ".join(f"{dataset}={ours}" for dataset, ours in table.stand_ins.items())
    return {"stand-ins": stand_ins} if stand_ins else {}


def _of_plan(block: Block, keys: Mapping[str, str], command: str) -> Block:
    """Give a table what the rows of all tables of a plan have in common, and the command that makes missing runs."""
    return replace(block, keys={**keys, **block.keys}, command=command) if isinstance(block, Table) else block
