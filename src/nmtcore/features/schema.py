"""The Parquet files of the features stage: what models read instead of text and trees."""

import pyarrow as pa

_ID = pa.field("id", pa.int64(), nullable=False)
_IDS = pa.list_(pa.int32())

TOKENS_SCHEMA = pa.schema(
    [
        _ID,
        pa.field("ids", _IDS, nullable=False),
        pa.field("word_of_subword", _IDS, nullable=False),
    ]
)
"""`features/{segmentation}/{split}.{side}.parquet`: subword ids without `</s>`, and the word (0-based) of each."""

ROOT, NO_GOVERNOR = -1, -2
"""In `governor`: the word is a root; nothing is known of the word."""

LABELS = ("deprel", "upos", "xpos")

SYNTAX_SCHEMA = pa.schema(
    [
        _ID,
        pa.field("governor", _IDS, nullable=False),
        *(pa.field(kind, _IDS, nullable=False) for kind in LABELS),
        pa.field("parent_position", pa.list_(pa.float32()), nullable=False),
    ]
)
"""`features/{segmentation}/{split}.{side}.{annotator}.parquet`, every list one entry a word: the governor (0-based
word), label ids, and the mean position of the governor's subwords (0-based; of the word's own where it has none)."""
