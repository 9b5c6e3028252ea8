"""Write tables from their plans, and figures, the pages of papers and the ledger from the tables' frames."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.files import write_json, write_text
from nmtcore.layout import TABLE_FORMATS
from nmtcore.tables.blocks import Block, Heading, Page, Paragraph, Table
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.kinds import KINDS, loaded
from nmtcore.tables.ledger import claim_rows, ledger, ledger_page
from nmtcore.tables.pages import write_page
from nmtcore.tables.query import Frame, Results, correct, read_frame, write_frame
from nmtcore.tables.render import printed, printing
from nmtcore.tables.sheets import stand_in_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_table(plan: Mapping[str, Any], *, frame: Path, table: Path) -> str:
    """Make a table from its plan: write its frame, and its page in all formats; return the Markdown."""
    made = make_frame(build(PlannedTable, plan, where=str(table)))
    write_frame(made, frame)
    blocks = [Paragraph(scale_text(made.table)), *table_blocks(made, table)]
    with printing(made.table):
        return write_page(Page(title=made.table.title, blocks=(heading_of(made.table), *blocks)), table)


def make_frame(table: PlannedTable) -> Frame:
    """Compute what a table shows, and what claims about it compare."""
    results = Results()
    table_kind = KINDS[table.table_kind]
    rows = list(loaded(table_kind.rows)(table, results))
    frame = Frame(table, rows, list(claim_rows(table, results)))
    if table_kind.is_grid:
        correct(frame)
    return frame


def table_blocks(frame: Frame, page: Path) -> list[Block]:
    """Make what stands below the heading of a table, whose page is that Markdown file."""
    table = frame.table
    left_out = any(runs.unfinished for runs in table.runs.values())
    command = f"snakemake --cores 8 {page} --config scale={table.scale}" if left_out else ""
    stand_ins = " ".join(f"{dataset}={ours}" for dataset, ours in table.stand_ins.items())
    keys = {"paper": table.paper, "table": table.name, "scale": table.scale}
    keys |= {"stand-ins": stand_ins} if stand_ins else {}
    blocks = loaded(KINDS[table.table_kind].blocks)(frame)
    return [
        replace(block, keys={**keys, **block.keys}, command=command) if isinstance(block, Table) else block
        for block in blocks
    ]


def draw_figure(frame: Path, figure: Path) -> None:
    """Draw the figure of a table as SVG and PDF."""
    table_frame = read_frame(frame)
    table_kind, title = (
        KINDS[table_frame.table.table_kind],
        f"{heading_of(table_frame.table).whole}. {scale_text(table_frame.table)}",
    )
    with printing(table_frame.table):
        if table_kind.chart:
            from nmtcore.tables.charts import write_chart

            write_chart(loaded(table_kind.chart)(table_frame), figure, title=printed(title))
        else:
            loaded(table_kind.drawing)(table_frame, figure, title=printed(title))


def chart_of(frame: str | Path) -> "Figure":
    """Draw the chart of a table, given its frame. Raises `UserError` if tables of its kind have none."""
    table_frame = read_frame(frame)
    chart = KINDS[table_frame.table.table_kind].chart
    if not chart:
        raise UserError(f"{frame} is of a table of {table_frame.table.table_kind}, which is no chart: edit its SVG.")
    with printing(table_frame.table):
        return loaded(chart)(table_frame)


def write_paper_page(frames: Sequence[Path], page: Path) -> None:
    """Join the tables of a paper, which lie beside their frames, on one page in all formats."""
    title = read_frame(frames[0]).table.title
    for ending in (page.suffix.removeprefix("."), *TABLE_FORMATS):
        texts = [path.with_suffix(f".{ending}").read_text(encoding="utf-8") for path in frames]
        text = "\n".join([f"{title}\n", *texts] if ending == "md" else texts)
        write_text(page.with_suffix(f".{ending}"), text)


def write_claims(frames: Sequence[Path], *, scale: str, json: Path, table: Path) -> str:
    """Write the ledger of the claims about all tables; return the Markdown."""
    judged = ledger(map(read_frame, frames))
    write_json(json, judged)
    return write_page(ledger_page(judged, scale=scale), table)


def heading_of(table: PlannedTable) -> Heading:
    """Return the heading of a table: where it is in the paper, and what it shows."""
    return Heading(table.description, place=table.place)


def scale_text(table: PlannedTable) -> str:
    """Say at which scale and on which data sets the results are ours."""
    return stand_in_text(table.scale, list(table.stand_ins.items()))
