"""Files of predicted tags; no import of torch, since tables read them too."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from nmtcore.parquet import write_rows

PREDICTED_TAGS_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("words", pa.list_(pa.string())),
        ("tags", pa.list_(pa.string())),
        ("probabilities", pa.list_(pa.float32())),
    ]
)
"""`hypotheses/{split}.tags.parquet` and the file of `nmtcore translate --tags`, one row per sentence or line, in order.

`words` are those of the best translation, as the model writes them; `tags` has the predicted tag of each, and
`probabilities` that of the tag. Both are null for a word without a tag.
"""


class TaggedWord(NamedTuple):
    """A word of a translation with its predicted tag; without one, tag and probability are None."""

    word: str
    tag: str | None
    probability: float | None


def tag_row(id: int, words: Iterable[TaggedWord]) -> dict[str, Any]:
    """Make a row of `PREDICTED_TAGS_SCHEMA`."""
    listed = list(words)
    return {
        "id": id,
        "words": [word.word for word in listed],
        "tags": [word.tag for word in listed],
        "probabilities": [word.probability for word in listed],
    }


def write_predicted_tags(path: Path, ids: Iterable[int], sentences: Iterable[Iterable[TaggedWord]]) -> None:
    """Write the tagged words of translations as `PREDICTED_TAGS_SCHEMA`."""
    rows = (tag_row(int(id), words) for id, words in zip(ids, sentences, strict=True))
    write_rows(path, PREDICTED_TAGS_SCHEMA, rows)
