"""Filter the sentence pairs of a split: apply the data set's filters, in its order, to the training pairs.

Batches pass through the filters one by one. Costly filters (see `corpus.filters`) process several batches at a time, in
worker processes; all other filters run in the main process, in row order.
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
from nmtcore.corpus.filters.pair_batch import FilterContext, PairBatch
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.corpus.parallel import available_cores, ordered_map
from nmtcore.corpus.truecase import Truecaser, load_truecasers, truecase_pairs
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.files import write_json
from nmtcore.parquet import ROWS_PER_GROUP, read_batches, row_count, row_writer

BUDGET_BYTES = 256 << 20
"""Default memory budget of the filter `duplicates`."""
ROWS_PER_TASK = 1_000
"""Sentence pairs per task of a worker process: less than a second of work for langdetect."""


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
    that drops it. `other_raws` are the raw files of the other splits, for `held_out`. `budget_bytes` limits the memory
    of `duplicates`; apart from that, filtering needs one byte per pair and a few record batches. `truecasers` are the
    truecasing models of the sides that have one; the words of these sides are truecased after filtering. Costly filters
    run in `processes` worker processes (None: one per core); their number does not change the result. Raises
    `UserError` if the filters drop all pairs.
    """
    filters, rows = settings.filters, row_count(raw)
    context = FilterContext(
        rows=rows, others=other_raws, folder=output.parent, budget_bytes=budget_bytes, languages=settings.languages
    )  # fmt: skip
    processes = available_cores() if processes is None else processes
    with explain_os_errors(output):
        verdict = _verdicts(filters, raw, context, processes) if filters else np.zeros(rows, dtype=np.uint8)
    kept = int((verdict == 0).sum())
    if filters and not kept:
        raise UserError(f"The filters of {dataset} drop all {rows} training pairs: relax its `filters`.")
    corpora = _write_kept(raw, output, verdict, load_truecasers(truecasers or {}), len(filters))
    names = [FILTERS.name_of(filter_settings) for filter_settings in filters]
    counts: dict[str, Any] = {
        **_named_counts(np.bincount(verdict, minlength=len(filters) + 1), names),
        "corpora": {corpus: _named_counts(verdict_counts, names) for corpus, verdict_counts in corpora.items()},
    }
    write_json(report, counts)
    return counts


def _named_counts(counts: np.ndarray, names: Sequence[str]) -> dict[str, Any]:
    """Name the number of pairs that were kept (counts[0]) and dropped by each filter (counts[1:])."""
    dropped = dict.fromkeys(names, 0)
    for name, count in zip(names, counts[1:], strict=True):
        dropped[name] += int(count)
    return {"pairs": int(counts.sum()), "kept": int(counts[0]), "dropped": dropped}


def _verdicts(settings: Sequence, raw: Path, context: FilterContext, processes: int) -> np.ndarray:
    """Return for each row the number (from 1) of the first filter that drops it, or 0."""
    filters = [make_filter(filter_settings, context) for filter_settings in settings]
    verdict = np.zeros(context.rows, dtype=np.uint8)
    for batch in _filtered(filters, raw, processes):
        verdict[batch.first : batch.first + len(batch)] = batch.verdict
    for number, pair_filter in enumerate(filters, start=1):
        for rows in pair_filter.late_drops() if hasattr(pair_filter, "late_drops") else ():
            # No earlier filter dropped these rows, but a later filter may have done so since.
            verdict[rows[(verdict[rows] == 0) | (verdict[rows] > number)]] = number
    return verdict


def _filtered(filters: Sequence, raw: Path, processes: int) -> Iterator[PairBatch]:
    """Pass all batches through the filters. Each filter sees them in order, after the earlier filters."""
    columns = sorted({column for pair_filter in filters for column in pair_filter.columns})
    batches = _pair_batches(raw, columns, size=ROWS_PER_TASK if any(map(is_costly, filters)) else ROWS_PER_GROUP)
    for costly, group in groupby(enumerate(filters, start=1), key=lambda numbered: is_costly(numbered[1])):
        by_number = dict(group)
        batches = _apply_costly(by_number, batches, processes) if costly else map(partial(_apply, by_number), batches)
    return iter(batches)


def _pair_batches(raw: Path, columns: list[str], *, size: int) -> Iterator[PairBatch]:
    first = 0
    for columns_batch in read_batches(raw, columns=columns, size=size):
        yield PairBatch(columns_batch, first=first)
        first += columns_batch.num_rows


def _apply(filters: Mapping[int, Any], batch: PairBatch) -> PairBatch:
    for number, pair_filter in filters.items():
        batch.drop(number, pair_filter.drops(batch))
    return batch


def _apply_costly(filters: Mapping[int, Any], batches: Iterable[PairBatch], processes: int) -> Iterator[PairBatch]:
    """Apply costly filters in worker processes, only to the pairs that no earlier filter dropped."""
    for pair_filter in filters.values():
        pair_filter.prepare()  # before forking, so that the workers share its memory
    columns = sorted({column for pair_filter in filters.values() for column in pair_filter.columns})
    waiting: deque[PairBatch] = deque()

    def tasks() -> Iterator[dict[str, list[str]]]:
        for batch in batches:
            waiting.append(batch)
            yield {column: batch.texts(column) for column in columns}

    for verdict in ordered_map(partial(_judge, filters), tasks(), processes=processes):
        batch = waiting.popleft()
        batch.verdict[batch.alive] = verdict
        yield batch


def _judge(filters: Mapping[int, Any], texts: dict[str, list[str]]) -> np.ndarray:
    """Return for each pair the number of the first filter that drops it, or 0."""
    verdict = np.zeros(len(next(iter(texts.values()))), dtype=np.uint8)
    for number, pair_filter in filters.items():
        rows = np.flatnonzero(verdict == 0)
        dropped = pair_filter.drops_texts({side: [column[row] for row in rows] for side, column in texts.items()})
        verdict[rows[dropped]] = number
    return verdict


def _write_kept(
    raw: Path, output: Path, verdict: np.ndarray, truecasers: Mapping[str, Truecaser], filters: int
) -> dict[str, np.ndarray]:
    """Write the kept pairs; return for each corpus the number of pairs per verdict 0..filters."""
    first = 0
    corpora: dict[str, np.ndarray] = {}
    with row_writer(output, PAIR_SCHEMA) as writer:
        for batch in read_batches(raw, columns=PAIR_SCHEMA.names):
            verdicts = verdict[first : first + batch.num_rows]
            first += batch.num_rows
            _count_verdicts(corpora, batch.column("origin"), verdicts, filters)
            keep = verdicts == 0
            writer.write_batch(truecase_pairs(batch if keep.all() else batch.filter(pa.array(keep)), truecasers))
    return corpora


def _count_verdicts(corpora: dict[str, np.ndarray], origins: pa.Array, verdicts: np.ndarray, filters: int) -> None:
    """Add a batch to the counts of its corpora. The corpus is the part of an origin before the last colon."""
    encoded = pc.replace_substring_regex(origins, pattern=":[^:]*$", replacement="").dictionary_encode()
    numbers = encoded.indices.to_numpy(zero_copy_only=False)
    for number, corpus in enumerate(encoded.dictionary.to_pylist()):
        counts = np.bincount(verdicts[numbers == number], minlength=filters + 1)
        corpora[corpus] = corpora.get(corpus, 0) + counts
