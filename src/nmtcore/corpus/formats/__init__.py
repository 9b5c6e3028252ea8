"""One file a corpus format. Each offers

- `rows(inputs, options) -> Iterator[Row]`: cuts the files into rows as cheaply as it can, in order;
- `parse(row, options, source) -> (Side, Side)`: understands one row, or raises `BadRow`; a pure function, so that
  rows can be parsed in other processes. `source` is the language code of the source side.
- `aligned`: whether the rows come from several files, so that reading to the end shows whether they fit together.
"""

from importlib import import_module
from types import ModuleType

from nmtcore.config.typed import choose

_NAMES = ("plain", "tsv", "czeng", "conllu", "demo")


def format_module(name: str) -> ModuleType:
    """Import the reader of a format."""
    return import_module(f"nmtcore.corpus.formats.{choose(name, _NAMES, what='format', where='corpora')}")
