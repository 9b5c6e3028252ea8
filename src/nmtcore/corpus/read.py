"""From the files of a data set to one Parquet file of pairs a split, words fixed, before any filter."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from nmtcore.config.datasets import CorpusSettings, DatasetSettings, FileSettings, PartSettings
from nmtcore.config.formats import check_roles, format_options
from nmtcore.corpus.batches import Bad, Batch, Chunk, Reader, read_chunk
from nmtcore.corpus.download import sidecar_path
from nmtcore.corpus.formats.rows import Input, Row
from nmtcore.corpus.pairs import RAW_SCHEMA, SIDES
from nmtcore.corpus.parallel import available_cores, chunks, ordered_map
from nmtcore.corpus.words import Words
from nmtcore.errors import LineError, UserError
from nmtcore.files import read_json, write_json
from nmtcore.parquet import ROWS_PER_GROUP, row_writer

ROWS_PER_CHUNK = 2_000
SHOWN_FAULTS = 20
"""So many bad lines are written out in the report; all are counted."""


def read_split(
    dataset: DatasetSettings,
    split: str,
    *,
    downloads: Path,
    output: Path,
    report: Path,
    processes: int | None = None,
) -> dict:
    """Read one split of a data set into `output` (RAW_SCHEMA) and say in `report` (JSON) what was found.

    A pair that cannot be read stops everything with a `LineError`, until `dataset.max_bad_lines` allows to leave it
    out, on both sides, and to count it by its reason. A row that is left out keeps its id, so ids and rows of a corpus
    mean the same whatever was left out. `processes` (None: as many as there are cores) does not change the result.
    """
    processes = available_cores() if processes is None else processes
    tally = _Tally(dataset.max_bad_lines)
    with row_writer(output, RAW_SCHEMA) as writer:
        batches = ordered_map(read_chunk, _chunks(dataset, split, downloads), processes=processes)
        # Chunks are small, for the processes' sake; the file's row groups need not be.
        for group in chunks(batches, max(1, ROWS_PER_GROUP // ROWS_PER_CHUNK)):
            for batch in group:
                tally.add(batch)
            writer.write_batch(pa.Table.from_batches([batch.pairs for batch in group]))
        if not tally.kept:
            raise UserError(f"The split '{split}' of {dataset.name} has no pair: check its files and its rows.")
    write_json(report, tally.report())
    return tally.report()


def _chunks(dataset: DatasetSettings, split: str, downloads: Path) -> Iterator[Chunk]:
    words = {side: Words(dataset.words[side], dataset.language(side)) for side in SIDES}
    next_id = 0
    for part in dataset.splits[split]:
        corpus = dataset.corpora[part.corpus]
        where = f"{dataset.name}: corpora.{part.corpus}"
        options = format_options(corpus.format, corpus.options, where=where)
        check_roles(options, corpus.files, where=where)
        reader = Reader(corpus=part.corpus, format=corpus.format, options=options, source=dataset.source, words=words)
        first = part.first
        rows = _part_rows(reader, corpus, part, downloads, where=f"{dataset.name}: splits.{split}")
        for chunk in chunks(rows, ROWS_PER_CHUNK):
            yield Chunk(reader, first, next_id, chunk)
            first += len(chunk)
            next_id += len(chunk)


def _part_rows(
    reader: Reader, corpus: CorpusSettings, part: PartSettings, downloads: Path, *, where: str
) -> Iterator[Row]:
    """Yield the rows first..last of a corpus; files that go together are read to the end, to see whether they fit."""
    inputs = {role: [_input(file, downloads) for file in files] for role, files in corpus.files.items()}
    rows = reader.module.rows(inputs, reader.options)
    skipped = sum(1 for _ in islice(rows, part.first - 1))
    wanted = None if part.last is None else part.last - part.first + 1
    count = 0
    for row in islice(rows, wanted):
        count += 1
        yield row
    if count < (wanted or 1):
        last = part.last or part.first
        raise UserError(f"{where} asks for row {last} of '{part.corpus}', which has only {skipped + count} rows.")
    if reader.module.ALIGNED:
        for _ in rows:
            pass


def _input(file: FileSettings, downloads: Path) -> Input:
    path = downloads / file.name
    return Input(path, read_json(sidecar_path(path))["member"])


class _Tally:
    """Adds up what the batches report, and stops at the first bad row that is one too many."""

    def __init__(self, most_bad: int) -> None:
        self._most_bad = most_bad
        self._bad: list[Bad] = []
        self._dropped: Counter = Counter()
        self._counts: Counter = Counter()
        self.kept = 0

    def add(self, batch: Batch) -> None:
        self.kept += batch.pairs.num_rows
        self._counts.update(batch.counts)
        for bad in batch.bad:
            self._dropped[bad.reason] += 1
            self._bad += [bad] if len(self._bad) < SHOWN_FAULTS else []
            if self._dropped.total() > self._most_bad:
                allowed = f" ({self._most_bad} such lines were left out before, as max_bad_lines allows)"
                raise LineError(bad.path, bad.line, bad.what + (allowed if self._most_bad else ""))

    def report(self) -> dict:
        """Give the counts as JSON holds them."""
        nulls: dict[str, Counter] = {side: Counter() for side in SIDES}
        for (what, side, *reason), count in self._counts.items():
            if what == "null_annotations":
                nulls[side][reason[0]] += count
        sides = ("words", "empty", "several_roots", "line_separators")
        return {
            "pairs": self.kept + self._dropped.total(),
            "kept": self.kept,
            "dropped": dict(self._dropped.most_common()),
            "first_dropped": [f"{bad.path}, line {bad.line}: {bad.what}" for bad in self._bad],
            **{what: {side: self._counts[what, side] for side in SIDES} for what in sides},
            "null_annotations": {side: dict(nulls[side].most_common()) for side in SIDES},
        }
