"""Read the corpus files of a split into one Parquet file of tokenised sentence pairs, before filtering."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from nmtcore.config.corpora import CorpusSettings, FileSettings, PartSettings
from nmtcore.config.formats import corpus_options
from nmtcore.config.own_folder import own_files
from nmtcore.config.stages import ReadingSettings
from nmtcore.corpus.download import check_own_file, member_to_read
from nmtcore.corpus.formats.rows import Input, Inputs, ReadingContext, Row, row_bytes
from nmtcore.corpus.pairs import RAW_SCHEMA, SIDES
from nmtcore.corpus.parallel import available_cores, batched, ordered_map
from nmtcore.corpus.record_batches import BadPair, CorpusReader, RawBatch, RowChunk, read_chunk
from nmtcore.corpus.sampling import MAX_POPULATION, draw_sample
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.corpus.writing_systems import unsegmented_warning
from nmtcore.errors import LineError, UserError
from nmtcore.files import write_json
from nmtcore.parquet import ROWS_PER_GROUP, row_writer

ROWS_PER_CHUNK = 2_000
"""Rows per task of a worker process."""
BYTES_PER_CHUNK = 1 << 22
"""Bytes after which a task has enough rows, so that long lines take no more memory than others."""
REPORTED_FAULTS = 20
"""Bad lines that the report describes; all are counted."""


def read_split(
    settings: ReadingSettings,
    *,
    dataset: str,
    split: str,
    downloads: Path,
    output: Path,
    report: Path,
    processes: int | None = None,
) -> dict:
    """Read one split of a data set into `output` (RAW_SCHEMA); write counts and warnings to `report` (JSON).

    `dataset` and `split` are used in messages. Up to `settings.max_bad_lines` pairs that cannot be read are dropped, on
    both sides, and counted by reason; one more raises `LineError`. Ids count the rows of the split, dropped rows
    included: a pair's id does not depend on which rows were dropped, and may be larger than its row in `output`.
    `processes` (None: one per core) does not change the result. The report's `warnings` name likely mistakes. Raises
    `UserError` if no pair is left.
    """
    processes = available_cores() if processes is None else processes
    tally = _Tally(settings)
    with row_writer(output, RAW_SCHEMA) as writer:
        chunks = _row_chunks(settings, downloads, dataset=dataset, split=split)
        batches = ordered_map(read_chunk, chunks, processes=processes)
        # Small chunks balance the load of the worker processes; the file's row groups are larger.
        for group in batched(batches, max(1, ROWS_PER_GROUP // ROWS_PER_CHUNK)):
            for batch in group:
                tally.add(batch)
            writer.write_batch(pa.Table.from_batches([batch.pairs for batch in group]))
        if not tally.kept:
            raise UserError(f"The split '{split}' of {dataset} has no pairs: check its files and rows.")
    counts = tally.report()
    write_json(report, counts)
    return counts


def _row_chunks(settings: ReadingSettings, downloads: Path, *, dataset: str, split: str) -> Iterator[RowChunk]:
    tokenizers = {side: WordTokenizer(settings.words[side], settings.languages[side]) for side in SIDES}
    context = ReadingContext(settings.languages["source"], settings.languages["target"], treebank=settings.treebank)
    next_id = 0
    for part in settings.parts:
        corpus = settings.corpora[part.corpus]
        where = f"{dataset}: corpora.{part.corpus}"
        options = corpus_options(corpus.format, corpus.options, corpus.files, where=where)
        if not context.treebank and len(corpus.sides) < len(SIDES):
            raise UserError(
                f"{where} has only a {corpus.sides[0]} side, so it can only be a treebank (a split called gold_..."
                f" or treebank_...), not the split '{split}'."
            )
        reader = CorpusReader(
            corpus=part.corpus, format=corpus.format, options=options, context=context, tokenizers=tokenizers
        )
        inputs = corpus_inputs(corpus, downloads, max_line_bytes=settings.max_line_bytes)
        rows = part_rows(reader, inputs, part, where=f"{dataset}: splits.{split}")
        for numbers, chunk_rows in _chunks(rows):
            yield RowChunk(reader, numbers, next_id, chunk_rows)
            next_id += len(chunk_rows)


def _chunks(rows: Iterator[tuple[int, Row]]) -> Iterator[tuple[list[int], list[Row]]]:
    """Split numbered rows into lists of at most `ROWS_PER_CHUNK` rows and not much more than `BYTES_PER_CHUNK`."""
    numbers, chunk, size = [], [], 0
    for number, row in rows:
        numbers.append(number)
        chunk.append(row)
        size += row_bytes(row)
        if len(chunk) == ROWS_PER_CHUNK or size >= BYTES_PER_CHUNK:
            yield numbers, chunk
            numbers, chunk, size = [], [], 0
    if chunk:
        yield numbers, chunk


def part_rows(reader: CorpusReader, inputs: Inputs, part: PartSettings, *, where: str) -> Iterator[tuple[int, Row]]:
    """Yield a part's rows with their numbers in the corpus."""
    if part.sample is None:
        return _range_rows(reader, inputs, part, where=where)
    return _sampled_rows(reader, inputs, part, where=where)


