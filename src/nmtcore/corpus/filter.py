"""From the pairs as they were read to the pairs that are used: the data set's filters, in its order, on train.

Batches flow through the filters one by one. Filters that are costly (see `corpus.filters`) look at several batches at
a time, each in its own process; all others run here, in the order of the rows.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.config.filters import FILTERS
from nmtcore.config.stages import FilteringSettings
from nmtcore.corpus.filters import is_costly, make_filter
from nmtcore.corpus.filters.view import Situation, View
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.corpus.parallel import available_cores, ordered_map
from nmtcore.corpus.truecase import Truecaser, load_truecasers, truecased
from nmtcore.errors import UserError, explained
from nmtcore.files import write_json
from nmtcore.parquet import ROWS_PER_GROUP, read_batches, row_count, row_writer

BUDGET_BYTES = 256 << 20
ROWS_PER_TASK = 1_000
"""Pairs that a process gets at a time: less than a second of langdetect's work."""


def filter_split(
    settings: FilteringSettings,
    *,
    dataset: str,
    raw: Path,
    other_raws: Mapping[str, Path],
    output: Path,
    report: Path,
    truecasers: Mapping[str, Path] | None = None,
    budget_bytes: int = BUDGET_BYTES,
    processes: int | None = None,
) -> dict:
    """Write the pairs of `raw` that pass the filters to `output` (PAIR_SCHEMA), and the counts to `report` (JSON).

    `dataset` is the data set's name, for messages. A pair is counted under the first filter, in the data set's order,
    that drops it. `other_raws` are the raw files of the other splits, for `held_out`. `budget_bytes` bounds what
    `duplicates` holds in memory; beside it the pass takes a byte a pair and a few record batches.
    `truecasers` are the truecasing models of the sides that have one: their words are truecased last. Costly filters
    run in `processes` (None: as many as there are cores), whose number does not change the result.
    """
    filters, rows = settings.filters, row_count(raw)
    situation = Situation(
        rows=rows, others=other_raws, folder=output.parent, budget_bytes=budget_bytes, languages=settings.languages
    )  # fmt: skip
    processes = available_cores() if processes is None else processes
    with explained(output):
        verdict = _verdicts(filters, raw, situation, processes) if filters else np.zeros(rows, dtype=np.uint8)
    kept = int((verdict == 0).sum())
    if filters and not kept:
        raise UserError(f"The filters of {dataset} leave no training pair of {rows}: look at its `filters`.")
    corpora = _write_kept(raw, output, verdict, load_truecasers(truecasers or {}), len(filters))
    names = [FILTERS.name_of(each) for each in filters]
    facts: dict[str, Any] = {
        **_facts(np.bincount(verdict, minlength=len(filters) + 1), names),
        "corpora": {corpus: _facts(counts, names) for corpus, counts in corpora.items()},
    }
    write_json(report, facts)
    return facts


def _facts(counts: np.ndarray, names: Sequence[str]) -> dict[str, Any]:
    """Say in words how many pairs were kept (counts[0]) and dropped by each filter (from counts[1] on)."""
    dropped = dict.fromkeys(names, 0)
    for name, count in zip(names, counts[1:], strict=True):
        dropped[name] += int(count)
    return {"pairs": int(counts.sum()), "kept": int(counts[0]), "dropped": dropped}


def _verdicts(settings: Sequence, raw: Path, situation: Situation, processes: int) -> np.ndarray:
    """Give for every row the number (from 1) of the first filter that drops it; 0 where none does."""
    filters = [make_filter(each, situation) for each in settings]
    verdict = np.zeros(situation.rows, dtype=np.uint8)
    for view in _filtered(filters, raw, processes):
        verdict[view.first : view.first + len(view)] = view.verdict
    for number, each in enumerate(filters, start=1):
        for rows in each.late() if hasattr(each, "late") else ():
            # Such a row was alive at this filter's turn; a filter further on may have dropped it since.
            verdict[rows[(verdict[rows] == 0) | (verdict[rows] > number)]] = number
    return verdict


def _filtered(filters: Sequence, raw: Path, processes: int) -> Iterator[View]:
    """Let all batches go through the filters, each of which sees them in order, as earlier filters left them."""
    columns = sorted({column for each in filters for column in each.columns})
    views = _views(raw, columns, size=ROWS_PER_TASK if any(map(is_costly, filters)) else ROWS_PER_GROUP)
    for costly, group in groupby(enumerate(filters, start=1), key=lambda each: is_costly(each[1])):
        numbered = dict(group)
        views = _spread(numbered, views, processes) if costly else map(partial(_apply, numbered), views)
    return iter(views)


def _views(raw: Path, columns: list[str], *, size: int) -> Iterator[View]:
    first = 0
    for batch in read_batches(raw, columns=columns, size=size):
        yield View(batch, first=first)
        first += batch.num_rows


def _apply(filters: Mapping[int, Any], view: View) -> View:
    for number, each in filters.items():
        view.drop(number, each.drops(view))
    return view


def _spread(filters: Mapping[int, Any], views: Iterable[View], processes: int) -> Iterator[View]:
    """Apply costly filters in several processes, to the pairs alone that are alive."""
    for each in filters.values():
        each.prepare()  # before processes are forked, so that they share its memory
    columns = sorted({column for each in filters.values() for column in each.columns})
    waiting: deque[View] = deque()

    def tasks() -> Iterator[dict[str, list[str]]]:
        for view in views:
            waiting.append(view)
            yield {column: view.texts(column) for column in columns}

    for judged in ordered_map(partial(_judge, filters), tasks(), processes=processes):
        view = waiting.popleft()
        view.verdict[view.alive] = judged
        yield view


def _judge(filters: Mapping[int, Any], texts: dict[str, list[str]]) -> np.ndarray:
    """Give for every pair the number of the first filter that drops it, or 0."""
    verdict = np.zeros(len(next(iter(texts.values()))), dtype=np.uint8)
    for number, each in filters.items():
        rows = np.flatnonzero(verdict == 0)
        dropped = each.wrong({side: [column[row] for row in rows] for side, column in texts.items()})
        verdict[rows[dropped]] = number
    return verdict


def _write_kept(
    raw: Path, output: Path, verdict: np.ndarray, truecasers: Mapping[str, Truecaser], filters: int
) -> dict[str, np.ndarray]:
    """Write the pairs that were kept; count, for each corpus, the pairs of each verdict 0..filters."""
    first = 0
    corpora: dict[str, np.ndarray] = {}
    with row_writer(output, PAIR_SCHEMA) as writer:
        for batch in read_batches(raw, columns=PAIR_SCHEMA.names):
            verdicts = verdict[first : first + batch.num_rows]
            first += batch.num_rows
            _count(corpora, batch.column("origin"), verdicts, filters)
            keep = verdicts == 0
            writer.write_batch(truecased(batch if keep.all() else batch.filter(pa.array(keep)), truecasers))
    return corpora


def _count(corpora: dict[str, np.ndarray], origins: pa.Array, verdicts: np.ndarray, filters: int) -> None:
    """Add a batch to the counts of its corpora: a corpus is what stands before the last colon of an origin."""
    encoded = pc.replace_substring_regex(origins, pattern=":[^:]*$", replacement="").dictionary_encode()
    numbers = encoded.indices.to_numpy(zero_copy_only=False)
    for number, corpus in enumerate(encoded.dictionary.to_pylist()):
        counts = np.bincount(verdicts[numbers == number], minlength=filters + 1)
        corpora[corpus] = corpora.get(corpus, 0) + counts
