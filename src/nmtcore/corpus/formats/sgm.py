"""The format `sgm`: WMT test sets in SGML, or in the later XML, with one sentence per `<seg>` and one file per side.

The structure around the sentences (sets, documents, paragraphs) is ignored: both sides have the same documents in the
same order, so the sentences are parallel. Real files are not well-formed XML (they contain bare `&`), so they are not
parsed as XML: only the tags below are recognised, and references such as `&amp;` are resolved only if they end in `;`.
"""

import html
import re
from collections.abc import Iterator
from typing import NoReturn

from nmtcore.config.formats import SgmOptions
from nmtcore.corpus.formats.rows import (
    LONGEST_LINE,
    Input,
    Inputs,
    Piece,
    ReadingContext,
    Row,
    collapse_spaces,
    decode,
    lines,
    pair_pieces,
)
from nmtcore.corpus.pairs import SIDES, Side
from nmtcore.errors import LineError

ALIGNED = True
_TAG = re.compile(rb"<\s*(/?)\s*(seg|doc|srcset|refset|tstset|src|ref|hyp)\b[^<>]*(>?)", re.IGNORECASE)
_REFERENCE = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);")
_ROLE_OF_TAG = {b"srcset": "source", b"src": "source", b"refset": "reference", b"ref": "reference"}
_ROLE_OF_TAG |= dict.fromkeys((b"tstset", b"hyp"), "system")


def rows(inputs: Inputs, options: SgmOptions) -> Iterator[Row]:
    """Yield (source segment, target segment)."""
    return pair_pieces(inputs, dict.fromkeys(SIDES, segments), unit="segments")


def parse(row: Row, options: SgmOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Decode both segments. Raises `BadRow` if one is not UTF-8."""
    return Side(text=_text(row[0])), Side(text=_text(row[1]))


def _text(piece: Piece) -> str:
    return collapse_spaces(_REFERENCE.sub(lambda reference: html.unescape(reference[0]), decode(piece)))


def segments(file: Input) -> Iterator[Piece]:
    """Yield the text between each `<seg>` and `</seg>`. Raises `LineError` if the tags are not paired."""
    splitter = _SegmentSplitter(str(file.path))
    for piece in lines(file):
        yield from splitter.segments(piece)
    splitter.close()


class _SegmentSplitter:
    """Splits a file into segments, line by line; keeps the first line and the bytes of the open segment."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._first_line = 0
        """Line of the open `<seg>`; 0 if no segment is open."""
        self._data = bytearray()
        self._role: str | None = None

    def segments(self, piece: Piece) -> Iterator[Piece]:
        """Yield the segments that end in this line."""
        start = 0
        for tag in _TAG.finditer(piece.data):
            name, is_end_tag = tag[2].lower(), bool(tag[1])
            if name == b"seg" and not tag[3]:
                raise LineError(self._path, piece.line, f"the tag '{tag[0].decode(errors='replace')}' is cut off.")
            if self._first_line:
                if name == b"seg" and is_end_tag:
                    yield Piece(self._path, self._first_line, bytes(self._data) + piece.data[start : tag.start()])
                    self._first_line = 0
                    self._data.clear()
                elif name in (b"seg", b"doc"):
                    self._fail(f"this <seg> has no </seg> before the tag in line {piece.line}.")
            elif name == b"seg":
                if is_end_tag:
                    raise LineError(self._path, piece.line, "this </seg> has no <seg>.")
                if tag[0].endswith(b"/>"):
                    yield Piece(self._path, piece.line, b"")
                else:
                    self._first_line, start = piece.line, tag.end()
            elif name in _ROLE_OF_TAG and not is_end_tag:
                self._check_role(_ROLE_OF_TAG[name], piece.line)
        if self._first_line:
            self._data += piece.data[start:] + b"\n"
            if len(self._data) > LONGEST_LINE:
                self._fail(f"this <seg> has no </seg> within {LONGEST_LINE} bytes.")

    def close(self) -> None:
        """Raise `LineError` if the file ends inside a segment."""
        if self._first_line:
            self._fail("this <seg> has no </seg>: is the file cut off?")

    def _fail(self, fault: str) -> NoReturn:
        raise LineError(self._path, self._first_line, fault)

    def _check_role(self, role: str, line: int) -> None:
        """Check that the file contains only one side."""
        if self._role not in (None, role):
            raise LineError(
                self._path, line, f"a {role} text in a file that began with a {self._role} text: use one file per side."
            )
        self._role = role
