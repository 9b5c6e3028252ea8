"""Damaged archives, compressed files, and files inside archives."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path
from random import Random

from campaigns.damage import damaged_bytes
from campaigns.run import WrongOutput

from nmtcore.corpus.streams import open_stream
from nmtcore.errors import UserError

MEMBER = "folder/text.txt"
ODD_TYPES = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, b"L", b"x")


def attempt(random: Random, folder: Path) -> str:
    """Read a member of an archive."""
    text = b"".join(b"line %d\n" % i for i in range(random.randrange(1, 3000)))
    odd = random.random() < 0.5
    pack = random.choice((_tar, _tar, _zip))
    data = pack(text, random, odd=odd)
    if random.random() < 0.5:
        odd |= pack is _zip  # a compressed one is not read
        compress, middle = random.choice((gzip.compress, bz2.compress, lzma.compress)), len(data) // 2
        data = compress(data) if random.random() < 0.7 else compress(data[:middle]) + compress(data[middle:])
    damages = random.choice((0, 1, 1, 2))
    for _ in range(damages):
        data = _near_start(data, random) if random.random() < 0.5 else damaged_bytes(data, random)
    path = folder / "archive"
    path.write_bytes(data)
    member = MEMBER if random.random() < 0.9 else None
    try:
        with open_stream(path, member) as stream:
            read = b"".join(iter(lambda: stream.read(1 << 16), b""))
    except UserError as error:
        if member and not (damages or odd):
            raise WrongOutput(f"a whole archive is refused: {error}") from error
        raise
    if not damages and read != text:
        raise WrongOutput(f"{len(read)} bytes were read that are not those of the member")
    return "clean"


def _near_start(data: bytes, random: Random) -> bytes:
    """Damage a header."""
    return damaged_bytes(data[:600], random) + data[600:]


def _tar(text: bytes, random: Random, *, odd: bool) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=random.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))) as file:
        for name in random.sample(["other", MEMBER, "x" * 300, "../up"], 4):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            if odd and random.random() < 0.2:
                entry.type = random.choice(ODD_TYPES)
                entry.linkname = "/etc/passwd"
            file.addfile(entry, io.BytesIO(text))
    return buffer.getvalue()


def _zip(text: bytes, random: Random, *, odd: bool) -> bytes:
    buffer = io.BytesIO()
    methods = (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA) if odd else (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    method = random.choice(methods)
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name in ("other", MEMBER, "/absolute"):
            file.writestr(name, text)
    return buffer.getvalue()
