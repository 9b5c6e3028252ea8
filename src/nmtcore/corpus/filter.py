"""From the pairs as they were read to the pairs that are used: the data set's filters, in its order, on train."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.filters import filter_name
from nmtcore.corpus.filters import make_filter
from nmtcore.corpus.filters.view import COLUMNS, Situation, View
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.corpus.truecase import Truecaser, load_truecasers, truecased
from nmtcore.errors import UserError, explained
from nmtcore.files import write_json
from nmtcore.parquet import read_batches, row_count, row_writer

BUDGET_BYTES = 256 << 20


def filter_split(
    dataset: DatasetSettings,
    split: str,
    *,
    raw: Path,
    other_raws: Mapping[str, Path],
    output: Path,
    report: Path,
    truecasers: Mapping[str, Path] | None = None,
    budget_bytes: int = BUDGET_BYTES,
) -> dict:
    """Write the pairs of `raw` that pass the filters to `output` (PAIR_SCHEMA), and the counts to `report` (JSON).

    Only the training split is filtered. A pair is counted under the first filter, in the data set's order, that drops
    it. `other_raws` are the raw files of the other splits, for `held_out`. `budget_bytes` bounds what `duplicates`
    holds in memory; beside it the pass takes a byte a pair and a few record batches.
    `truecasers` are the truecasing models of the sides that have one: their words are truecased last.
    """
    filters = dataset.filters if split == "train" else ()
    rows = row_count(raw)
    others = {name: path for name, path in other_raws.items() if name != split}
    situation = Situation(rows=rows, others=others, folder=output.parent, budget_bytes=budget_bytes)
    with explained(output):
        verdict = _verdicts(filters, raw, situation) if filters else np.zeros(rows, dtype=np.uint8)
    kept = int((verdict == 0).sum())
    if filters and not kept:
        raise UserError(f"The filters of {dataset.name} leave no training pair of {rows}: look at its `filters`.")
    _write_kept(raw, output, verdict, load_truecasers(truecasers or {}))
    counts = np.bincount(verdict, minlength=len(filters) + 1)[1:]
    dropped: dict[str, int] = {}
    for settings, count in zip(filters, counts, strict=True):
        dropped[filter_name(settings)] = dropped.get(filter_name(settings), 0) + int(count)
    facts: dict[str, Any] = {"pairs": rows, "kept": kept, "dropped": dropped}
    write_json(report, facts)
    return facts


def _verdicts(settings: tuple, raw: Path, situation: Situation) -> np.ndarray:
    """Give for every row the number (from 1) of the first filter that drops it; 0 where none does."""
    filters = [make_filter(each, situation) for each in settings]
    verdict = np.zeros(situation.rows, dtype=np.uint8)
    first = 0
    for batch in read_batches(raw, columns=COLUMNS):
        view = View(batch, first=first)
        for number, each in enumerate(filters, start=1):
            dropped = view.alive & each.drops(view)
            verdict[first : first + len(view)][dropped] = number
            view.alive &= ~dropped
        first += len(view)
    for number, each in enumerate(filters, start=1):
        for rows in each.late() if hasattr(each, "late") else ():
            # Such a row was alive at this filter's turn; a filter further on may have dropped it since.
            verdict[rows[(verdict[rows] == 0) | (verdict[rows] > number)]] = number
    return verdict


def _write_kept(raw: Path, output: Path, verdict: np.ndarray, truecasers: Mapping[str, Truecaser]) -> None:
    first = 0
    with row_writer(output, PAIR_SCHEMA) as writer:
        for batch in read_batches(raw, columns=PAIR_SCHEMA.names):
            keep = verdict[first : first + batch.num_rows] == 0
            first += batch.num_rows
            writer.write_batch(truecased(batch if keep.all() else batch.filter(pa.array(keep)), truecasers))
