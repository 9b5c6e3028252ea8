"""One file a filter. Each offers a class that is made from its settings and a `Situation`, with

- `drops(view) -> bool array`: which of a batch's pairs it drops; it sees the batches in order;
- optionally `late() -> row numbers`: what it can only tell after all batches.
"""

from importlib import import_module
from typing import Any

from nmtcore.config.filters import FilterSettings, filter_name
from nmtcore.corpus.filters.view import Situation


def make_filter(settings: FilterSettings, situation: Situation) -> Any:
    """Make the filter that `settings` describe."""
    module = import_module(f"nmtcore.corpus.filters.{filter_name(settings)}")
    return module.Filter(settings, situation)
