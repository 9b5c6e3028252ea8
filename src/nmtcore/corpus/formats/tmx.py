"""TMX, the exchange format of translation memories (https://www.gala-global.org/tmx-14b), one pair per `<tu>`.

A file is parsed as a stream by expat, with one `<tu>` in memory at a time. No other file is ever read, and a document
type with its own declarations, of which entity bombs consist, is refused.

Inside a segment, the elements `bpt`, `ept`, `ph`, `it` and `ut` contain codes of other programs, not text: they are
dropped with their content. The text inside `hi` and all other elements is kept.
"""

from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

from nmtcore.config.formats import TmxOptions
from nmtcore.corpus.formats.rows import LONGEST_LINE, BadRow, Input, Inputs, Piece, ReadingContext, Row, collapse_spaces
from nmtcore.corpus.pairs import Side
from nmtcore.corpus.streams import open_stream
from nmtcore.errors import LineError

ALIGNED = False
BLOCK = 1 << 16
"""Bytes parsed at a time."""
CODES = frozenset(("bpt", "ept", "ph", "it", "ut"))
"""Elements that contain codes, not text."""


class Variant(NamedTuple):
    """The segment of a `<tuv>`: its language tag, its text, and an undefined entity in it, if any."""

    language: str
    text: str
    undefined_entity: str | None


def rows(inputs: Inputs, options: TmxOptions) -> Iterator[Row]:
    """Yield (position, variants) of each `<tu>`. Raises `LineError` if a file is not well-formed XML."""
    return (unit for file in inputs["pairs"] for unit in units(file))


def parse(row: Row, options: TmxOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Take the variants of both languages. Raises `BadRow` if the unit lacks one of them."""
    source, target = (_variant_side(row, language) for language in (context.source, context.target))
    return source, target


def _variant_side(row: Row, language: str) -> Side:
    piece, variants = row
    matches = [variant for variant in variants if _is_tag_of(variant.language, language)]
    if not matches:
        tags = ", ".join(variant.language for variant in variants) or "none"
        raise BadRow("language", piece, f"this <tu> has no segment in '{language}' (its languages: {tags}).")
    exact = [variant for variant in matches if variant.language.casefold() == language.casefold()]
    variant = (exact or matches)[0]
    if variant.undefined_entity:
        raise BadRow("entity", piece, f"this <tu> has the undefined entity &{variant.undefined_entity};.")
    return Side(text=variant.text)


def _is_tag_of(tag: str, language: str) -> bool:
    """Return whether a language tag denotes a language: en, EN, en-US and en_GB all denote en."""
    tag, language = (name.casefold().replace("_", "-") for name in (tag, language))
    return tag == language or tag.startswith(language + "-")


def units(file: Input) -> Iterator[tuple[Piece, tuple[Variant, ...]]]:
    """Yield each `<tu>` of a file as soon as it ends."""
    with open_stream(file.path, file.member) as stream:
        parser = _TmxParser(str(file.path))
        while block := stream.read(BLOCK):
            parser.feed(block)
            yield from parser.take()
        parser.feed(b"", last=True)
        yield from parser.take()


class _TmxParser:
    """Collects translation units from expat's events."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._units: list[tuple[Piece, tuple[Variant, ...]]] = []
        self._bytes_fed = 0
        self._seen_root = False
        # The open <tu>, <tuv> and <seg>; None or 0 if there is none.
        self._variants: list[Variant] | None = None
        self._line = self._size = 0
        self._language: str | None = None
        self._text: list[str] | None = None
        self._undefined_entity: str | None = None
        self._code_depth = 0
        self._expat = expat.ParserCreate()
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
        except expat.ExpatError as error:
            raise LineError(
                self._path, error.lineno, f"the XML is damaged ({expat.ErrorString(error.code)}): fetch it again."
            ) from error
        self._bytes_fed += len(block)
        # expat keeps a tag or comment in memory until it ends.
        if self._bytes_fed - max(self._expat.CurrentByteIndex, 0) > LONGEST_LINE:
            self._fail(f"a tag or comment of more than {LONGEST_LINE} bytes.")

    def take(self) -> list[tuple[Piece, tuple[Variant, ...]]]:
        """Return and forget the units that ended since the last call."""
        units, self._units = self._units, []
        return units

    def _fail(self, fault: str) -> None:
        raise LineError(self._path, self._expat.CurrentLineNumber, fault)

    def _doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        if internal:
            self._fail("the document type has its own declarations (entities?), which are refused: remove them.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._seen_root:
            self._seen_root = True
            if name != "tmx":
                self._fail(f"the file is <{name}>, not <tmx>.")
        if self._text is not None:
            self._code_depth += name in CODES
            if name in ("tu", "tuv", "seg"):
                self._fail(f"a <{name}> inside a <seg>.")
        elif name == "tu":
            if self._variants is not None:
                self._fail("a <tu> inside another.")
            self._variants, self._line, self._size = [], self._expat.CurrentLineNumber, 0
        elif name == "tuv":
            self._language = attributes.get("xml:lang") or attributes.get("lang")
        elif name == "seg" and self._variants is not None and self._language:
            self._text, self._undefined_entity = [], None

    def _end(self, name: str) -> None:
        if self._text is not None:
            self._code_depth -= name in CODES
            if name == "seg":
                self._variants.append(
                    Variant(self._language, collapse_spaces("".join(self._text)), self._undefined_entity)
                )
                self._text = None
        elif name == "tuv":
            self._language = None
        elif name == "tu":
            self._units.append((Piece(self._path, self._line, b""), tuple(self._variants)))
            self._variants = None

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._code_depth:
            self._text.append(text)
            self._size += len(text)
            if self._size > LONGEST_LINE:
                self._fail(f"a <tu> of more than {LONGEST_LINE} characters.")

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if self._text is not None and not self._code_depth:
            self._undefined_entity = name
