"""Linearised constituency parses: what Currey and Heafield's second task translates to."""

from pathlib import Path

import pyarrow as pa

from nmtcore.corpus.pairs import WORDS
from nmtcore.parquet import paired_batches, row_writer
from nmtcore.syntax.constituents import linearise, parse_constituents, same_words

LINEARISED_PARSES_SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("brackets", WORDS)])
"""`annotation/{annotator}/{split}.{side}.brackets.parquet`: a row a pair; null where there is no parse."""


def linearise_annotation(*, annotation: Path, corpus: Path, side: str, output: Path) -> None:
    """Write the linearised parse of every constituency tree of `annotation`, one row per pair of `corpus`.

    A parse that is no tree, or whose words are not the pair's, counts as none: null. Rows of different pairs are a
    `UserError` that names the row.
    """
    words = f"{side}_words"
    with row_writer(output, LINEARISED_PARSES_SCHEMA) as writer:
        for pairs, parses in paired_batches(corpus, annotation, columns=([words], ["constituency"])):
            found = map(linearised_parse, parses.column("constituency").to_pylist(), pairs.column(words).to_pylist())
            columns = [pairs.column("id"), pa.array(found, WORDS)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=LINEARISED_PARSES_SCHEMA))


def linearised_parse(parse: str | None, words: list[str]) -> list[str] | None:
    """Linearise one parse; None where it is none, is broken, or is of other words."""
    if parse is None:
        return None
    try:
        tree = parse_constituents(parse)
    except ValueError:
        return None
    return linearise(tree) if same_words(tree, words) else None
