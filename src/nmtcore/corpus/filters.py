"""Filters of training pairs: functions on columns that say which pairs to drop.

A filter is a function of its settings, a batch of pairs that no earlier filter dropped (the columns `COLUMNS` of the
raw file), and the language code of each side; it returns a boolean per pair. It judges each pair alone, so batches may
be judged in several processes. Only `duplicates` and `held_out` compare pairs, by the hashes of all.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.config.corpora import (
    FILTERS,
    SIDES,
    EmptySettings,
    FilterSettings,
    LangDetectSettings,
    LengthSettings,
    RatioSettings,
)
from nmtcore.config.registry import own_member
from nmtcore.config.stages import FilteringSettings
from nmtcore.corpus.pairs import PAIR_SCHEMA
from nmtcore.corpus.parallel import available_cores, ordered_map
from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.parquet import read_batches, row_count, row_writer

WORDS = ("source_words", "target_words")
COLUMNS = (*SIDES, *WORDS)
"""The columns that filters see: raw texts (strings) and their words (lists of strings)."""
ROWS_PER_TASK = 1_000
"""Pairs that a process judges at a time: about a second of work for langdetect."""
DIGEST = 16
"""Bytes of a pair's hash: the probability of a collision among 10^10 different pairs is below 10^-18."""

Filter = Callable[[FilterSettings, pa.RecordBatch, Mapping[str, str]], np.ndarray]


def filter_split(
    settings: FilteringSettings,
    *,
    dataset: str,
    raw: Path,
    other_raws: Mapping[str, Path],
    output: Path,
    report: Path,
    processes: int | None = None,
) -> dict:
    """Write the pairs of `raw` that pass the filters to `output` (PAIR_SCHEMA), and the counts to `report` (JSON).

    `dataset` is the data set's name, for messages. A pair is counted under the first filter, in the data set's order,
    that drops it. `other_raws` are the raw files of the other splits, for `held_out`. Costly filters run in `processes`
    processes (None: one per core). Memory: one byte per pair, and some 60 more for filters that compare pairs. Raises
    `UserError` if the filters drop all pairs.
    """
    names = [FILTERS.name_of(filter_settings) for filter_settings in settings.filters]
    processes = available_cores() if processes is None else processes
    verdict = np.zeros(row_count(raw), np.uint8)  # the number of the filter that dropped a row, from 1; 0: none did
    for number, (name, filter_settings) in enumerate(zip(names, settings.filters, strict=True), start=1):
        alive = verdict == 0
        if name in ("duplicates", "held_out"):
            dropped = _repeated(raw, alive, other_raws.values() if name == "held_out" else None)
        else:
            drops = partial(_judge, name, filter_settings, settings.languages)
            drops(_NO_PAIRS)  # loads models, which the processes then share
            batches = _alive(raw, alive, COLUMNS, size=ROWS_PER_TASK)
            masks = ordered_map(drops, batches, processes=1 if name in BY_WORDS else processes)
            dropped = np.concatenate([np.zeros(0, bool), *masks])
        verdict[np.flatnonzero(alive)[dropped]] = number
    if names and not (verdict == 0).any():
        raise UserError(f"The filters of {dataset} drop all {len(verdict)} training pairs: relax its `filters`.")
    by_corpus = _write_kept(raw, output, verdict)
    counts: dict[str, Any] = _named(sum(by_corpus.values(), Counter()), names)
    counts["corpora"] = {corpus: _named(verdicts, names) for corpus, verdicts in by_corpus.items()}
    write_json(report, counts)
    return counts


def _named(verdicts: Counter, names: Sequence[str]) -> dict[str, Any]:
    """Name the number of pairs that were kept (verdict 0) and dropped by each filter (from 1)."""
    dropped = dict.fromkeys(names, 0)
    for number, name in enumerate(names, start=1):
        dropped[name] += verdicts[number]
    return {"pairs": verdicts.total(), "kept": verdicts[0], "dropped": dropped}


def _write_kept(raw: Path, output: Path, verdict: np.ndarray) -> dict[str, Counter]:
    """Write the kept pairs; return for each corpus the number of pairs by verdict."""
    first, by_corpus = 0, {}
    with row_writer(output, PAIR_SCHEMA) as writer:
        for batch in read_batches(raw, columns=PAIR_SCHEMA.names):
            verdicts = verdict[first : first + batch.num_rows]
            first += batch.num_rows
            # The corpus is the part of an origin before the last colon.
            origins = pc.replace_substring_regex(batch.column("origin"), pattern=":[^:]*$", replacement="")
            for corpus, number in zip(origins.to_pylist(), verdicts.tolist(), strict=True):
                by_corpus.setdefault(corpus, Counter())[number] += 1
            writer.write_batch(batch.filter(pa.array(verdicts == 0)))
    return by_corpus


