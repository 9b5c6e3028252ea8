"""TMX, the exchange format of translation memories (https://www.gala-global.org/tmx-14b), one pair per `<tu>`.

A file is parsed as a stream by expat, with one `<tu>` in memory at a time; an encoding that expat does not know by its
name (such as Shift_JIS, UTF-32 or UTF8) is decoded by Python. No other file is ever read, and a document type with its
own declarations, of which entity bombs consist, is refused.

Inside a segment, the elements `bpt`, `ept`, `ph`, `it` and `ut` contain codes of other programs, not text: they are
dropped with their content. The text inside `hi` and all other elements is kept.
"""

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn
from xml.parsers import expat

from nmtcore.config.formats import TmxOptions
from nmtcore.corpus.formats.rows import (
    BadRow,
    Input,
    Inputs,
    Piece,
    ReadingContext,
    Row,
    check_length,
    collapse_spaces,
    too_long,
)
from nmtcore.corpus.pairs import Side
from nmtcore.corpus.streams import open_stream
from nmtcore.errors import LineError, quoted, shortened

ALIGNED = False
BLOCK = 1 << 16
"""Bytes parsed at a time."""
CODES = frozenset(("bpt", "ept", "ph", "it", "ut"))
"""Elements that contain codes, not text."""
MAX_DEPTH = 1000
"""Elements inside each other."""
_EXPAT_ENCODINGS = ("utf-8", "utf-16", "iso-8859-1", "us-ascii")
"""The names of the encodings that expat decodes, in small letters."""
_UNUSUAL_ENCODINGS = ("utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")
"""Encodings that Python knows for other purposes than files of text."""
_WIDE_STARTS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"<\0\0\0": "utf-32-le",
    b"\0\0\0<": "utf-32-be",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
"""First bytes that show the encoding, whatever its declared name is. Those of UTF-32 come first."""
_EBCDIC = "cp037"
"""One of a family of encodings that have the letters and signs of an XML declaration in common."""
_DECLARED_ENCODING = re.compile(r"""<\?xml\s[^>]{0,900}?encoding\s*=\s*["']([^"'<>]{1,900})["']""")
_START = 1024
"""Bytes at the start of a file in which its encoding is looked up."""
_VARIANT_BYTES = 64
"""Bytes that an empty `<tuv>` counts."""


class Variant(NamedTuple):
    """The segment of a `<tuv>`: its language tag, its text, and an undefined entity in it, if any."""

    language: str
    text: str
    undefined_entity: str | None


def rows(inputs: Inputs, options: TmxOptions) -> Iterator[Row]:
    """Yield (position, variants) of each `<tu>`. Raises `LineError` if a file is not well-formed XML."""
    return (unit for file in inputs["pairs"] for unit in units(file))


