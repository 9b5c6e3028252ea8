"""Linearised parses: constituency trees without words, the targets of Currey and Heafield's second task."""

from pathlib import Path

import pyarrow as pa

from nmtcore.corpus.pairs import WORDS
from nmtcore.parquet import paired_batches, row_writer
from nmtcore.syntax.constituents import linearise, parse_constituents, same_words

LINEARISED_PARSES_SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("brackets", WORDS)])
"""`annotation/{annotator}/{split}.{side}.brackets.parquet`: one row per pair; null without a parse."""


def write_linearised_parses(*, annotation: Path, corpus: Path, side: str, output: Path) -> None:
    """Linearise every constituency parse of `annotation` into `output`, one row per pair of `corpus`.

    A broken parse, or a parse of other words than the pair's, becomes null. Raises UserError, naming the row, if the
    files hold different pairs.
    """
    words = f"{side}_words"
    with row_writer(output, LINEARISED_PARSES_SCHEMA) as writer:
        for pairs, parses in paired_batches(corpus, annotation, columns=([words], ["constituency"])):
            linearised = map(
                linearised_parse, parses.column("constituency").to_pylist(), pairs.column(words).to_pylist()
            )
            columns = [pairs.column("id"), pa.array(linearised, WORDS)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=LINEARISED_PARSES_SCHEMA))


def linearised_parse(parse: str | None, words: list[str]) -> list[str] | None:
    """Linearise one parse; return None if it is missing, broken, or a parse of other words."""
    if parse is None:
        return None
    try:
        tree = parse_constituents(parse)
    except ValueError:
        return None
    return linearise(tree) if same_words(tree, words) else None
