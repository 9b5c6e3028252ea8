"""Read the corpus files of a split into one Parquet file of tokenised sentence pairs, before filtering.

The files are cut into rows by one process; chunks of rows are parsed and tokenised by worker processes.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nmtcore.config.corpora import SIDES, FileSettings, PartSettings, corpus_options, own_files
from nmtcore.config.stages import ReadingSettings
from nmtcore.corpus.download import check_own_file
from nmtcore.corpus.formats import make_format
from nmtcore.corpus.formats.rows import Format, Inputs, ReadingContext, Row, replace_separators
from nmtcore.corpus.pairs import RAW_SCHEMA, Side
from nmtcore.corpus.parallel import available_cores, batched, ordered_map
from nmtcore.corpus.sources import member_to_read
from nmtcore.corpus.text_lines import BadRow, Input, how_to_convert
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.corpus.writing_systems import count_unspaced, unsegmented_warning
from nmtcore.errors import LineError, UserError
from nmtcore.files import write_json
from nmtcore.parquet import ROWS_PER_GROUP, row_writer
from nmtcore.syntax.annotation import COLUMNS, failed

ROWS_PER_CHUNK = 2_000
"""Rows per task of a worker process."""
REPORTED_FAULTS = 20
"""Bad lines that the report describes; all are counted."""
WORDS_DIFFER = "the words are not those of the tree"
"""The reason for a missing annotation if tokenisation changed the words of a tree."""


def read_split(
    settings: ReadingSettings,
    *,
    dataset: str,
    split: str,
    downloads: Path,
    output: Path,
    report: Path,
    processes: int | None = None,
    limit: int | None = None,
) -> dict:
    """Read one split of a data set into `output` (RAW_SCHEMA); write counts and warnings to `report` (JSON).

    `dataset` and `split` are used in messages. Up to `settings.max_bad_lines` pairs that cannot be read are dropped, on
    both sides, and counted by reason; one more raises `LineError`. Ids count the rows of the split, dropped rows
    included: a pair's id does not depend on which rows were dropped, and may be larger than its row in `output`.
    `processes` (None: one per core) does not change the result; only the first `limit` rows are read (None: all). The
    report's `warnings` name likely mistakes. Raises `UserError` if no pair is left, or if a side of dev
    or a test is blank in all of them.
    """
    processes = available_cores() if processes is None else processes
    counts: Counter = Counter()
    bad: list[BadLine] = []
    dropped = 0
    with row_writer(output, RAW_SCHEMA) as writer:
        rows = islice(_split_rows(settings, downloads, dataset=dataset, split=split), limit)
        chunks = enumerate(batched(rows, ROWS_PER_CHUNK))
        batches = ordered_map(read_chunk, chunks, processes=processes)
        # Small chunks balance the load of the worker processes; the file's row groups are larger.
        for group in batched(batches, max(1, ROWS_PER_GROUP // ROWS_PER_CHUNK)):
            for batch in group:
                _check_bad_lines(batch.bad, dropped, settings.max_bad_lines)
                dropped += len(batch.bad)
                bad += batch.bad[: REPORTED_FAULTS - len(bad)]
                counts.update(batch.counts)
            writer.write_batch(pa.Table.from_batches([batch.pairs for batch in group]))
        if not any(name == "kept" for name, *_ in counts):
            first = "".join(f" {path}, line {line}: {fault}.{how_to_convert(fault)}" for path, line, fault in bad[:1])
            raise UserError(f"The split '{split}' of {dataset} has no pair that can be read.{first}")
    facts = _report(settings, counts, bad)
    blank = [side for side, empty in facts["empty"].items() if empty == facts["kept"]]
    if blank and split != "train" and not settings.treebank and facts["pairs"] != limit:
        raise UserError(
            f"The split '{split}' of {dataset} has only blank lines on its {blank[0]} side: give a file with text"
            f"{advice_on_blind(split)}."
        )
    write_json(report, facts)
    return facts


@dataclass(frozen=True, kw_only=True)
class CorpusReader:
    """Everything that a worker process needs to turn the rows of a corpus into sentence pairs."""

    corpus: str
    format_name: str
    format: Format
    tokenizers: dict[str, WordTokenizer]


NumberedRow = tuple[CorpusReader, int, Row]
"""What reads a row, the number of the row in its corpus (from 1), and the row."""


def _split_rows(settings: ReadingSettings, downloads: Path, *, dataset: str, split: str) -> Iterator[NumberedRow]:
    """Yield the rows of a split."""
    tokenizers = {side: WordTokenizer(settings.words[side], settings.languages[side]) for side in SIDES}
    for part in settings.parts:
        corpus = settings.corpora[part.corpus]
        if not settings.treebank and len(corpus.sides) < len(SIDES):
            raise UserError(
                f"{dataset}: corpora.{part.corpus} has only a {corpus.sides[0]} side, so it can only be a treebank (a "
                f"split called gold_... or treebank_...), not the split '{split}'{advice_on_blind(split)}."
            )
        format, inputs = open_corpus(settings, part.corpus, dataset=dataset, downloads=downloads)
        reader = CorpusReader(corpus=part.corpus, format_name=corpus.format, format=format, tokenizers=tokenizers)
        for number, row in _part_rows(format, inputs, part, where=f"{dataset}: splits.{split}"):
            yield reader, number, row


def open_corpus(settings: ReadingSettings, name: str, *, dataset: str, downloads: Path) -> tuple[Any, Inputs]:
    """Return the format of a corpus, and its files by role; check the user's own files against their pins."""
    corpus, languages = settings.corpora[name], settings.languages
    options = corpus_options(corpus.format, corpus.options, corpus.files, where=f"{dataset}: corpora.{name}")
    context = ReadingContext(languages["source"], languages["target"], treebank=settings.treebank)
    for _, file in own_files(corpus):
        check_own_file(file)
    inputs = {
        role: [_input(file, downloads, settings.max_line_bytes) for file in files]
        for role, files in corpus.files.items()
    }
    return make_format(corpus.format, options, context), inputs


