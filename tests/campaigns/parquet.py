"""Flipped bits, cut-off files and other damage in intermediate Parquet files."""

from pathlib import Path
from random import Random

import pyarrow as pa
from campaigns.damage import damaged_bytes
from campaigns.run import WrongOutput

from nmtcore.parquet import read_rows, write_rows

SCHEMA = pa.schema([("id", pa.int64()), ("words", pa.list_(pa.string())), ("head", pa.list_(pa.int32()))])


def attempt(random: Random, folder: Path) -> str:
    """Read a damaged file: it is refused, or read as it was written."""
    rows = [
        {"id": i, "words": [f"w{random.randrange(50)}" for _ in range(n)], "head": list(range(n))}
        for i in range(random.randrange(1, 300))
        for n in [random.randrange(9)]
    ]
    path = folder / "rows.parquet"
    write_rows(path, SCHEMA, rows)
    data = bytearray(path.read_bytes())
    if random.random() < 0.7:
        bit = random.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
    else:
        path.write_bytes(damaged_bytes(bytes(data), random))
    if list(read_rows(path)) != rows:
        raise WrongOutput("read as other data")
    return "clean"
