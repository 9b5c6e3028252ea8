"""The user's own files are read in place, compressed or archived, and compared with their pins."""

import bz2
import gzip
import hashlib

import pytest
from corpus.test_streams import tar, zipped

from nmtcore.config.corpora import FileSettings
from nmtcore.errors import UserError

SOURCE, TARGET = "ein Haus\nzwei\n", "a house\ntwo\n"


@pytest.fixture
def own(bench):
    def own(name: str, data: bytes, **values) -> FileSettings:
        path = bench.folder / "mine" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return FileSettings(path=str(path), **values)

    return own


def read(bench, source, target):
    rows, _ = bench.read(bench.dataset(bench.corpus("plain", source=source, target=target)))
    return [(row["source"], row["target"]) for row in rows]


@pytest.mark.parametrize(
    ("pack", "member"),
    [
        (bytes, None),
        (gzip.compress, None),
        (bz2.compress, None),
        (lambda data: gzip.compress(tar(("x", b"no"), ("in/a.en", data))), "in/a.en"),
        (lambda data: zipped(("a.en", data)), "a.en"),
    ],
)
def test_own_files_are_read_in_place(pack, member, bench, own):
    pairs = read(bench, own("a", SOURCE.encode()), own("b", pack(TARGET.encode()), member=member))
    assert pairs == [("ein Haus", "a house"), ("zwei", "two")]
    assert not (bench.folder / "downloads").exists(), "nothing is copied"
    assert sorted(path.name for path in (bench.folder / "mine").iterdir()) == ["a", "b"]


def test_own_and_downloaded_files_can_be_combined(bench, own):
    assert len(read(bench, own("a", SOURCE.encode()), bench.file("b", TARGET))) == 2


PINS = {
    "length": len(TARGET),
    "md5": hashlib.md5(TARGET.encode()).hexdigest(),
    "sha256": hashlib.sha256(TARGET.encode()).hexdigest(),
}


@pytest.mark.parametrize("key", PINS)
def test_pins_are_compared_when_an_own_file_is_read(key, bench, own):
    source = own("a", SOURCE.encode())
    assert len(read(bench, source, own("b", TARGET.encode(), **{key: PINS[key]}))) == 2
    bench.raw("train").unlink()
    changed = own("b", b"a mouse\nmore\n", **{key: PINS[key]})
    with pytest.raises(UserError, match=rf"/mine/b: its {key} is \w+.*, not {PINS[key]}.* as the data set says: put"):
        read(bench, source, changed)
    assert not bench.raw("train").exists()
