"""Corpus formats, each a class that is constructed from the format's options and the `ReadingContext`.

- `rows(inputs) -> Iterator[Row]` cuts the files into rows as cheaply as possible, in order;
- `parse(row) -> (Side, Side)` parses one row, or raises `BadRow`; a pure function, so that rows can be parsed in other
  processes; texts and words have no line break;
- of contrastive pairs, `entries(inputs) -> Iterator[ContrastEntry]`: what the rows are made of;
- `aligned` says whether the rows come from several files, so that only reading to the end shows whether they are
  parallel.
"""

from typing import Any

from nmtcore.config.corpora import FORMATS, FormatOptions
from nmtcore.corpus.formats.rows import ReadingContext


def make_format(name: str, options: FormatOptions, context: ReadingContext) -> Any:
    """Construct a format by its name."""
    return FORMATS.configured(name)(options, context)
