"""Opening compressed and archived files, whole and damaged."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pyarrow as pa
import pytest

from nmtcore.corpus.streams import open_stream
from nmtcore.errors import UserError

TEXT = b"".join(b"line %d %d\n" % (i, i * i * 7919) for i in range(5_000))


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKERS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}
COMPRESSIONS = ["gz", "bz2", "xz", "zst"]


def tar(*members: tuple[str, bytes], link: str | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        if link:
            info = tarfile.TarInfo(link)
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(info)
    return buffer.getvalue()


def zipped(*members: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def read(path, member=None) -> bytes:
    with open_stream(path, member) as stream:
        return stream.read()


WRAPPINGS = {
    "the file itself": lambda data: (data, None),
    "in a tar": lambda data: (tar(("before", b"no"), ("./a/b", data), ("after", b"no")), "a/b"),
    "in a tar.gz": lambda data: (gzip.compress(tar(("a/b", data))), "./a/b"),
    "in a tar.zst": lambda data: (zstd(tar(("a/b", data))), "a/b"),
    "in a zip": lambda data: (zipped(("x", b"no"), ("a/b", data)), "a/b"),
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("compression", PACKERS)
def test_text_is_read_from_any_packing(compression, wrapping, tmp_path):
    texts = [b"", TEXT, b"", b"x\n", *(b"line %d\n" % k for k in range(50))]
    for parts in ([TEXT], [b""], texts):
        data, member = WRAPPINGS[wrapping](b"".join(map(PACKERS[compression], parts)))
        (tmp_path / "file").write_bytes(data)
        assert read(tmp_path / "file", member) == b"".join(parts)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_damage_raises(compression, wrapping, tmp_path):
    first, second = (PACKERS[compression](text) for text in (TEXT, TEXT[::-1]))
    middle = len(first) // 2
    for data in (
        first[:middle],
        first[:-3],
        first[:middle] + bytes([first[middle] ^ 255]) + first[middle + 1 :] if compression != "zst" else first[:-1],
        first + second[:-1],
    ):
        wrapped, member = WRAPPINGS[wrapping](data)
        (tmp_path / "file").write_bytes(wrapped)
        with pytest.raises(UserError, match=r"file is cut off or damaged \((.|\n)+\): delete it and fetch it again"):
            read(tmp_path / "file", member)


def encrypted() -> bytes:
    """A zip with the flag for encryption in the member's header and in the archive's directory."""
    data = bytearray(zipped(("a", TEXT)))
    data[data.index(b"PK\3\4") + 6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


FAULTS = {
    "no such member": (tar(("a", b"x")), "b", "file has no regular file b (not a folder, a link or encrypted)"),
    "a link": (tar(("a", b"x"), link="b"), "b", "file has no regular file b"),
    "a folder": (zipped(("a/", b"")), "a/", "file has no regular file a/"),
    "encrypted": (encrypted(), "a", "file has no regular file a"),
    "a tar": (tar(("a", b"x")), None, "file is a tar archive: name the `member` to read"),
    "a zip": (zipped(("a", b"x")), None, "file is a zip archive: name the `member` to read"),
    "no archive": (gzip.compress(TEXT), "a", "it is neither a tar nor a zip archive: remove the `member`"),
    "a tar in a zip": (zipped(("a", tar(("b", b"x")))), "a", "file, member a, is a tar archive: extract it from"),
    "a cut zip": (zipped(("a", TEXT))[:-1], "a", "file is cut off or damaged"),
    "a cut tar": (gzip.compress(tar(("x", TEXT), ("a", TEXT)))[:-99], "a", "file is cut off or damaged"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told(fault, tmp_path):
    data, member, sentence = FAULTS[fault]
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(UserError) as error:
        read(tmp_path / "file", member)
    assert sentence in str(error.value)