def _input(file: FileSettings, downloads: Path, max_line_bytes: int) -> Input:
    if file.path is not None:
        return Input(Path(file.path), file.member, max_line_bytes)
    return Input(downloads / file.name, member_to_read(file, downloads), max_line_bytes)


def _part_rows(format: Format, inputs: Inputs, part: PartSettings, *, where: str) -> Iterator[tuple[int, Row]]:
    """Yield a part's rows with their numbers in the corpus."""
    if part.sample is None:
        return _range_rows(format, inputs, part, where=where)
    # The first pass counts the rows, the second reads the sampled ones.
    population = sum(1 for _ in _range_rows(format, inputs, part, where=where))
    if population < part.sample:
        raise UserError(
            f"{where} asks for a sample of {part.sample} rows of '{part.corpus}', but it has only {population} from"
            f" row {part.first}{f' to {part.last}' if part.last else ' on'}: reduce `sample` or extend the range."
        )
    is_drawn = draw_sample(population, part.sample, seed=part.seed)
    return compress(_range_rows(format, inputs, part, where=where), is_drawn)


def draw_sample(population: int, sample: int, *, seed: int) -> np.ndarray:
    """Draw rows at random, without replacement: return a mask of `population` rows, of which `sample` are true."""
    mask = np.zeros(population, bool)
    mask[np.random.default_rng(seed).choice(population, sample, replace=False, shuffle=False)] = True
    return mask


def _range_rows(format: Format, inputs: Inputs, part: PartSettings, *, where: str) -> Iterator[tuple[int, Row]]:
    """Yield rows first..last of a corpus; read parallel files to the end, to check that they have equal length."""
    number, rows = 0, enumerate(format.rows(inputs), start=1)
    for number, row in rows:
        if number >= part.first:
            yield number, row
        if number == part.last:
            break
    if not number:
        raise UserError(f"{where}: the files of '{part.corpus}' have no rows: are they empty?")
    if number < (part.last or part.first):
        raise UserError(
            f"{where} asks for row {part.last or part.first} of '{part.corpus}', which has only {number} rows:"
            " correct the range."
        )
    if format.aligned:
        for _ in rows:
            pass


BadLine = tuple[str, int, str]
"""The path, the line and the fault of a pair that cannot be read."""


class RawBatch(NamedTuple):
    """The readable pairs of a chunk, its bad lines and its counts, by (name, corpus, side or reason...)."""

    pairs: pa.RecordBatch
    bad: list[BadLine]
    counts: Counter