def parse(row: Row, options: TmxOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Take the variants of both languages. Raises `BadRow` if the unit lacks one of them, or has two different ones."""
    check_length(row[0])
    source, target = (_variant_side(row, language) for language in (context.source, context.target))
    return source, target


def _variant_side(row: Row, language: str) -> Side:
    piece, variants = row
    matches = [variant for variant in variants if _is_tag_of(variant.language, language)]
    if not matches:
        tags = shortened(", ".join(variant.language for variant in variants)) or "none"
        raise BadRow("language", piece, f"this <tu> has no segment in '{language}' (its languages: {tags}).")
    exact = [variant for variant in matches if _normalised(variant.language) == _normalised(language)]
    variant, *others = exact or matches
    if other := next((other for other in others if other.text != variant.text), None):
        tags = " and ".join(map(quoted, dict.fromkeys((variant.language, other.language))))
        raise BadRow(
            "language", piece, f"this <tu> has two different segments in {tags}: which one is the translation?"
        )
    if variant.undefined_entity:
        raise BadRow("entity", piece, f"this <tu> has the undefined entity &{shortened(variant.undefined_entity)};.")
    return Side(text=variant.text)


def _is_tag_of(tag: str, language: str) -> bool:
    """Return whether a language tag denotes a language: en, EN, en-US and en_GB all denote en."""
    tag, language = _normalised(tag), _normalised(language)
    return tag == language or tag.startswith(language + "-")


def _normalised(tag: str) -> str:
    return tag.casefold().replace("_", "-")


def units(file: Input) -> Iterator[tuple[Piece, tuple[Variant, ...]]]:
    """Yield each `<tu>` of a file as soon as it ends."""
    with open_stream(file.path, file.member) as stream:
        decoder = _decoder(stream.peek(_START)[:_START], str(file.path))
        parser = _TmxParser(str(file.path), file.max_line_bytes, recoded=decoder is not None)
        while block := stream.read(BLOCK):
            parser.feed(block if decoder is None else _recoded(decoder, block, parser))
            yield from parser.take()
        parser.feed(b"" if decoder is None else _recoded(decoder, b"", parser), last=True)
        yield from parser.take()


def _decoder(start: bytes, path: str) -> codecs.IncrementalDecoder | None:
    """Return a decoder for a file that begins with `start`; None if expat knows the encoding.

    Raises `LineError` if the XML declaration names an encoding that Python does not know, or that is none of text.
    """
    for mark, name in _WIDE_STARTS.items():
        if start.startswith(mark):
            return codecs.getincrementaldecoder(name)()
    start = start.removeprefix(codecs.BOM_UTF8)
    family = _EBCDIC if start.startswith("<?xml".encode(_EBCDIC)) else "ascii"
    declared = _DECLARED_ENCODING.match(start.decode(family, "replace"))
    if declared is None or declared[1].lower() in _EXPAT_ENCODINGS:
        return None
    name = declared[1]
    try:
        codec = codecs.lookup(name)
        # An encoding has, of course, the bytes in which it is declared.
        if codec.name in _UNUSUAL_ENCODINGS or not start.startswith("<?xml".encode(name).removeprefix(codecs.BOM_UTF8)):
            raise LookupError(name)
        return codec.incrementaldecoder()
    except (LookupError, ValueError) as error:
        fault = f"the encoding {quoted(name)} is unknown: convert the file to UTF-8, and correct its first line."
        raise LineError(path, 1, fault) from error


def _recoded(decoder: codecs.IncrementalDecoder, block: bytes, parser: "_TmxParser") -> bytes:
    """Convert the next bytes to UTF-8; an empty block ends the file."""
    try:
        text = decoder.decode(block, final=not block)
    except UnicodeError as error:
        parser.fail(f"what follows is not in the file's encoding ({error}): correct it, or convert the file to UTF-8.")
    # U+FEFF is a mark of the encoding at the start of the file, and a character anywhere else.
    return (text if parser.has_begun else text.removeprefix("\ufeff")).encode()


class _TmxParser:
    """Collects translation units from expat's events."""

    def __init__(self, path: str, limit: int, *, recoded: bool) -> None:
        self._path, self._limit = path, limit
        self._units: list[tuple[Piece, tuple[Variant, ...]]] = []
        self._bytes_fed = 0
        self._seen_root = False
        # The open <tu>, <tuv> and <seg>; None or 0 if there is none.
        self._variants: list[Variant] | None = None
        self._line = self._size = 0
        self._language: str | None = None
        self._text: list[str] | None = None
        self._undefined_entity: str | None = None
        self._code_depth = self._depth = 0
        self._expat = expat.ParserCreate("utf-8" if recoded else None)
        self._expat.buffer_text = True
        self._expat.StartDoctypeDeclHandler = self._doctype
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._characters
        self._expat.SkippedEntityHandler = self._skipped

    def feed(self, block: bytes, *, last: bool = False) -> None:
        """Parse the next bytes. Raises `LineError` if they are not XML or not TMX."""
        try:
            self._expat.Parse(block, last)
        except (LookupError, ValueError) as error:  # of pyexpat, about an encoding that is not declared as usual
            fault = f"the encoding is not supported ({shortened(str(error))}): convert the file."
            raise LineError(self._path, 1, fault) from error
        except expat.ExpatError as error:
            raise LineError(
                self._path, error.lineno, f"the XML is damaged ({expat.ErrorString(error.code)}): fetch it again."
            ) from error
        self._bytes_fed += len(block)
        # expat keeps a tag or comment in memory until it ends.
        if self._bytes_fed - max(self._expat.CurrentByteIndex, 0) > self._limit + BLOCK:
            self.fail(f"a tag or comment {too_long(self._limit, 'or remove it')}")

    @property
    def has_begun(self) -> bool:
        """Whether it was given any text."""
        return self._bytes_fed > 0

    def take(self) -> list[tuple[Piece, tuple[Variant, ...]]]:
        """Return and forget the units that ended since the last call."""
        units, self._units = self._units, []
        return units

    def fail(self, fault: str) -> NoReturn:
        """Raise `LineError` at the current line."""
        raise LineError(self._path, self._expat.CurrentLineNumber, fault)

    def _doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        if internal:
            self.fail("the document type has its own declarations (entities?), which are refused: remove them.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.fail(f"more than {MAX_DEPTH} elements inside each other.")
        if not self._seen_root:
            self._seen_root = True
            if name != "tmx":
                self.fail(f"the file is <{shortened(name)}>, not <tmx>.")
        if self._text is not None:
            self._code_depth += name in CODES
            if name in ("tu", "tuv", "seg"):
                self.fail(f"a <{name}> inside a <seg>.")
        elif name == "tu":
            if self._variants is not None:
                self.fail("a <tu> inside another.")
            self._variants, self._line, self._size = [], self._expat.CurrentLineNumber, 0
        elif name == "tuv":
            self._language = attributes.get("xml:lang") or attributes.get("lang")
            self._size += _VARIANT_BYTES
        elif name == "seg" and self._variants is not None and self._language:
            self._text, self._undefined_entity = [], None

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._text is not None:
            self._code_depth -= name in CODES
            if name == "seg":
                if self._size <= self._limit:
                    text = collapse_spaces("".join(self._text))
                    self._variants.append(Variant(self._language, text, self._undefined_entity))
                self._text = None
        elif name == "tuv":
            self._language = None
        elif name == "tu":
            cut_at = self._limit if self._size > self._limit else 0
            self._units.append((Piece(self._path, self._line, b"", cut_at), tuple(self._variants)))
            self._variants = None

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._code_depth:
            self._size += len(text) if text.isascii() else len(text.encode())
            if self._size <= self._limit:
                self._text.append(text)

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if self._text is not None and not self._code_depth:
            self._undefined_entity = name
