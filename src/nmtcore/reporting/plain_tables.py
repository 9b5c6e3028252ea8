"""Short tables of the configured data sets and systems, each with a page of its own."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.layout import Layout
from nmtcore.reporting.annotation_table import annotation_page
from nmtcore.reporting.contrast_table import contrast_page
from nmtcore.reporting.data_table import data_page
from nmtcore.reporting.heads_table import head_page
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.parsers_table import parser_page
from nmtcore.reporting.table import Page
from nmtcore.reporting.tags_table import TaggedTest, tag_page

Files = Mapping[str, Sequence[Path]]
"""The input files of a table, by what they are."""


def _tags(files: Files, columns: Sequence[str], layout: Layout) -> Page:
    tests = zip(*(files[name] for name in ("hypotheses", "pairs", "features", "labels")), columns, strict=True)
    return tag_page((TaggedTest(*test) for test in tests), layout=layout)


PAGES: dict[str, Callable[[Files, Any, Layout], Page]] = {
    "data": lambda files, published, layout: data_page(
        files["reports"], features=files["features"], published=published, layout=layout
    ),
    "annotation": lambda files, published, layout: annotation_page(
        files["reports"], labels=files["labels"], published=published, layout=layout
    ),
    "parsers": lambda files, _, layout: parser_page(files["comparisons"], layout=layout),
    "heads": lambda files, _, layout: head_page(files["scores"]),
    "tags": _tags,
    "contrast": lambda files, left_out, layout: contrast_page(files["scores"], left_out=left_out, layout=layout),
}
"""The pages by the names of the tables; each takes the files of its rule, and what its rule plans for it."""


def write_plain_table(name: str, files: Files, planned: Any, *, layout: Layout, table: Path) -> str:
    """Write a table in all formats; return the Markdown."""
    return write_page(PAGES[name](files, planned, layout), table)
