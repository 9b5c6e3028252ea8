"""Files come as they are: compressed or not, in archives or not, whole or not."""

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

TEXT = b"".join(b"line %d %d\n" % (i, i * i * 7919) for i in range(20_000))


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKERS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}


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


@pytest.mark.parametrize("kind", PACKERS)
def test_compression_is_found_by_the_first_bytes(kind, tmp_path):
    path = tmp_path / "no_telling_name"
    path.write_bytes(PACKERS[kind](TEXT))
    assert read(path) == TEXT


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_two_compressed_files_in_a_row_are_one(kind, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(PACKERS[kind](TEXT) + PACKERS[kind](b"more\n"))
    assert read(path) == TEXT + b"more\n"


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_a_file_that_is_cut_off_is_an_error(kind, tmp_path):
    packed = PACKERS[kind](TEXT)
    path = tmp_path / "file"
    for cut in (len(packed) // 2, len(packed) - 3):
        path.write_bytes(packed[:cut])
        with pytest.raises(UserError, match=r"file is cut off or damaged .* fetch it again"):
            read(path)


def test_a_damaged_gz_is_an_error(tmp_path):
    packed = bytearray(gzip.compress(TEXT))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "file").write_bytes(packed)
    with pytest.raises(UserError, match="cut off or damaged"):
        read(tmp_path / "file")


def test_an_empty_file_is_empty(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    assert read(tmp_path / "file") == b""


def test_a_missing_file_is_a_sentence(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        read(tmp_path / "file")


@pytest.mark.parametrize("outer", PACKERS)
@pytest.mark.parametrize("inner", ["plain", "gz", "zst"])
def test_a_member_of_a_tar(outer, inner, tmp_path):
    archive = tar(("./a/other", b"no"), ("./a/train.en", PACKERS[inner](TEXT)), ("z", b"no"))
    (tmp_path / "file").write_bytes(PACKERS[outer](archive))
    assert read(tmp_path / "file", "a/train.en") == TEXT


@pytest.mark.parametrize("inner", ["plain", "gz"])
def test_a_member_of_a_zip(inner, tmp_path):
    (tmp_path / "file").write_bytes(zipped(("x", b"no"), ("a/train.en", PACKERS[inner](TEXT))))
    assert read(tmp_path / "file", "a/train.en") == TEXT


def test_a_member_must_be_there_exactly_once_and_be_a_file(tmp_path):
    path = tmp_path / "file"
    for pack in (tar, zipped):
        path.write_bytes(pack(("a", b"x"), ("b", b"y")))
        with pytest.raises(UserError, match=r"holds 0 members called train\.en"):
            read(path, "train.en")
    path.write_bytes(gzip.compress(tar(("a", b"x"), ("./a", b"y"))))
    with pytest.raises(UserError, match="holds 2 members called a, not one"):
        read(path, "a")
    path.write_bytes(tar(("a", b"x"), link="sneaky"))
    with pytest.raises(UserError, match="not a regular file"):
        read(path, "sneaky")


def test_archives_want_a_member_and_members_an_archive(tmp_path):
    path = tmp_path / "file"
    for data in (tar(("a", b"x")), gzip.compress(tar(("a", b"x"))), zipped(("a", b"x"))):
        path.write_bytes(data)
        with pytest.raises(UserError, match="archive: say which `member`"):
            read(path)
    path.write_bytes(gzip.compress(TEXT))
    with pytest.raises(UserError, match="neither a tar nor a zip"):
        read(path, "a")


def test_a_tar_that_is_cut_off_is_an_error(tmp_path):
    packed = gzip.compress(tar(("a", b"x"), ("train.en", TEXT)))
    (tmp_path / "file").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(UserError, match="cut off or damaged"):
        read(tmp_path / "file", "train.en")
