"""Predicted heads and their files; no import of torch, since scoring reads them too."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pyarrow as pa

from nmtcore.parquet import write_rows


@dataclass(frozen=True, kw_only=True)
class Parse:
    """Predicted heads of the words of one sentence, int64, 1-based; 0 is the root."""

    argmax: np.ndarray
    """The likeliest head of each word by itself: perhaps not a tree, perhaps the word itself."""
    one_root: np.ndarray | None = None
    """The maximum spanning tree with exactly one root. None if the model has no root (`diagonalparse`), or if the tree
    was not requested."""
    many_roots: np.ndarray | None = None
    """The maximum spanning tree with one or more roots; None as for `one_root`."""


ParseMethod = Literal["argmax", "one_root", "many_roots"]
"""A way to decode scores into heads: a field of `Parse`."""

TREE_METHODS: dict[str, ParseMethod] = {"one": "one_root", "many": "many_roots"}
"""The method for each choice of the setting `roots`."""

PARSE_METHODS: tuple[ParseMethod, ...] = get_args(ParseMethod)

PARSE_SCHEMA = pa.schema(
    [("id", pa.int64()), *((name, pa.list_(pa.int32())) for name in ("argmax", "one_root", "many_roots"))]
)
"""`hypotheses/{split}.parquet` and `gold/{split}.parquet`, one row per sentence in the split's order."""


def write_parses(path: Path, ids: np.ndarray, parses: Sequence[Parse]) -> None:
    """Write parses as `PARSE_SCHEMA`."""
    rows = (
        {"id": int(i), "argmax": p.argmax, "one_root": p.one_root, "many_roots": p.many_roots}
        for i, p in zip(ids, parses, strict=True)
    )
    write_rows(path, PARSE_SCHEMA, rows)
