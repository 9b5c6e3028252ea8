"""From the files of a data set to one Parquet file of pairs a split, words fixed, before any filter."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from nmtcore.config.datasets import CorpusSettings, FileSettings, PartSettings
from nmtcore.config.formats import corpus_options
from nmtcore.config.own_files import own_files
from nmtcore.config.stages import ReadingSettings
from nmtcore.corpus.download import check_own_file, member_of
from nmtcore.corpus.formats.rows import Input, Inputs, ReadingContext, Row
from nmtcore.corpus.pairs import RAW_SCHEMA, SIDES
from nmtcore.corpus.parallel import available_cores, batched, ordered_map
from nmtcore.corpus.record_batches import BadPair, CorpusReader, RawBatch, RowChunk, read_chunk
from nmtcore.corpus.sampling import MOST, sampled
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.corpus.writing_systems import unsegmented_warning
from nmtcore.errors import LineError, UserError
from nmtcore.files import write_json
from nmtcore.parquet import ROWS_PER_GROUP, row_writer

ROWS_PER_CHUNK = 2_000
SHOWN_FAULTS = 20
"""So many bad lines are written out in the report; all are counted."""


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
    """Read one split of a data set into `output` (RAW_SCHEMA) and say in `report` (JSON) what was found.

    `dataset` and `split` are its names, for messages.
    A pair that cannot be read stops everything with a `LineError`, until `settings.max_bad_lines` allows to leave it
    out, on both sides, and to count it by its reason. Ids count the split's lines, those left out too, so a pair's id
    does not depend on what was left out, and may be larger than its row in `output`. `processes` (None: as many as
    there are cores) does not change the result. What may be a mistake is said in the report's `warnings`.
    """
    processes = available_cores() if processes is None else processes
    tally = _Tally(settings)
    with row_writer(output, RAW_SCHEMA) as writer:
        tasks = _chunks(settings, downloads, dataset=dataset, split=split)
        batches = ordered_map(read_chunk, tasks, processes=processes)
        # Chunks are small, for the processes' sake; the file's row groups need not be.
        for group in batched(batches, max(1, ROWS_PER_GROUP // ROWS_PER_CHUNK)):
            for batch in group:
                tally.add(batch)
            writer.write_batch(pa.Table.from_batches([batch.pairs for batch in group]))
        if not tally.kept:
            raise UserError(f"The split '{split}' of {dataset} has no pair: check its files and its rows.")
    facts = tally.report()
    write_json(report, facts)
    return facts


def _chunks(settings: ReadingSettings, downloads: Path, *, dataset: str, split: str) -> Iterator[RowChunk]:
    words = {side: WordTokenizer(settings.words[side], settings.languages[side]) for side in SIDES}
    context = ReadingContext(settings.languages["source"], settings.languages["target"], treebank=settings.treebank)
    next_id = 0
    for part in settings.parts:
        corpus = settings.corpora[part.corpus]
        where = f"{dataset}: corpora.{part.corpus}"
        options = corpus_options(corpus.format, corpus.options, corpus.files, where=where)
        if not context.treebank and len(corpus.sides) < len(SIDES):
            raise UserError(
                f"{where} has only a {corpus.sides[0]} side, so it can be a treebank (a split called gold_... or "
                f"treebank_...), but not the split '{split}'."
            )
        reader = CorpusReader(corpus=part.corpus, format=corpus.format, options=options, context=context, words=words)
        rows = _part_rows(reader, corpus, part, downloads, where=f"{dataset}: splits.{split}")
        for chunk in batched(rows, ROWS_PER_CHUNK):
            numbers, chunk_rows = zip(*chunk, strict=True)
            yield RowChunk(reader, numbers, next_id, list(chunk_rows))
            next_id += len(chunk)


def _part_rows(
    reader: CorpusReader, corpus: CorpusSettings, part: PartSettings, downloads: Path, *, where: str
) -> Iterator[tuple[int, Row]]:
    """Yield a part's rows and their numbers in the corpus; own files must have the sums that the data set gives."""
    for _, file in own_files(corpus):
        check_own_file(file)
    inputs = {role: [_input(file, downloads) for file in files] for role, files in corpus.files.items()}
    if part.sample is None:
        return _range_rows(reader, inputs, part, where=where)
    return _sampled_rows(reader, inputs, part, where=where)


def _range_rows(reader: CorpusReader, inputs: Inputs, part: PartSettings, *, where: str) -> Iterator[tuple[int, Row]]:
    """Yield the rows first..last of a corpus; files that go together are read to the end, to see whether they fit."""
    rows = reader.module.rows(inputs, reader.options)
    skipped = sum(1 for _ in islice(rows, part.first - 1))
    wanted = None if part.last is None else part.last - part.first + 1
    count = 0
    for row in islice(rows, wanted):
        yield part.first + count, row
        count += 1
    if count < (wanted or 1):
        last = part.last or part.first
        raise UserError(f"{where} asks for row {last} of '{part.corpus}', which has only {skipped + count} rows.")
    if reader.module.ALIGNED:
        for _ in rows:
            pass


def _sampled_rows(reader: CorpusReader, inputs: Inputs, part: PartSettings, *, where: str) -> Iterator[tuple[int, Row]]:
    """Yield the sampled ones of the rows first..last: a first pass counts them, a second takes those that are drawn."""
    population = sum(1 for _ in _range_rows(reader, inputs, part, where=where))
    if population < part.sample:
        raise UserError(
            f"{where} asks for a sample of {part.sample} rows of '{part.corpus}', but there are only {population} "
            f"from row {part.first} on{f' to {part.last}' if part.last else ''}."
        )
    if population >= MOST:
        raise UserError(f"{where}: a sample of {population} rows; at most {MOST - 1} can be sampled: give `last`.")
    rows = islice(reader.module.rows(inputs, reader.options), part.first - 1, None)
    after = 0
    for number in sampled(population, part.sample, seed=part.seed):
        row = next(islice(rows, number - after, None), None)
        if row is None:
            raise UserError(f"{where}: the files of '{part.corpus}' became shorter while they were read.")
        yield part.first + number, row
        after = number + 1


def _input(file: FileSettings, downloads: Path) -> Input:
    if file.path is not None:
        return Input(Path(file.path), file.member)
    return Input(downloads / file.name, member_of(file, downloads))


class _Tally:
    """Adds up what the batches report, and stops at the first bad row that is one too many."""

    def __init__(self, settings: ReadingSettings) -> None:
        self._settings = settings
        self._most_bad = settings.max_bad_lines
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
            "corpora": {corpus: dict(counts) for corpus, counts in self._corpora.items()},
            "first_dropped": [f"{bad.path}, line {bad.line}: {bad.what}" for bad in self._bad],
            **{what: {side: self._counts[what, side] for side in SIDES} for what in sides},
            "null_annotations": {side: dict(nulls[side].most_common()) for side in SIDES},
            "warnings": self._warnings(),
        }

    def _warnings(self) -> list[str]:
        found = (
            unsegmented_warning(
                self._counts,
                side,
                kind=self._settings.words[side].kind,
                language=self._settings.languages[side],
                lines=self.kept - self._counts["empty", side],
            )
            for side in SIDES
        )
        return [warning for warning in found if warning]
