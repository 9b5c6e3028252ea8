"""The tests of WMT: SGML, or the XML that came after it, with a sentence each `<seg>`; a file a side.

What stands around the sentences (sets, documents, paragraphs) is passed over: both sides have the same documents in
the same order, so that their sentences go in pairs. Real files are no sound XML (a bare `&`), so they are not read as
such: nothing but the tags below is looked for, and references such as `&amp;` are resolved where they end in `;`.
"""

import html
import re
from collections.abc import Iterator

from nmtcore.config.formats import SgmOptions
from nmtcore.corpus.formats.rows import (
    LONGEST_LINE,
    Input,
    Inputs,
    Piece,
    ReadingContext,
    Row,
    aligned,
    decode,
    lines,
    spaced,
)
from nmtcore.corpus.pairs import SIDES, Side
from nmtcore.errors import LineError

ALIGNED = True
_TAG = re.compile(rb"<\s*(/?)\s*(seg|doc|srcset|refset|tstset|src|ref|hyp)\b[^<>]*(>?)", re.IGNORECASE)
_REFERENCE = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);")
_TEXTS = {b"srcset": "source", b"src": "source", b"refset": "reference", b"ref": "reference"}
_TEXTS |= dict.fromkeys((b"tstset", b"hyp"), "system")


def rows(inputs: Inputs, options: SgmOptions) -> Iterator[Row]:
    """Yield (source segment, target segment)."""
    return aligned(inputs, dict.fromkeys(SIDES, segments), unit="segments")


def parse(row: Row, options: SgmOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Decode both segments. Raises `BadRow` for what is not UTF-8."""
    return Side(text=_text(row[0])), Side(text=_text(row[1]))


def _text(piece: Piece) -> str:
    return spaced(_REFERENCE.sub(lambda found: html.unescape(found[0]), decode(piece)))


def segments(file: Input) -> Iterator[Piece]:
    """Yield what stands between `<seg>` and `</seg>`. Raises `LineError` where the tags do not go in pairs."""
    cutter = _Cutter(str(file.path))
    for piece in lines(file):
        yield from cutter.segments(piece)
    cutter.close()


class _Cutter:
    """Keeps, from line to line, the segment that is open (its first line and its bytes so far)."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._opened = 0
        self._data = bytearray()
        self._texts: str | None = None

    def segments(self, piece: Piece) -> Iterator[Piece]:
        """Yield the segments that end in this line."""
        start = 0
        for tag in _TAG.finditer(piece.data):
            name = tag[2].lower()
            if name == b"seg" and not tag[3]:
                raise LineError(self._path, piece.line, f"the tag '{tag[0].decode(errors='replace')}' is cut off.")
            if self._opened:
                if name == b"seg" and tag[1]:
                    yield Piece(self._path, self._opened, bytes(self._data) + piece.data[start : tag.start()])
                    self._opened = 0
                    self._data.clear()
                elif name in (b"seg", b"doc"):
                    raise LineError(
                        self._path, self._opened, f"this <seg> has no </seg> before line {piece.line}'s tag."
                    )
            elif name == b"seg":
                if tag[1]:
                    raise LineError(self._path, piece.line, "a </seg> without its <seg>.")
                if tag[0].endswith(b"/>"):
                    yield Piece(self._path, piece.line, b"")
                else:
                    self._opened, start = piece.line, tag.end()
            elif name in _TEXTS and not tag[1]:
                self._one_text(_TEXTS[name], piece.line)
        if self._opened:
            self._data += piece.data[start:] + b"\n"
            if len(self._data) > LONGEST_LINE:
                raise LineError(self._path, self._opened, f"this <seg> has no </seg> within {LONGEST_LINE} bytes.")

    def close(self) -> None:
        """Raise `LineError` where the file ends in the middle of a segment."""
        if self._opened:
            raise LineError(self._path, self._opened, "this <seg> has no </seg>: is the file cut off?")

    def _one_text(self, kind: str, line: int) -> None:
        """See that the file holds one side only."""
        if self._texts not in (None, kind):
            raise LineError(
                self._path, line, f"a {kind} text in a file that began with a {self._texts} text: a file a side."
            )
        self._texts = kind
