"""One file a filter. Each offers a class `Filter` that is made from its settings and a `Situation`, with `columns`, the
columns of the raw file that it reads, and either

- `drops(view) -> bool array`: which of a batch's pairs it drops; it sees the batches in order;
- optionally `late() -> row numbers`: what it can only tell after all batches;

or, where looking at a pair is costly and needs nothing but that pair,

- `prepare()`: load what `wrong` needs, once, before processes are forked that share it;
- `wrong(texts) -> bool array`: which pairs it drops, from the raw texts {side: [text of each pair]}; it is called in
  other processes, which get a copy of the filter by pickling.
"""

from typing import Any

from nmtcore.config.filters import FILTERS, FilterSettings
from nmtcore.corpus.filters.view import Situation


def make_filter(settings: FilterSettings, situation: Situation) -> Any:
    """Make the filter that `settings` describe."""
    return FILTERS.module(FILTERS.name_of(settings)).Filter(settings, situation)


def is_costly(made: Any) -> bool:
    """Say whether a filter wants to be run in several processes."""
    return hasattr(made, "wrong")
