"""The list of a split's contrastive pairs: which of its rows are right and wrong translations of the same source."""

from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path

import pyarrow as pa

from nmtcore.config.formats import FORMATS, corpus_options
from nmtcore.config.stages import ReadingSettings
from nmtcore.corpus.contrasts import ContrastEntry, ContrastRows, contrast_rows
from nmtcore.corpus.read import corpus_inputs
from nmtcore.parquet import read_rows, write_rows

CONTRASTS_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("entry", pa.int64()),
        ("right", pa.int64()),
        ("wrong", pa.int64()),
        ("phenomenon", pa.string()),
        ("distance", pa.int64()),
    ]
)
"""`corpus/{split}.contrasts.parquet`, one row per pair, `id` counting them from 0.

`entry` counts sources with their right translations; `right` and `wrong` are ids of sentence pairs of the split.
"""


def list_contrasts(settings: ReadingSettings, *, dataset: str, downloads: Path, output: Path) -> int:
    """Write the contrastive pairs of a split, which consists of whole corpora, as `CONTRASTS_SCHEMA`; count them.

    The settings are those of reading the split, and so are the errors.
    """
    parts = [_part_entries(settings, part.corpus, dataset, downloads) for part in settings.parts]
    return write_rows(output, CONTRASTS_SCHEMA, _rows(chain.from_iterable(parts)))


def _part_entries(settings: ReadingSettings, name: str, dataset: str, downloads: Path) -> Iterator[ContrastEntry]:
    corpus = settings.corpora[name]
    options = corpus_options(corpus.format, corpus.options, corpus.files, where=f"{dataset}: corpora.{name}")
    return FORMATS.module(corpus.format).entries(
        corpus_inputs(corpus, downloads, max_line_bytes=settings.max_line_bytes), options
    )


def _rows(entries: Iterator[ContrastEntry]) -> Iterator[dict[str, object]]:
    ids, first = count(), 0
    for number, entry in enumerate(entries):
        for rows in contrast_rows([entry]):
            shifted = rows._replace(right=first + rows.right, wrong=first + rows.wrong)
            yield {"id": next(ids), "entry": number, **shifted._asdict()}
        first += 1 + len(entry.wrong)


def read_contrast_list(path: Path, *, entries: int | None = None) -> list[ContrastRows]:
    """Read the pairs of the first `entries` sources (None: all) of a file that `list_contrasts` wrote."""
    rows = read_rows(path, columns=["entry", *ContrastRows._fields])
    return [
        ContrastRows(**{name: row[name] for name in ContrastRows._fields})
        for row in rows
        if entries is None or row["entry"] < entries
    ]
