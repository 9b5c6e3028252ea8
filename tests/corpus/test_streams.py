"""Opening compressed, archived, truncated, damaged and malicious files."""

import bz2
import gzip
import io
import lzma
import random
import re
import stat
import tarfile
import zipfile

import pyarrow as pa
import pytest

from nmtcore.corpus.streams import FREE_BYTES, open_stream
from nmtcore.errors import UserError, quoted

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


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def read(path, member=None) -> bytes:
    with open_stream(path, member) as stream:
        return stream.read()


@pytest.mark.parametrize("compression", PACKERS)
def test_compression_is_detected_by_the_first_bytes(compression, tmp_path):
    path = tmp_path / "file_without_suffix"
    path.write_bytes(PACKERS[compression](TEXT))
    assert read(path) == TEXT


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz", "zst"])
def test_concatenated_compressed_files_are_read_as_one(compression, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(PACKERS[compression](TEXT) + PACKERS[compression](b"more\n"))
    assert read(path) == TEXT + b"more\n"


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz", "zst"])
def test_a_truncated_file_raises_user_error(compression, tmp_path):
    packed = PACKERS[compression](TEXT)
    path = tmp_path / "file"
    for cut in (len(packed) // 2, len(packed) - 3):
        path.write_bytes(packed[:cut])
        with pytest.raises(UserError, match=r"file is cut off or damaged .* fetch it again"):
            read(path)


def test_a_damaged_gz_raises_user_error(tmp_path):
    packed = bytearray(gzip.compress(TEXT))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "file").write_bytes(packed)
    with pytest.raises(UserError, match="cut off or damaged"):
        read(tmp_path / "file")


def test_an_empty_file_is_read_as_empty(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    assert read(tmp_path / "file") == b""


def test_a_missing_file_raises_user_error(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        read(tmp_path / "file")


@pytest.mark.parametrize("outer", PACKERS)
def test_a_member_of_a_tar_is_read(outer, tmp_path):
    for inner in ("plain", "gz"):
        archive = tar(("./a/other", b"no"), ("./a/train.en", PACKERS[inner](TEXT)), ("z", b"no"))
        (tmp_path / "file").write_bytes(PACKERS[outer](archive))
        assert read(tmp_path / "file", "a/train.en") == TEXT


@pytest.mark.parametrize("inner", ["plain", "gz"])
def test_a_member_of_a_zip_is_read(inner, tmp_path):
    (tmp_path / "file").write_bytes(zipped(("x", b"no"), ("a/train.en", PACKERS[inner](TEXT))))
    assert read(tmp_path / "file", "a/train.en") == TEXT


def test_a_member_must_occur_once_and_be_a_file(tmp_path):
    path = tmp_path / "file"
    for pack in (tar, zipped):
        path.write_bytes(pack(("a", b"x"), ("b", b"y")))
        with pytest.raises(UserError, match=r"has 0 members called train\.en"):
            read(path, "train.en")
    path.write_bytes(tar(("a", b"x"), link="sneaky"))
    with pytest.raises(UserError, match="the member sneaky is a symbolic link, not a regular file"):
        read(path, "sneaky")


@pytest.mark.parametrize("twin", ["./a/b", "a//b", "a/./b", "././a/b"])
@pytest.mark.parametrize("pack", [tar, zipped])
def test_two_spellings_of_a_member_name_are_ambiguous(pack, twin, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(pack(("a/b", b"x"), (twin, b"y")))
    for member in ("a/b", twin):
        with pytest.raises(UserError, match=r"has 2 members called .*b, not one"):
            read(path, member)
    path.write_bytes(pack((twin, b"y"), ("b", b"x")))
    assert read(path, "a/b") == b"y"


@pytest.mark.parametrize("pack", [tar, zipped])
def test_member_names_are_never_used_as_paths(pack, tmp_path):
    folder = tmp_path / "in" / "side"
    folder.mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"secret")
    names = ("../../secret", f"{tmp_path}/secret", "x/../y")
    (folder / "file").write_bytes(pack(*((name, name.encode()) for name in names)))
    before = sorted(tmp_path.rglob("*"))
    for name in names:  # the member in the archive, not the file on disk
        assert read(folder / "file", name) == name.encode()
    for name in ("secret", "y", "x/y", "../secret", f"{tmp_path}/secret"[1:]):
        with pytest.raises(UserError, match="has 0 members"):
            read(folder / "file", name)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "secret").read_bytes() == b"secret"


def irregular_tar(entry_type: bytes = tarfile.REGTYPE, size: int = 0, **pax: str) -> bytes:
    info = tarfile.TarInfo("odd")
    info.type, info.size, info.linkname, info.pax_headers = entry_type, size, "x", pax
    head = info.tobuf(tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT)
    return head + tar(("x", TEXT))


IRREGULAR_TARS = {
    "symbolic link": irregular_tar(tarfile.SYMTYPE),
    "hard link": irregular_tar(tarfile.LNKTYPE),
    "folder": irregular_tar(tarfile.DIRTYPE),
    "device": irregular_tar(tarfile.CHRTYPE),
    "sparse": irregular_tar(**{"GNU.sparse.size": str(10**11), "GNU.sparse.map": "0,0"}),
}


def test_an_irregular_member_of_a_tar_is_refused(tmp_path):
    for fault, data in IRREGULAR_TARS.items():
        (tmp_path / "file").write_bytes(data)
        assert read(tmp_path / "file", "x") == TEXT
        with pytest.raises(UserError, match=f"file: the member odd is (a )?{fault}, not a regular file"):
            read(tmp_path / "file", "odd")


@pytest.mark.parametrize("size", [-1, 1 << 41])
def test_a_tar_with_implausible_sizes_is_refused(size, tmp_path):
    (tmp_path / "file").write_bytes(irregular_tar(size=size))
    for member in ("odd", "x"):
        with pytest.raises(UserError, match=rf"the member odd claims to hold {size} bytes"):
            read(tmp_path / "file", member)


def zip_info(mode: int, name: str = "odd") -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def encrypted(data: bytes) -> bytes:
    """Set the flag for encryption in the member's header and in the archive's directory."""
    data = bytearray(data)
    data[data.index(b"PK\3\4") + 6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


IRREGULAR_ZIPS = {
    "a symbolic link": zipped((zip_info(stat.S_IFLNK | 0o777), b"/etc/passwd")),
    "a device": zipped((zip_info(stat.S_IFCHR | 0o600), b"")),
    "a folder": zipped((zip_info(stat.S_IFDIR | 0o755, "odd/"), b"")),
    "encrypted": encrypted(zipped(("odd", TEXT))),
    "packed by the method bzip2": zipped(("odd", TEXT), method=zipfile.ZIP_BZIP2),
    "packed by the method lzma": zipped(("odd", TEXT), method=zipfile.ZIP_LZMA),
}


def test_an_irregular_member_of_a_zip_is_refused(tmp_path):
    for fault, data in IRREGULAR_ZIPS.items():
        (tmp_path / "file").write_bytes(data)
        with pytest.raises(UserError, match=f"file: the member odd is {fault}, not a regular file"):
            read(tmp_path / "file", "odd")


@pytest.mark.parametrize("mode", [0, 0o644, stat.S_IFREG | 0o644])
def test_a_regular_member_of_any_mode_is_read(mode, tmp_path):
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        info = zip_info(mode, "a")
        info.compress_type = method
        (tmp_path / "file").write_bytes(zipped((info, TEXT)))
        assert read(tmp_path / "file", "a") == TEXT


def test_a_damaged_zip_raises_user_error(tmp_path):
    packed = zipped(("a", TEXT))
    (tmp_path / "file").write_bytes(packed[:-1])
    with pytest.raises(UserError, match="cut off or damaged"):
        read(tmp_path / "file", "a")


ZEROS = bytes(70_000_000)


BOMBS = {
    "gz": lambda: gzip.compress(ZEROS),
    "zip with a long directory": lambda: zipped(("a", ZEROS), *((f"{i:060}", b"") for i in range(1000))),
    "other member of a tar.zst": lambda: zstd(tar(("a", b"x"), ("b", ZEROS))),
    "zst in tar": lambda: tar(("z", random_bytes(100_000)), ("a", zstd(ZEROS))),
    "zst in tar.zst": lambda: zstd(tar(("a", zstd(ZEROS)))),
}


def random_bytes(size: int) -> bytes:
    return random.Random(0).randbytes(size)


def unpack(path, member=None) -> tuple[int, str]:
    """Return the number of decompressed bytes and the message of the error, if any."""
    count = 0
    try:
        with open_stream(path, member) as stream:
            while block := stream.read(1 << 16):
                count += len(block)
    except UserError as error:
        return count, str(error)
    return count, ""


@pytest.mark.parametrize("name", BOMBS)
def test_a_decompression_bomb_is_refused(name, tmp_path):
    (tmp_path / "bomb").write_bytes(BOMBS[name]())
    member = "a" if "zip" in name or "tar" in name else None
    count, sentence = unpack(tmp_path / "bomb", member)
    assert re.match(r".*bomb(, member a,)? unpacks to over 1,000 times its size.*: fetch it again, from", sentence)
    # deflate reaches a ratio of at most 1,030, so almost all bytes are read before the ratio is too high
    assert count < len(ZEROS) if name == "gz" or name.startswith("zip") else count <= FREE_BYTES + (1 << 20)


def test_harmless_layers_that_form_a_bomb_are_refused(tmp_path):
    repetitive = (bytes(40_000) + b"x") * 1800
    inner = gzip.compress(repetitive)
    assert len(repetitive) < 1000 * len(inner)
    (tmp_path / "harmless").write_bytes(inner)
    assert unpack(tmp_path / "harmless") == (len(repetitive), "")
    outer = gzip.compress(tar(("a", inner)))
    assert len(inner) < 1000 * len(outer)
    (tmp_path / "bomb").write_bytes(outer)
    count, sentence = unpack(tmp_path / "bomb", "a")
    assert "bomb, member a, unpacks to over 1,000 times its size" in sentence
    assert count <= FREE_BYTES


def test_small_files_may_have_any_ratio_and_large_files_a_high_one(tmp_path):
    (tmp_path / "file").write_bytes(lzma.compress(ZEROS[:60_000_000], preset=0))
    assert unpack(tmp_path / "file") == (60_000_000, "")
    (tmp_path / "file").write_bytes(gzip.compress(b"The same line, again and again.\n" * 2_200_000))
    assert unpack(tmp_path / "file") == (32 * 2_200_000, "")


@pytest.mark.parametrize("outer", [tar, zipped])
@pytest.mark.parametrize("inner", [tar, zipped])
def test_an_archive_in_an_archive_is_refused(outer, inner, tmp_path):
    archive = {tar: "tar", zipped: "zip"}[inner]
    for pack in (bytes, gzip.compress):
        (tmp_path / "file").write_bytes(outer(("a", pack(inner(("b", TEXT))))))
        with pytest.raises(
            UserError, match=f"file, member a, is a {archive} archive: extract it from the outer archive"
        ):
            read(tmp_path / "file", "a")


def test_an_archive_requires_a_member_and_vice_versa(tmp_path):
    path = tmp_path / "file"
    for data in (tar(("a", b"x")), gzip.compress(tar(("a", b"x"))), zipped(("a", b"x"))):
        path.write_bytes(data)
        with pytest.raises(UserError, match="archive: name the `member`"):
            read(path)
    path.write_bytes(gzip.compress(TEXT))
    with pytest.raises(UserError, match="neither a tar nor a zip"):
        read(path, "a")


def test_a_truncated_tar_raises_user_error(tmp_path):
    packed = gzip.compress(tar(("a", b"x"), ("train.en", TEXT)))
    (tmp_path / "file").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(UserError, match="cut off or damaged"):
        read(tmp_path / "file", "train.en")


def tar_header(type_: bytes, size: int, name: str = "././@LongLink") -> bytes:
    header = tarfile.TarInfo(name)
    header.type, header.size = type_, size
    return header.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize("type_", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE])
def test_chains_of_records_of_names_and_attributes_are_refused(type_, tmp_path):
    record = {tarfile.XHDTYPE: b"9 path=a\n"}.get(type_, b"a\0")
    record = tar_header(type_, len(record)) + record.ljust(512, b"\0")
    for count in (4, 16):
        (tmp_path / "x").write_bytes(record * count + tar(("a", b"text")))
        assert unpack(tmp_path / "x", "a")[1] == ""
    for count in (17, 5000):
        (tmp_path / "x").write_bytes(record * count + tar(("a", b"text")))
        assert "more than 16 records of names and attributes before an entry" in unpack(tmp_path / "x", "a")[1]


@pytest.mark.parametrize(
    "type_", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE]
)
def test_huge_records_of_names_and_attributes_are_refused(type_, tmp_path):
    size = (1 << 20) + 512
    (tmp_path / "x").write_bytes(tar_header(type_, size) + bytes(size) + tar(("a", b"text")))
    assert f"a record of {size} bytes for a name or attributes" in unpack(tmp_path / "x", "a")[1]


def with_pax(text: bytes, **attributes: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("a")
        info.size, info.pax_headers = len(text), attributes
        archive.addfile(info, io.BytesIO(text))
    return buffer.getvalue()


def test_numbers_of_tar_attributes_are_digits(tmp_path):
    for name, value in (("size", "1e3"), ("uid", ""), ("gid", "-1")):
        (tmp_path / "x").write_bytes(with_pax(b"text", **{name: value}))
        sentence = f"(the attribute {name} of an entry is {quoted(value)}, which is no number)"
        assert sentence in unpack(tmp_path / "x", "a")[1]


def test_tar_attributes_are_read(tmp_path):
    (tmp_path / "x").write_bytes(with_pax(b"text", size="4", uid="70000", gid="007", mtime="-1.5", comment="1e3"))
    assert read(tmp_path / "x", "a") == b"text"
