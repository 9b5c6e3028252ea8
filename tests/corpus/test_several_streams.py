"""Compressed files of several streams are read to their last byte or refused."""

import gzip
import io
import tarfile
import zipfile

import pytest
from corpus.test_streams import PACKERS, TEXT, random_bytes, read

from nmtcore.errors import UserError

COMPRESSIONS = ["gz", "bz2", "xz", "zst"]
OTHER = b"".join(b"another line %d\n" % (i * i) for i in range(5000))


def in_tar(data: bytes) -> tuple[bytes, str]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("before", "a", "after"):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue(), "a"


def in_zip(data: bytes) -> tuple[bytes, str]:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", data)
    return buffer.getvalue(), "a"


WRAPPINGS = {"the file itself": lambda data: (data, None), "in a tar": in_tar, "in a zip": in_zip}


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


def broken(compression: str) -> dict[str, bytes]:
    """Return files whose first stream is intact, followed by invalid data."""
    first, second = PACKERS[compression](TEXT), PACKERS[compression](OTHER)
    return {
        "cut off": first + second[:-1],
        "cut off in its header": first + second[:3],
        "text after it": first + b"and so on\n",
        "noise between two": first + random_bytes(1000) + second,
        "another compression after it": first + PACKERS["gz" if compression == "xz" else "xz"](OTHER),
    }


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_invalid_data_after_an_intact_stream_raises(compression, tmp_path):
    for fault, data in broken(compression).items():
        for wrap in WRAPPINGS.values() if fault == "text after it" else [WRAPPINGS["the file itself"]]:
            wrapped, member = wrap(data)
            (tmp_path / "file").write_bytes(wrapped)
            with pytest.raises(UserError, match=r"file is cut off or damaged \(.+\): delete it and fetch it again"):
                read(tmp_path / "file", member)


@pytest.mark.parametrize("compression", ["bz2", "xz"])
def test_the_error_names_the_damaged_stream(compression, tmp_path):
    first, second = PACKERS[compression](TEXT), PACKERS[compression](OTHER)
    (tmp_path / "file").write_bytes(2 * first + second[: len(second) // 2])
    with pytest.raises(UserError, match=rf"\(compressed stream 3 \(from byte {2 * len(first)}\) ends too early\)"):
        read(tmp_path / "file")
    (tmp_path / "file").write_bytes(first + flipped(second, len(second) // 2) + first)
    with pytest.raises(UserError, match=rf"\(compressed stream 2 \(from byte {len(first)}\): \w+"):
        read(tmp_path / "file")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_many_streams_are_concatenated(compression, tmp_path):
    texts = [b"", TEXT, b"", b"x\n", *(b"line %d\n" % k for k in range(200)), OTHER, b""]
    for wrap in WRAPPINGS.values():
        data, member = wrap(b"".join(map(PACKERS[compression], texts)))
        (tmp_path / "file").write_bytes(data)
        assert read(tmp_path / "file", member) == b"".join(texts)


@pytest.mark.parametrize("nulls", [4, 65_536, 200_000])
def test_xz_may_have_padding(nulls, tmp_path):
    first, second = PACKERS["xz"](TEXT), PACKERS["xz"](OTHER)
    for data, text in (
        (first + bytes(nulls), TEXT),
        (first + bytes(nulls) + second, TEXT + OTHER),
        (first + bytes(nulls) + second + bytes(nulls), TEXT + OTHER),
    ):
        (tmp_path / "file").write_bytes(data)
        assert read(tmp_path / "file") == text


@pytest.mark.parametrize("nulls", [1, 65_537])
def test_xz_padding_is_a_multiple_of_four_bytes(nulls, tmp_path):
    first = PACKERS["xz"](TEXT)
    for data in (first + bytes(nulls), first + bytes(nulls) + PACKERS["xz"](OTHER)):
        (tmp_path / "file").write_bytes(data)
        with pytest.raises(
            UserError, match=rf"the {nulls} null bytes before byte {len(first) + nulls} are not valid padding"
        ):
            read(tmp_path / "file")


def test_gz_may_end_in_null_bytes_but_bz2_may_not(tmp_path):
    (tmp_path / "file").write_bytes(gzip.compress(TEXT) + bytes(512))
    assert read(tmp_path / "file") == TEXT
    (tmp_path / "file").write_bytes(PACKERS["bz2"](TEXT) + bytes(512))
    with pytest.raises(UserError, match="cut off or damaged"):
        read(tmp_path / "file")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_compressed_empty_file_is_empty(compression, tmp_path):
    (tmp_path / "file").write_bytes(PACKERS[compression](b""))
    assert read(tmp_path / "file") == b""
