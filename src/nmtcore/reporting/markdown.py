"""Tables as Markdown, and the formatting of their cells."""

import re
from collections.abc import Mapping

from nmtcore.reporting.table import Block, Column, Heading, Items, Page, Paragraph, Table, TableCell

_SIGNS = re.compile(r"[\\`*_\[\]<>&~$]")
"""Characters with a meaning within a line of Markdown; the bar of tables is escaped in their cells."""
_SIGNS_OF_OWN = re.compile(r"[\\*\[~$]|(?<![^\W_])_|_(?![^\W_])|<(?=[\w/!?])|&(?=#?\w+;)")
"""Those of our own text, only where they have one, so that `p < 0.05` and `transformer_base` stay readable."""


def page_markdown(page: Page) -> str:
    """Format a page, whose title is left out."""
    return "\n".join(map(_block, page.blocks))


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"## {_own(block.text)}\n"
        case Paragraph():
            return f"{_own(block.text)}{escape_markdown(block.corpus)}\n"
        case Items():
            return "".join(f"- {_line(text)}\n" for text in block.texts)
        case Table():
            return _table(block)


def _table(table: Table) -> str:
    reasons = table.reasons
    marks = ["---" if column.alignment == "left" else "---:" for column in table.columns]
    lines = [[_bar(_own(column.name)) for column in table.columns], marks]
    for row in table.rows:
        cells = zip(table.columns, row, strict=True)
        lines.append([_bar(_shown(column, cell, reasons.get(cell.reason, ""))) for column, cell in cells])
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return text + "".join(f"\n[{letter}] {_line(reason)}\n" for reason, letter in reasons.items())


def _shown(column: Column, cell: TableCell, letter: str) -> str:
    text = column.shown(cell)
    if column.content == "corpus":
        text = escape_markdown(text)
    elif column.content == "code" and text:
        text = f"`{text}`"
    elif column.content == "text":
        text = _own(text)
    return " ".join(filter(None, [text + cell.mark, letter and f"[{letter}]"]))


def counts(values: Mapping[str, int]) -> str:
    """Format counts as one cell: `reason (3), other (1)`; zeros are omitted."""
    return ", ".join(f"{name} ({count:,})" for name, count in values.items() if count)


def escape_markdown(text: str) -> str:
    """Escape text from a corpus for a cell of a table, so that it is shown as it is; line breaks become spaces."""
    return _SIGNS.sub(r"\\\g<0>", " ".join(text.splitlines()))


def _own(text: str) -> str:
    """Escape our own text, which may hold what users write in their files, but no code in backticks."""
    parts = text.split("`")
    escaped = [_SIGNS_OF_OWN.sub(r"\\\g<0>", part) for part in parts]
    if len(parts) % 2 == 0:
        return "\\`".join(escaped)
    return "`".join(part if position % 2 else escaped[position] for position, part in enumerate(parts))


def _line(text: str) -> str:
    """Escape our own text in one line: line breaks become spaces."""
    return _own(" ".join(text.splitlines()))


def _bar(text: str) -> str:
    """Escape bars, and turn line breaks into spaces."""
    return text.replace("|", "\\|").replace("\n", " ")
