"""Pages of results in all formats."""

from collections.abc import Callable
from pathlib import Path

from nmtcore.files import write_texts
from nmtcore.reporting.markdown import page_markdown
from nmtcore.reporting.table import Page
from nmtcore.reporting.table_csv import page_csv
from nmtcore.reporting.table_html import page_html
from nmtcore.reporting.table_latex import page_latex

PAGE_FORMATS: dict[str, Callable[[Page], str]] = {
    ".md": page_markdown,
    ".csv": page_csv,
    ".tex": page_latex,
    ".html": page_html,
}
"""The formats by the ending of the file."""


def write_page(page: Page, path: Path) -> str:
    """Write a page as Markdown to `path`, and in the other formats next to it; return the Markdown."""
    write_texts({path.with_suffix(ending): formatted(page) for ending, formatted in PAGE_FORMATS.items()})
    return page_markdown(page)
