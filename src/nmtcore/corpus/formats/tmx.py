"""TMX, the exchange format of translation memories (https://www.gala-global.org/tmx-14b): a pair each `<tu>`.

A file is parsed as a stream by expat, one `<tu>` in memory at a time. Nothing outside it is ever read, and a document
type with declarations of its own (which is what entity bombs are made of) is refused.

Of the elements inside a segment, `bpt`, `ept`, `ph`, `it` and `ut` hold another program's codes, not text: they are
left out with all that they hold. Text inside `hi` and whatever else is kept.
"""

from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

from nmtcore.config.formats import TmxOptions
from nmtcore.corpus.formats.rows import LONGEST_LINE, BadRow, Input, Inputs, Piece, ReadingContext, Row, spaced
from nmtcore.corpus.pairs import Side
from nmtcore.corpus.streams import open_stream
from nmtcore.errors import LineError

ALIGNED = False
BLOCK = 1 << 16
CODES = frozenset(("bpt", "ept", "ph", "it", "ut"))


class Variant(NamedTuple):
    """The segment of a `<tuv>`: its language as the file writes it, its text, and an entity that nothing defines."""

    language: str
    text: str
    unknown: str | None


def rows(inputs: Inputs, options: TmxOptions) -> Iterator[Row]:
    """Yield (where the unit stands, its variants) of every `<tu>`. Raises `LineError` where a file is no sound XML."""
    return (unit for file in inputs["pairs"] for unit in units(file))


def parse(row: Row, options: TmxOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Take both languages' variants. Raises `BadRow` where the unit lacks one."""
    source, target = (_side(row, language) for language in (context.source, context.target))
    return source, target


def _side(row: Row, language: str) -> Side:
    piece, variants = row
    found = [variant for variant in variants if _speaks(variant.language, language)]
    if not found:
        there = ", ".join(variant.language for variant in variants) or "none"
        raise BadRow("language", piece, f"this <tu> has no segment in '{language}' (its languages: {there}).")
    exact = [variant for variant in found if variant.language.casefold() == language.casefold()]
    text, unknown = (exact or found)[0][1:]
    if unknown:
        raise BadRow("entity", piece, f"this <tu> has &{unknown};, which nothing defines.")
    return Side(text=text)


def _speaks(tag: str, language: str) -> bool:
    """Say whether a language tag is of a language: en, EN, en-US and en_GB are all en."""
    tag, language = (name.casefold().replace("_", "-") for name in (tag, language))
    return tag == language or tag.startswith(language + "-")


def units(file: Input) -> Iterator[tuple[Piece, tuple[Variant, ...]]]:
    """Yield every `<tu>` of a file as soon as it has ended."""
    with open_stream(file.path, file.member) as stream:
        parser = _Parser(str(file.path))
        while block := stream.read(BLOCK):
            parser.feed(block)
            yield from parser.take()
        parser.feed(b"", last=True)
        yield from parser.take()


class _Parser:
    """Collects units from expat's events."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._units: list[tuple[Piece, tuple[Variant, ...]]] = []
        self._fed = self._codes = self._size = self._line = 0
        self._variants: list[Variant] | None = None
        self._language: str | None = None
        self._text: list[str] | None = None
        self._unknown: str | None = None
        self._inside = False
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartDoctypeDeclHandler = self._doctype
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._characters
        self._expat.SkippedEntityHandler = self._skipped

    def feed(self, block: bytes, *, last: bool = False) -> None:
        """Parse some more bytes. Raises `LineError` where they are not XML, or not TMX."""
        try:
            self._expat.Parse(block, last)
        except expat.ExpatError as error:
            raise LineError(
                self._path, error.lineno, f"the XML is damaged ({expat.ErrorString(error.code)}): fetch it again."
            ) from error
        self._fed += len(block)
        # A tag or a comment that never ends is kept by expat.
        if self._fed - max(self._expat.CurrentByteIndex, 0) > LONGEST_LINE:
            self._fail(f"more than {LONGEST_LINE} bytes of markup in one piece.")

    def take(self) -> list[tuple[Piece, tuple[Variant, ...]]]:
        """Give the units that ended since the last call."""
        taken, self._units = self._units, []
        return taken

    def _fail(self, what: str) -> None:
        raise LineError(self._path, self._expat.CurrentLineNumber, what)

    def _doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        if internal:
            self._fail("the document type declares things of its own (entities?), which is refused: take them out.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._inside:
            self._inside = True
            if name != "tmx":
                self._fail(f"the file is <{name}>, not <tmx>.")
        if self._text is not None:
            self._codes += name in CODES
            if name in ("tu", "tuv", "seg"):
                self._fail(f"a <{name}> inside a <seg>.")
        elif name == "tu":
            if self._variants is not None:
                self._fail("a <tu> inside another.")
            self._variants, self._line, self._size = [], self._expat.CurrentLineNumber, 0
        elif name == "tuv":
            self._language = attributes.get("xml:lang") or attributes.get("lang")
        elif name == "seg" and self._variants is not None and self._language:
            self._text, self._unknown = [], None

    def _end(self, name: str) -> None:
        if self._text is not None:
            self._codes -= name in CODES
            if name == "seg":
                self._variants.append(Variant(self._language, spaced("".join(self._text)), self._unknown))
                self._text = None
        elif name == "tuv":
            self._language = None
        elif name == "tu":
            self._units.append((Piece(self._path, self._line, b""), tuple(self._variants)))
            self._variants = None

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._codes:
            self._text.append(text)
            self._size += len(text)
            if self._size > LONGEST_LINE:
                self._fail(f"a <tu> of more than {LONGEST_LINE} characters.")

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if self._text is not None and not self._codes:
            self._unknown = name