def _alive(raw: Path, alive: np.ndarray, columns: Sequence[str], **size: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a mask in batches."""
    first = 0
    for batch in read_batches(raw, columns=list(columns), **size):
        yield batch.filter(pa.array(alive[first : first + batch.num_rows]))
        first += batch.num_rows


def _judge(name: str, settings: FilterSettings, languages: Mapping[str, str], pairs: pa.RecordBatch) -> np.ndarray:
    """Say which pairs a filter drops."""
    drops = FUNCTIONS.get(name) or own_member("filters", name, "drops")
    dropped = np.asarray(drops(settings, pairs, languages))
    if not pairs.num_rows:
        return np.zeros(0, bool)
    if dropped.dtype != bool or dropped.shape != (pairs.num_rows,):
        raise UserError(
            f"The filter {name} returned an array of {dropped.dtype} of shape {dropped.shape} for {pairs.num_rows} "
            "pairs: return a boolean for each pair, True to drop it."
        )
    return dropped


# Filters by the number of words


def _word_counts(pairs: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of words of the shorter and of the longer side of each pair."""
    source, target = (pc.list_value_length(pairs.column(name)).to_numpy() for name in WORDS)
    return np.minimum(source, target), np.maximum(source, target)


def _drop_empty(settings: EmptySettings, pairs: pa.RecordBatch, languages: Mapping[str, str]) -> np.ndarray:
    return _word_counts(pairs)[0] == 0


def _drop_by_length(settings: LengthSettings, pairs: pa.RecordBatch, languages: Mapping[str, str]) -> np.ndarray:
    shorter, longer = _word_counts(pairs)
    return (shorter < settings.least) | (longer > settings.most)


def _drop_by_ratio(settings: RatioSettings, pairs: pa.RecordBatch, languages: Mapping[str, str]) -> np.ndarray:
    shorter, longer = _word_counts(pairs)
    return longer > settings.most * shorter


# Filters that compare pairs


def _repeated(raw: Path, alive: np.ndarray, others: Iterable[Path] | None) -> np.ndarray:
    """Say which of the rows of a mask are equal to a pair of other files or, without files, to an earlier row."""
    before = [hashes_of(path, np.ones(row_count(path), bool)) for path in others or ()]
    first = first_of_equal(np.concatenate([*before, hashes_of(raw, alive)]))
    start = len(first) - np.count_nonzero(alive)
    return first[start:] < (np.arange(len(first)) if others is None else start)


def count_in_train(train: Path, pairs: Path, *, output: Path) -> dict[str, int]:
    """Count the `pairs` of a test, and those of them that are equal to a pair of `train`; write both (JSON)."""
    rows = np.ones(row_count(pairs), bool)
    counts = {"pairs": len(rows), "in_train": int(_repeated(pairs, rows, [train]).sum())}
    write_json(output, counts)
    return counts


def hashes_of(path: Path, rows: np.ndarray) -> np.ndarray:
    """Return the 128-bit hashes of the words of the rows of a mask, [N, 2].

    Words contain no space and no line break, so joining words by spaces and sides by a line break is unambiguous.
    """
    hashes, row = np.empty((np.count_nonzero(rows), 2), "<u8"), 0
    for batch in _alive(path, rows, WORDS):
        joined = (pc.binary_join(batch.column(name), " ") for name in WORDS)
        pairs = pc.binary_join_element_wise(*joined, "\n").cast(pa.binary()).to_pylist()
        digests = b"".join(hashlib.blake2b(pair, digest_size=DIGEST).digest() for pair in pairs)
        hashes[row : row + len(pairs)] = np.frombuffer(digests, "<u8").reshape(-1, 2)
        row += len(pairs)
    return hashes


def first_of_equal(hashes: np.ndarray) -> np.ndarray:
    """Return for each row of [N, 2] the first row that is equal to it, [N]."""
    order = np.lexsort(hashes.T)  # stable: equal rows stay in their order
    starts = np.ones(len(order), bool)
    ordered = hashes[order]
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = np.empty_like(order)
    first[order] = order[starts][np.cumsum(starts) - 1]
    return first


# The filter by language


def _drop_other_languages(
    settings: LangDetectSettings, pairs: pa.RecordBatch, languages: Mapping[str, str]
) -> np.ndarray:
    """Say which pairs have a side that is not in its language, as langdetect judges; a text may have none.

    Raises `UserError` for a language that langdetect does not know.
    """
    for side, code in languages.items():
        if code not in detected_languages():
            raise UserError(
                f"The filter langdetect does not know '{code}', the language of the {side} side. It knows"
                f" {', '.join(detected_languages())}: correct the code, or use a filter of your own."
            )
    dropped = np.zeros(pairs.num_rows, bool)
    for side, code in languages.items():
        rows = np.flatnonzero(~dropped)
        texts = pairs.column(side).take(pa.array(rows)).to_pylist()
        dropped[rows] = [language != code for language in map(detect_language, texts)]
    return dropped


def detected_languages() -> list[str]:
    """List the codes of the languages that langdetect knows; its two kinds of Chinese are one."""
    return sorted({_code(name) for name in _langdetect().get_lang_list()})


def detect_language(text: str) -> str | None:
    """Return the code of the most probable of all languages; None if a text has no letters, for example.

    langdetect draws n-grams at random; here it begins with the same seed for every text.
    """
    from langdetect import LangDetectException

    detector = _langdetect().create()
    detector.append(text)
    try:
        return _code(detector.detect())
    except LangDetectException:
        return None


def _code(name: str) -> str:
    return name.partition("-")[0]  # zh-cn, zh-tw


@cache
def _langdetect() -> Any:
    try:
        from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory
    except ImportError as error:
        raise UserError("The filter langdetect needs the package langdetect: pip install langdetect.") from error
    # In sorted order: the library's own order is the folder's, so sums would be rounded differently elsewhere.
    profiles = sorted(path for path in Path(PROFILES_DIRECTORY).iterdir() if not path.name.startswith("."))
    factory = DetectorFactory()
    factory.set_seed(0)
    factory.load_json_profile([path.read_text(encoding="utf-8") for path in profiles])
    return factory


BY_WORDS: dict[str, Filter] = {"empty": _drop_empty, "length": _drop_by_length, "ratio": _drop_by_ratio}
FUNCTIONS: dict[str, Filter] = {**BY_WORDS, "langdetect": _drop_other_languages}
_NO_PAIRS = pa.RecordBatch.from_pylist([], pa.schema([PAIR_SCHEMA.field(name) for name in COLUMNS]))
