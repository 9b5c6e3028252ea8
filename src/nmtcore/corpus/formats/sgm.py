"""The format `sgm`: WMT test sets in SGML, or in the later XML, with one sentence per `<seg>` and one file per side.

The structure around the sentences (sets, documents, paragraphs) is ignored: both sides have the same documents in the
same order, so the sentences are parallel; ids of documents and segments that both sides have must agree. Comments
are dropped, between segments and in them. Real files are not well-formed XML (they contain bare `&`), so they are not
parsed as XML: only the tags below are recognised, and references such as `&amp;` are resolved only if they end in `;`.
"""

import html
import re
from collections.abc import Iterator
from typing import NoReturn

from nmtcore.config.formats import SgmOptions
from nmtcore.corpus.formats.rows import (
    IdsOfFile,
    Input,
    Inputs,
    Piece,
    ReadingContext,
    Row,
    check_same_ids,
    collapse_spaces,
    decode,
    lines,
    pair_pieces,
    too_long,
)
from nmtcore.corpus.pairs import SIDES, Side
from nmtcore.errors import LineError, quoted

ALIGNED = True
# Bounded white space: `\s*(/?)\s*` takes quadratic time for "<" before many spaces.
_TAG = re.compile(
    rb"<\s{0,9}(/?)\s{0,9}(seg|doc|srcset|refset|tstset|src|ref|hyp)\b[^<>]*(>?)|<!--(?P<comment>)", re.IGNORECASE
)
_ATTRIBUTE = re.compile(rb"""(?<![^\s"'])([^\s"'=<>]++)\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)""")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,8}|\w+);")
_ROLE_OF_TAG = {b"srcset": "source", b"src": "source", b"refset": "reference", b"ref": "reference"}
_ROLE_OF_TAG |= dict.fromkeys((b"tstset", b"hyp"), "system")


def rows(inputs: Inputs, options: SgmOptions) -> Iterator[Row]:
    """Yield (source segment, target segment)."""
    return pair_pieces(inputs, dict.fromkeys(SIDES, segments), unit="segments")


def parse(row: Row, options: SgmOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Decode both segments. Raises `BadRow` if one is not UTF-8 or their ids differ."""
    check_same_ids(*row)
    return Side(text=_text(row[0])), Side(text=_text(row[1]))


def _text(piece: Piece) -> str:
    text = _without_comments(decode(piece))
    return collapse_spaces(_REFERENCE.sub(lambda reference: html.unescape(reference[0]), text))


def _without_comments(text: str) -> str:
    """Drop the comments in a segment; what does not end in it is text."""
    kept, end = [], 0
    while (start := text.find("<!--", end)) >= 0 and (after := text.find("-->", start + 4)) >= 0:
        kept.append(text[end:start])
        end = after + 3
    return "".join(kept) + text[end:]


def segments(file: Input) -> Iterator[Piece]:
    """Yield the text between each `<seg>` and `</seg>`. Raises `LineError` if the tags are not paired."""
    splitter = _SegmentSplitter(str(file.path), file.max_line_bytes)
    for piece in lines(file):
        yield from splitter.segments(piece)
    splitter.close()


def _id(tag: bytes, name: bytes) -> str:
    """Return the `id` (of a document: `docid`, or else `id`) of a tag, or "" if it has none."""
    values = {match[1].lower(): match[2] for match in _ATTRIBUTE.finditer(tag)}
    value = values.get(b"docid", b"") if name == b"doc" else b""
    value = value or values.get(b"id", b"")
    value = value[1:-1] if value[:1] in b"\"'" else value.removesuffix(b"/")  # id=3/>
    return value.decode("utf-8", "replace")


class _SegmentSplitter:
    """Splits a file into segments, line by line; keeps the first line and the bytes of the open segment."""

    def __init__(self, path: str, limit: int) -> None:
        self._path, self._limit = path, limit
        self._first_line = 0
        """Line of the open `<seg>`; 0 if no segment is open."""
        self._data = bytearray()
        self._is_long = False
        """Whether the open segment has more bytes than allowed."""
        self._comment_line = 0
        """Line of the open comment; 0 if there is none."""
        self._document = self._segment = ""
        self._ids = IdsOfFile()
        self._role: str | None = None

    def segments(self, piece: Piece) -> Iterator[Piece]:
        """Yield the segments that end in this line."""
        if piece.cut_at:
            raise LineError(self._path, piece.line, too_long(piece.cut_at, "or break the line between segments"))
        start = 0
        if self._comment_line and not (start := self._end_of_comment(piece.data, 0)):
            return
        for tag in _TAG.finditer(piece.data, start):
            if tag.start() < start:  # in a comment
                continue
            if tag["comment"] is not None:
                if not self._first_line:  # one in a segment is dropped with its text
                    self._comment_line = piece.line
                    if not (start := self._end_of_comment(piece.data, tag.end())):
                        return
                continue
            name, is_end_tag = tag[2].lower(), bool(tag[1])
            if name == b"seg" and not tag[3]:
                raise LineError(
                    self._path, piece.line, f"the tag {quoted(tag[0].decode(errors='replace'))} is cut off."
                )
            if self._first_line:
                if name == b"seg" and is_end_tag:
                    self._collect(piece.data[start : tag.start()])
                    yield self._finished()
                elif name in (b"seg", b"doc"):
                    self._fail(f"this <seg> has no </seg> before the tag in line {piece.line}.")
            elif name == b"seg":
                if is_end_tag:
                    raise LineError(self._path, piece.line, "this </seg> has no <seg>.")
                self._first_line, start, self._segment = piece.line, tag.end(), _id(tag[0], name)
                if tag[0].endswith(b"/>"):
                    yield self._finished()
            elif name == b"doc":
                self._document = "" if is_end_tag else _id(tag[0], name)
            elif name in _ROLE_OF_TAG and not is_end_tag:
                self._check_role(_ROLE_OF_TAG[name], piece.line)
        if self._first_line:
            self._collect(piece.data[start:] + b"\n")

    def close(self) -> None:
        """Raise `LineError` if the file ends inside a segment or a comment."""
        if self._first_line:
            self._fail("this <seg> has no </seg>: is the file cut off?")
        if self._comment_line:
            raise LineError(self._path, self._comment_line, "this comment does not end (-->): is the file cut off?")

    def _end_of_comment(self, data: bytes, start: int) -> int:
        """Return the position after the open comment; 0 if it does not end in this line."""
        end = data.find(b"-->", start)
        if end < 0:
            return 0
        self._comment_line = 0
        return end + 3

    def _collect(self, data: bytes) -> None:
        self._is_long |= len(self._data) + len(data) > self._limit + 1  # with a line end
        if not self._is_long:
            self._data += data

    def _finished(self) -> Piece:
        """Return the open segment and close it."""
        data, cut_at = (b"", self._limit) if self._is_long else (bytes(self._data), 0)
        ids = self._ids.of(self._segment, self._document)
        segment = Piece(self._path, self._first_line, data, cut_at, ids)
        self._first_line, self._is_long = 0, False
        self._data.clear()
        return segment

    def _fail(self, fault: str) -> NoReturn:
        raise LineError(self._path, self._first_line, fault)

    def _check_role(self, role: str, line: int) -> None:
        """Check that the file contains only one side."""
        if self._role not in (None, role):
            raise LineError(
                self._path, line, f"a {role} text in a file that began with a {self._role} text: use one file per side."
            )
        self._role = role
