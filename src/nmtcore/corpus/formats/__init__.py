"""One file a corpus format. Each offers

- `rows(inputs, options) -> Iterator[Row]`: cuts the files into rows as cheaply as it can, in order;
- `parse(row, options, purpose) -> (Side, Side)`: understands one row, or raises `BadRow`; a pure function, so that
  rows can be parsed in other processes. `purpose` (`rows.Purpose`) says what it is read for: languages, a treebank.
- `ALIGNED`: whether the rows come from several files, so that reading to the end shows whether they fit together.
"""

from importlib import import_module
from types import ModuleType

from nmtcore.config.formats import FORMATS
from nmtcore.config.typed import choose


def format_module(name: str) -> ModuleType:
    """Import the reader of a format."""
    return import_module(f"nmtcore.corpus.formats.{choose(name, FORMATS, what='format', where='corpora')}")