def read_chunk(numbered: tuple[int, Sequence[NumberedRow]]) -> RawBatch:
    """Read a chunk of rows, given with its number in the split.

    Raises `UserError` for faults that do not concern a single row.
    """
    first_id = numbered[0] * ROWS_PER_CHUNK
    columns: dict[str, list[Any]] = {name: [] for name in RAW_SCHEMA.names}
    bad, counts = [], Counter()
    for id_, (reader, number, row) in enumerate(numbered[1], start=first_id):
        counts["pairs", reader.corpus] += 1
        try:
            sides = reader.format.parse(row)
        except BadRow as error:
            bad.append((error.path, error.line, error.fault))
            counts["dropped", error.reason] += 1
            continue
        if reader.format.context.treebank and all(side.words is None for side in sides):
            raise UserError(
                f"The corpus '{reader.corpus}' is used as a treebank (a split called gold_... or treebank_...), but its"
                f" format {reader.format_name} has no words: use {{format: conllu}} or {{format: czeng}}."
            )
        counts["kept", reader.corpus] += 1
        columns["id"].append(id_)
        columns["origin"].append(f"{reader.corpus}:{number}")
        for name, side in zip(SIDES, sides, strict=True):
            _append_side(columns, name, _with_words(side, reader, name), counts)
            counts["line_separators", name] += replace_separators(side.text) != side.text
    arrays = [pa.array(columns[name], type=RAW_SCHEMA.field(name).type) for name in RAW_SCHEMA.names]
    pairs = pa.RecordBatch.from_arrays(arrays, schema=RAW_SCHEMA)
    for name in SIDES:
        unspaced = count_unspaced(pairs[name], pairs[f"{name}_words"])
        counts.update({("unspaced", name, unit): number for unit, number in unspaced.items()})
    return RawBatch(pairs, bad, counts)


def _with_words(side: Side, reader: CorpusReader, name: str) -> Side:
    """Clean a side's text and fix its words. If its tree has other words, replace the tree by a reason.

    A treebank keeps the words of its format, even if the data set tokenises other text differently.
    """
    tokenizer, annotation = reader.tokenizers[name], side.annotation
    text = tokenizer.compose(replace_separators(side.text))
    words = None if side.words is None else list(map(tokenizer.compose, side.words))
    if tokenizer.settings.kind == "given" and words is None:
        raise UserError(
            f"The {name} side has `words: given`, but the format {reader.format_name} of corpus '{reader.corpus}' has"
            " no words: write `words: moses` or `spaces`."
        )
    if tokenizer.settings.kind != "given" and (words is None or not reader.format.context.treebank):
        format_words, words = words, tokenizer.split(text)
        if annotation is not None and annotation.reason is None and list(format_words or ()) != words:
            annotation = failed(WORDS_DIFFER)
    return replace(side, text=text, words=words, annotation=annotation)


def _append_side(columns: dict[str, list[Any]], name: str, side: Side, counts: Counter) -> None:
    columns[name].append(side.text)
    columns[f"{name}_words"].append(side.words)
    annotation = side.annotation
    columns[f"{name}_annotation"].append(annotation and {column: getattr(annotation, column) for column in COLUMNS})
    counts["words", name] += len(side.words)
    counts["empty", name] += not side.words
    if annotation is not None and annotation.reason is not None:
        counts["null_annotations", name, annotation.reason] += 1


def _check_bad_lines(bad: Sequence[BadLine], before: int, most: int) -> None:
    """Raise `LineError` for the first bad line beyond those that are allowed."""
    if before + len(bad) > most:
        path, line, fault = bad[most - before]
        already = f" ({most} bad lines were already dropped, as max_bad_lines allows)" if most else ""
        advice = f"correct the file, or raise max_bad_lines to drop the pair.{how_to_convert(fault)}"
        raise LineError(path, line, f"{fault}{already}: {advice}")


def advice_on_blind(split: str) -> str:
    """Say what to do with text without references that was to be a split, to go on after a fault; of tests only."""
    known = "; text without references cannot be scored, but `nmtcore translate MODEL < FILE` translates it"
    return "" if split in ("train", "dev") else known


def _report(settings: ReadingSettings, counts: Counter, bad: Sequence[BadLine]) -> dict:
    """Return the counts as written to the JSON report."""

    def by(*name: str) -> dict[str, int]:
        return {key[-1]: number for key, number in counts.most_common() if key[:-1] == name}

    warnings = (
        unsegmented_warning(
            Counter(by("unspaced", side)), side, words_kind=words.kind, language=settings.languages[side]
        )
        for side, words in settings.words.items()
    )
    pairs, kept = by("pairs"), by("kept")
    names = ("words", "empty", "line_separators")
    return {
        "pairs": sum(pairs.values()),
        "kept": sum(kept.values()),
        "dropped": by("dropped"),
        "corpora": {
            corpus: {"pairs": pairs[corpus], "kept": kept.get(corpus, 0)}
            for corpus in dict.fromkeys(part.corpus for part in settings.parts)
            if corpus in pairs
        },
        "first_dropped": [f"{path}, line {line}: {fault}" for path, line, fault in bad],
        **{name: {side: counts[name, side] for side in SIDES} for name in names},
        "null_annotations": {side: by("null_annotations", side) for side in SIDES},
        "warnings": [*filter(None, warnings)],
    }
