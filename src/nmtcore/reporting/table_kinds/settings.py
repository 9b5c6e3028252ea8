"""Tables of hyperparameters: those of our runs next to the published ones."""

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.layout import Layout
from nmtcore.reporting.published_columns import cell_data, published_and_ours
from nmtcore.reporting.table import Block, TableCell, note
from nmtcore.reporting.table_content import TableContent

DIFFERS = " ≠"
"""Mark of a setting that differs from the published one."""

_NOTES = f"""
Ours are the settings at the scale `paper` on the paper's own data sets, whatever the scale of the other results. The
learning rate is the peak of its schedule.{DIFFERS}: differs from the published value.
"""


def settings_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Show the settings, and mark and list those that differ."""
    settings = table.more["settings"]
    ours = {(cell.row, cell.column): _cell(settings[cell.row][cell.column], cell.published) for cell in table.cells}
    compared = [cell for cell in table.cells if cell.published is not None and not ours[cell.row, cell.column].reason]
    different = [cell for cell in compared if ours[cell.row, cell.column].mark]
    first = "system" if any(column.dataset for column in table.columns) else "data set"
    count = f"{len(different) or 'None'} of the {len(compared)} published settings differ here."
    blocks: list[Block] = [published_and_ours(table, ours, first=first, linked=False), note(count), note(_NOTES)]
    return TableContent(blocks=blocks, data=cell_data(table, ours))


def _cell(value: float | str, published: float | None) -> TableCell:
    if isinstance(value, str):
        return TableCell(None, reason=value)
    digits = len(f"{value:.10f}".rstrip("0").partition(".")[2])
    differs = published is not None and abs(value - published) > 1e-9
    return TableCell(value, DIFFERS if differs else "", digits=digits if differs or published is None else None)
