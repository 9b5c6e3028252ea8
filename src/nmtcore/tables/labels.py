"""What an author prints in place of names: in Markdown, LaTeX, HTML and figures; CSV and frames keep the names."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.measures import measure_label

_LABELS: ContextVar[Mapping[str, str] | None] = ContextVar("labels", default=None)


@contextmanager
def printing(table: PlannedTable) -> Iterator[None]:
    """Let `printed` print the labels of a table."""
    token = _LABELS.set(_labels(table))
    try:
        yield
    finally:
        _LABELS.reset(token)


def printed(text: str) -> str:
    """Print labels in place of the names in a text of our own; within paths and longer names, names stay."""
    labels = _LABELS.get()
    if not labels:
        return text
    names = "|".join(re.escape(name) for name in sorted(labels, key=len, reverse=True))
    return re.sub(rf"(?<![\w./=-])(?:{names})(?![\w/=-])", lambda match: labels[match[0]], text)


def _labels(table: PlannedTable) -> dict[str, str]:
    """Return the labels by what they replace: also those of columns and of tests as their headings name them."""
    labels = dict(table.labels)
    for column in table.columns if labels else ():
        test = f"{column.dataset}/{column.split}"
        label = labels.get(test) or f"{labels.get(column.dataset or '', column.dataset)} {column.split}"
        if label != test.replace("/", " "):
            labels |= {test.replace("/", " "): label, column.column: f"{label}, {measure_label(column.measure)}"}
    return labels
