"""Recognise text in UTF-16 or UTF-32, which the readers refuse."""

SAMPLE = 1 << 12
"""Bytes from which an encoding is guessed."""
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def wide_encoding(start: bytes) -> str | None:
    """Name the encoding, as `iconv -f` calls it, of a text that begins with `start`; None if not UTF-16 or UTF-32.

    The evidence is a byte order mark or, without one, NUL bytes: read in the right byte order, UTF-16 text has many
    ASCII characters (at least spaces and line ends); read in the wrong order, it has hardly any.
    """
    for mark, name in _BYTE_ORDER_MARKS.items():
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
    """Say that a text is in the given encoding, and which command converts it."""
    return f"is {encoding}, not UTF-8: convert it (iconv -f {encoding} -t UTF-8 OLD > NEW)"


def _ascii_share(low: bytes, high: bytes) -> float:
    """Return the share of ASCII characters other than NUL among the characters with these low and high bytes."""
    ascii_count = sum(1 for low_byte, high_byte in zip(low, high, strict=True) if high_byte == 0 and 0 < low_byte < 128)
    return ascii_count / len(low)
