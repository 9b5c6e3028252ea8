"""Files of token features, in the vocabulary of the tiny bundles."""

from collections.abc import Sequence
from pathlib import Path

from inference.tiny import PIECES

from nmtcore.features.schema import TOKENS_SCHEMA
from nmtcore.parquet import write_rows
from nmtcore.segmentation.vocabulary import Vocabulary


def write_tokens(path: Path, sentences: Sequence[Sequence[str]], *, step: int = 1) -> Path:
    """Write sentences of which each word is a subword; return the folder. Ids count from 0 in steps of `step`."""
    vocabulary = Vocabulary.of(PIECES)
    rows = [
        {"id": step * i, "ids": vocabulary.ids(words), "word_of_subword": list(range(len(words)))}
        for i, words in enumerate(sentences)
    ]
    write_rows(path, TOKENS_SCHEMA, rows)
    return path.parent