def corpus_inputs(corpus: CorpusSettings, downloads: Path, *, max_line_bytes: int) -> Inputs:
    """Return the files of a corpus by role; check the user's own files against their pins."""
    for _, file in own_files(corpus):
        check_own_file(file)
    return {
        role: [_input(file, downloads)._replace(max_line_bytes=max_line_bytes) for file in files]
        for role, files in corpus.files.items()
    }


def _range_rows(reader: CorpusReader, inputs: Inputs, part: PartSettings, *, where: str) -> Iterator[tuple[int, Row]]:
    """Yield rows first..last of a corpus; read parallel files to the end, to check that they have equal length."""
    rows = reader.module.rows(inputs, reader.options)
    skipped = sum(1 for _ in islice(rows, part.first - 1))
    range_length = None if part.last is None else part.last - part.first + 1
    count = 0
    for row in islice(rows, range_length):
        yield part.first + count, row
        count += 1
    if count < (range_length or 1):
        last, existing = part.last or part.first, skipped + count
        if not existing:
            raise UserError(f"{where}: the files of '{part.corpus}' have no rows: are they empty?")
        raise UserError(
            f"{where} asks for row {last} of '{part.corpus}', which has only {existing} rows: correct the range."
        )
    if reader.module.ALIGNED:
        for _ in rows:
            pass


def _sampled_rows(reader: CorpusReader, inputs: Inputs, part: PartSettings, *, where: str) -> Iterator[tuple[int, Row]]:
    """Yield a sample of rows first..last: the first pass counts the rows, the second pass reads the sampled rows."""
    population = sum(1 for _ in _range_rows(reader, inputs, part, where=where))
    if population < part.sample:
        raise UserError(
            f"{where} asks for a sample of {part.sample} rows of '{part.corpus}', but it has only {population} from"
            f" row {part.first}{f' to {part.last}' if part.last else ' on'}: reduce `sample` or extend the range."
        )
    if population >= MAX_POPULATION:
        raise UserError(
            f"{where} asks for a sample from {population} rows; at most {MAX_POPULATION - 1} are possible: set `last`."
        )
    rows = islice(reader.module.rows(inputs, reader.options), part.first - 1, None)
    next_number = 0
    for number in draw_sample(population, part.sample, seed=part.seed):
        row = next(islice(rows, number - next_number, None), None)
        if row is None:
            raise UserError(f"{where}: the files of '{part.corpus}' became shorter while they were read: start again.")
        yield part.first + number, row
        next_number = number + 1


def _input(file: FileSettings, downloads: Path) -> Input:
    if file.path is not None:
        return Input(Path(file.path), file.member)
    return Input(downloads / file.name, member_to_read(file, downloads))


class _Tally:
    """Adds up the counts of the batches; raises `LineError` if there are more bad rows than allowed."""

    def __init__(self, settings: ReadingSettings) -> None:
        self._settings = settings
        self._max_bad = settings.max_bad_lines
        self._bad: list[BadPair] = []
        self._dropped: Counter = Counter()
        self._counts: Counter = Counter()
        self._corpora: dict[str, Counter] = {}
        self.kept = 0

    def add(self, batch: RawBatch) -> None:
        self.kept += batch.pairs.num_rows
        self._counts.update(batch.counts)
        corpus = self._corpora.setdefault(batch.corpus, Counter(pairs=0, kept=0))
        corpus.update(pairs=batch.pairs.num_rows + len(batch.bad), kept=batch.pairs.num_rows)
        for bad in batch.bad:
            self._dropped[bad.reason] += 1
            self._bad += [bad] if len(self._bad) < REPORTED_FAULTS else []
            if self._dropped.total() > self._max_bad:
                dropped = f" ({self._max_bad} bad lines were already dropped, as max_bad_lines allows)"
                raise LineError(bad.path, bad.line, bad.fault + (dropped if self._max_bad else ""))

    def report(self) -> dict:
        """Return the counts as written to the JSON report."""
        nulls: dict[str, Counter] = {side: Counter() for side in SIDES}
        for (name, side, *reason), count in self._counts.items():
            if name == "null_annotations":
                nulls[side][reason[0]] += count
        names = ("words", "empty", "several_roots", "line_separators")
        return {
            "pairs": self.kept + self._dropped.total(),
            "kept": self.kept,
            "dropped": dict(self._dropped.most_common()),
            "corpora": {corpus: dict(counts) for corpus, counts in self._corpora.items()},
            "first_dropped": [f"{bad.path}, line {bad.line}: {bad.fault}" for bad in self._bad],
            **{name: {side: self._counts[name, side] for side in SIDES} for name in names},
            "null_annotations": {side: dict(nulls[side].most_common()) for side in SIDES},
            "warnings": self._warnings(),
        }

    def _warnings(self) -> list[str]:
        warnings = (
            unsegmented_warning(
                self._counts,
                side,
                words_kind=self._settings.words[side].kind,
                language=self._settings.languages[side],
                lines=self.kept - self._counts["empty", side],
            )
            for side in SIDES
        )
        return [warning for warning in warnings if warning]
