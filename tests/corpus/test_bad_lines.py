"""Dropped bad lines: later stages still match trees and sentence pairs."""

import pytest

from nmtcore import parquet
from nmtcore.annotation.shards import annotate_shard, gather_shards
from nmtcore.config.annotators import ExistingSettings
from nmtcore.config.filters import LengthSettings
from nmtcore.corpus import read
from nmtcore.parquet import read_rows

COUNT = 60
BAD_LINES = {
    "first": [0],
    "first two": [0, 1],
    "middle": [29, 30, 31],
    "last": [59],
    "whole row groups": [*range(7, 14), *range(40, 49)],
    "everywhere": [0, 1, 13, 14, 15, 30, 31, 44, 58, 59],
}


def sentence(number: int, *, broken: bool) -> str:
    """Return a CoNLL-U sentence whose labels name it; a broken sentence has a head that is not a number."""
    length = 1 + number % 5
    words = [
        f"{n}\tw{number}x{n}\t_\tX\t_\t_\t{'?' if broken else n - 1}\tof{number}\t_\t_" for n in range(1, length + 1)
    ]
    return "\n".join(words) + "\n\n"


@pytest.mark.parametrize("position", BAD_LINES)
@pytest.mark.parametrize("shards", [1, 4, 20])
def test_trees_match_their_pairs_after_lines_were_dropped(position, shards, bench, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_PER_GROUP", 7)
    monkeypatch.setattr(read, "ROWS_PER_CHUNK", 7)
    bad = BAD_LINES[position]
    files = {
        "source": bench.file("s", "".join(sentence(k, broken=k in bad) for k in range(COUNT))),
        "target": bench.file("t", "".join(f"target {k}\n" for k in range(COUNT))),
    }
    corpus = bench.corpus("conllu", {"target_format": "plain"}, **files)
    dataset = bench.dataset(corpus, max_bad_lines=len(bad), filters=(LengthSettings(most=4),))
    _, report = bench.read(dataset)
    assert report["dropped"] == {"tree": len(bad)}
    bench.filter(dataset)
    pairs = bench.folder / "corpus/train.parquet"
    kept = [k for k in range(COUNT) if k not in bad and k % 5 < 4]

    files = {"corpus": pairs, "raw": bench.raw("train"), "side": "source", "language": "cs", "shards": shards}
    outputs = [bench.folder / f"{k}.parquet" for k in range(shards)]
    for k, output in enumerate(outputs):
        annotate_shard(ExistingSettings(), **files, shard=k, output=output)
    gather_shards(outputs, corpus=pairs, output=bench.folder / "all", report=bench.folder / "all.json")
    rows = list(read_rows(bench.folder / "all"))
    assert [row["id"] for row in rows] == kept
    assert [row["deprel"] for row in rows] == [[f"of{k}"] * (1 + k % 5) for k in kept]
    assert [row["head"] for row in rows] == [list(range(1 + k % 5)) for k in kept]
