"""Filters of sentence pairs, one module each.

Each module has a class `Filter`, constructed from its settings and a `FilterContext`. It has `columns`, the columns of
the raw file that the filter reads, and either

- `drops(batch) -> bool array`: which pairs of a batch to drop; batches come in order;
- optionally `late_drops() -> iterator of row numbers`: further rows to drop, known only after all batches;

or, if judging a pair is costly and requires only that pair,

- `prepare()`: load resources once, before worker processes are forked that share them;
- `drops_texts(texts) -> bool array`: which pairs to drop, given the raw texts {side: [one text per pair]}; called in
  worker processes, which receive a pickled copy of the filter.
"""

from typing import Any

from nmtcore.config.filters import FILTERS, FilterSettings
from nmtcore.corpus.filters.pair_batch import FilterContext


def make_filter(settings: FilterSettings, context: FilterContext) -> Any:
    """Construct the filter with the given settings."""
    return FILTERS.member(FILTERS.name_of(settings), "Filter")(settings, context)


def is_costly(pair_filter: Any) -> bool:
    """Return whether a filter should run in worker processes."""
    return hasattr(pair_filter, "drops_texts")
