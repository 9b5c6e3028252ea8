"""Recognise text in an encoding other than UTF-8."""

SAMPLE = 1 << 12
"""Bytes that an encoding is guessed from."""
_BOMS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def wide_encoding(start: bytes) -> str | None:
    """Name the encoding of a text that begins with `start` if that is UTF-16 or UTF-32, as `iconv -f` calls it.

    It is told by its byte order mark, or where there is none by NUL bytes: read in the right order of bytes, a text in
    UTF-16 has many ASCII characters (spaces and ends of lines at least), in the wrong order hardly any.
    """
    for mark, name in _BOMS.items():
        if start.startswith(mark):
            return name
    start = start[: min(len(start), SAMPLE) // 2 * 2]
    if start.count(0) < 3:
        return None
    little, big = _ascii_share(start[::2], start[1::2]), _ascii_share(start[1::2], start[::2])
    if max(little, big) < 0.15 or min(little, big) > 0.1 * max(little, big):
        return None
    return "UTF-16LE" if little > big else "UTF-16BE"


def convert_advice(encoding: str) -> str:
    """Say that a text is in such an encoding, and the command that converts it."""
    return f"is {encoding}, not UTF-8: convert it (iconv -f {encoding} -t UTF-8 OLD > NEW)"


def _ascii_share(low: bytes, high: bytes) -> float:
    """Give the share of the characters, of these low and high bytes, that are ASCII and no NUL."""
    return sum(1 for one, other in zip(low, high, strict=True) if other == 0 and 0 < one < 128) / len(low)
