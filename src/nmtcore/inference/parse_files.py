"""The heads that a model predicts, and the files that hold them: without torch, since scores are computed from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pyarrow as pa

from nmtcore.parquet import write_rows


@dataclass(frozen=True, kw_only=True)
class Parse:
    """Heads of one sentence's words, int64, 1-based; 0 is the root."""

    argmax: np.ndarray
    """Each word's likeliest head by itself: perhaps no tree, perhaps the word itself."""
    one_root: np.ndarray | None = None
    """The maximum spanning tree with exactly one root. None where the model knows no root (`diagonalparse`), or where
    nobody asked for it."""
    many_roots: np.ndarray | None = None
    """The same with one root or more."""


ParseMethod = Literal["argmax", "one_root", "many_roots"]
"""One of the ways in which a `Parse` reads heads."""

TREE_METHODS: dict[str, ParseMethod] = {"one": "one_root", "many": "many_roots"}
"""The method to trees with so many roots."""

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
