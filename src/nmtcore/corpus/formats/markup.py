"""Formats with tags: WMT's test sets in SGML or the later XML, and TMX, the exchange format of translation memories."""

import html
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, BinaryIO

from nmtcore.config.corpora import SIDES
from nmtcore.corpus.formats.rows import NO_ID, Format, Inputs, Row, check_same_ids, collapse_spaces, pair_pieces
from nmtcore.corpus.pairs import Side
from nmtcore.corpus.streams import open_stream
from nmtcore.corpus.text_lines import BadRow, Input, Piece, check_encoding, check_length, decode
from nmtcore.errors import LineError, quoted, shortened

_TAG = re.compile(rb"<\s?(/?)\s?(seg|doc|srcset|refset|tstset|src|ref|hyp)\b([^<>]*)>", re.IGNORECASE)
_SEGMENT_END = re.compile(rb"<\s?/\s?(seg)\b[^<>]*>|<\s?/?\s?(?:seg|doc)\b[^<>]*>", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_ATTRIBUTE = re.compile(rb"""(?<![^\s"'])([^\s"'=<>]++)\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)""")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,8}|\w+);")
_ROLE_OF_TAG = {b"srcset": "source", b"src": "source", b"refset": "reference", b"ref": "reference"}
_SIDE_ROLES = ("source", "reference")
_ROLE_OF_TAG |= dict.fromkeys((b"tstset", b"hyp"), "system")
_BLOCK = 1 << 20
_TMX = re.compile(rb"<((?:[\w.-]+:)?tmx)(?=[\s>])[^<>]*>")
_COMMENTED = rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:]]>|\Z)"
_UNIT_STARTS = re.compile(_COMMENTED + rb"|(<(?:[\w.-]+:)?tu(?=[\s/>]))", re.DOTALL)
_UNIT_ENDS = re.compile(_COMMENTED + rb"|(</(?:[\w.-]+:)?tu\s*>|<(?:[\w.-]+:)?tu(?:\s[^<>]*)?/>)", re.DOTALL)
_END_TAGS = re.compile(rb"(?:\s|<!--.*?-->|</[^<>]*>)*", re.DOTALL)
_LINE_OF_TAG = re.compile(r" line \d+")
CODES = ("bpt", "ept", "ph", "it", "ut")
"""Elements of TMX that contain codes of other programs, not text."""


class Sgm(Format):
    """One sentence per `<seg>`, and one file per side, or one with sources and references that is both sides' file.

    The structure around the sentences (sets, documents, paragraphs) is ignored: both sides have the same documents in
    the same order, so the sentences are parallel; ids of documents and segments that both sides have must agree.
    Comments are dropped. Real files are not well-formed XML (they contain bare `&`), so they are not parsed as XML:
    only some tags are recognised, and references such as `&amp;` are resolved only if they end in `;`.
    """

    aligned = True

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield (source segment, target segment)."""
        readers = dict.fromkeys(SIDES, segments)
        if inputs["source"] == inputs["target"]:
            readers = {side: partial(segments, role=role) for side, role in zip(SIDES, _SIDE_ROLES, strict=True)}
        return pair_pieces(inputs, readers, unit="segments")

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Decode both segments. Raises `BadRow` if one is not UTF-8 or their ids differ."""
        check_same_ids(*row)
        source, target = (Side(text=_segment_text(piece)) for piece in row)
        return source, target


def _segment_text(piece: Piece) -> str:
    return collapse_spaces(_REFERENCE.sub(lambda reference: html.unescape(reference[0]), decode(piece)))


def segments(file: Input, *, role: str | None = None) -> Iterator[Piece]:
    """Yield the text between each `<seg>` and `</seg>`. Raises `LineError` if the tags are not paired.

    A file with texts of several roles has the segments of one `role` (source or reference): of each document, those of
    its first text with this role.
    """
    path, limit = str(file.path), file.max_line_bytes
    with open_stream(file.path, file.member) as stream:
        data = stream.read()
    check_encoding(data, path)
    data = _COMMENT.sub(lambda comment: b"\n" * comment[0].count(b"\n"), data)
    if (start := data.find(b"<!--")) >= 0:
        line = 1 + data.count(b"\n", 0, start)
        raise LineError(path, line, "this comment does not end (-->): is the file cut off?")
    line, counted, place, current, document = 1, 0, 0, "", ""
    has_ids, is_wanted, has_text = False, role is None, False
    while tag := _TAG.search(data, place):
        line, counted, place = line + data.count(b"\n", counted, tag.start()), tag.start(), tag.end()
        is_end, name, attributes = bool(tag[1]), tag[2].lower(), tag[3]
        if name == b"seg" and is_end:
            raise LineError(path, line, "this </seg> has no <seg>.")
        if name == b"seg":
            text = b""
            if not attributes.endswith(b"/"):
                if (end := _SEGMENT_END.search(data, place)) is None:
                    raise LineError(path, line, "this <seg> has no </seg>: is the file cut off?")
                if not end[1]:
                    there = line + data.count(b"\n", tag.start(), end.start())
                    raise LineError(path, line, f"this <seg> has no </seg> before the tag in line {there}.")
                text, place = data[place : end.start()], end.end()
            own_id = _id(attributes, b"id")
            has_ids |= bool(own_id)
            if is_wanted:
                cut_at = limit if len(text) > limit else 0
                ids = (document, own_id or (NO_ID if has_ids else ""))
                yield Piece(path, line, b"" if cut_at else text, cut_at, ids)
        elif name == b"doc":
            document = "" if is_end else _id(attributes, b"docid") or _id(attributes, b"id")
            has_text = False
        elif not is_end:
            other, current = current, _ROLE_OF_TAG[name]
            if role is not None:
                is_wanted = current == role and not has_text
                has_text |= is_wanted
            elif other not in ("", current):
                fault = f"a {current} text in a file that began with a {other} text: use one file per side, or this one"
                raise LineError(path, line, f"{fault} for both.")


def _id(attributes: bytes, name: bytes) -> str:
    """Return the value of an attribute, or "" if there is none."""
    values = {match[1].lower(): match[2] for match in _ATTRIBUTE.finditer(attributes)}
    value = values.get(name, b"")
    value = value[1:-1] if value[:1] in (b'"', b"'") else value.removesuffix(b"/")  # id=3/>
    return value.decode("utf-8", "replace")


class Tmx(Format):
    """One pair per `<tu>` (https://www.gala-global.org/tmx-14b), which is parsed by itself.

    Inside a segment, `CODES` are dropped with their content; the text inside `hi` and all other elements is kept. The
    parser reads no other file and expands no entity of the file's own. A unit that is not well-formed is a bad row.
    """

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield the units. Raises `LineError` if a file is cut off, or not well-formed outside of its units."""
        return (unit for file in inputs["pairs"] for unit in units(file))

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Take the variants of both languages.

        Raises `BadRow` if the unit is damaged, lacks one of them, or has two different ones.
        """
        piece, start, end = row
        check_length(piece)
        root, fault = _parse_xml(start + piece.data + end)
        if fault:
            raise BadRow("xml", piece, _damage(fault), line=fault.line - 1 - start.count(b"\n"))
        variants = list(_variants(root, piece))
        languages = (self.context.source, self.context.target)
        source, target = (_variant_side(piece, variants, language) for language in languages)
        return source, target


def _variant_side(piece: Piece, variants: Sequence[tuple[str, str]], language: str) -> Side:
    """Return the only text in a language: `en` if there is such a variant, else `en-US` or the like."""
    tags = [tag.casefold().replace("_", "-") for tag, _ in variants]
    language = language.casefold().replace("_", "-")
    wanted = {language} if language in tags else {tag for tag in tags if tag.startswith(f"{language}-")}
    matches = [variant for tag, variant in zip(tags, variants, strict=True) if tag in wanted]
    if not matches:
        shown = shortened(", ".join(tag for tag, _ in variants)) or "none"
        raise BadRow("language", piece, f"this <tu> has no segment in '{language}' (its languages: {shown})")
    if len({text for _, text in matches}) > 1:
        shown = quoted(", ".join(dict.fromkeys(tag for tag, _ in matches)))
        raise BadRow("language", piece, f"this <tu> has different segments in {shown}")
    return Side(text=matches[0][1])


def units(file: Input) -> Iterator[Row]:
    """Yield each `<tu>` of a file, with the beginning of the file up to the tag of its root, and the root's end tag."""
    from lxml import etree

    path, tail = str(file.path), b""
    with open_stream(file.path, file.member) as stream:
        check_encoding(stream.peek(4), path)
        parts = _parts(stream)
        head = b"".join(next(parts))
        tree, fault = _parse_xml(head)
        if tree is not None and etree.QName(tree).localname != "tmx":
            raise LineError(path, tree.sourceline, f"the file is <{shortened(tree.tag)}>, not <tmx>.")
        if fault is None:  # a whole file, without units
            return
        root = _TMX.search(head)
        if root is None or fault.type_name != "ERR_TAG_NOT_FINISHED":
            raise LineError(path, fault.line, f"{_damage(fault)}: correct or replace the file.")
        start, end, line = head[: root.end()], b"</%s>" % root[1], 1 + head.count(b"\n")
        for part in parts:
            data, tail = part
            cut_at = file.max_line_bytes if len(data) > file.max_line_bytes else 0
            if data:
                yield Piece(path, line, b"" if cut_at else data, cut_at), start, end
            line += data.count(b"\n")
    place = _END_TAGS.match(tail).end()
    line += tail.count(b"\n", 0, place)
    if not re.search(rb"</%s\s*>" % re.escape(root[1]), tail):
        raise LineError(path, line, f"the file ends before {end.decode()}: is it cut off? Fetch it again.")
    if place < len(tail):
        raise LineError(path, line, "the XML is damaged (after its last <tu>): correct or replace the file.")


def _parts(stream: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield what is before the first `<tu>`, then each `<tu>` up to the next; beside the last one, what follows it."""
    rest = block = stream.read(_BLOCK)
    if not _TMX.search(rest):  # another sort of file, which may be long
        yield rest, b""
        return
    while block:
        cuts = [0, *(match.start() for match in _UNIT_STARTS.finditer(rest) if match[1])]
        yield from ((rest[start:stop], b"") for start, stop in pairwise(cuts) if start < stop)
        block = stream.read(_BLOCK)
        rest = rest[cuts[-1] :] + block
    ends = [0, *(match.end() for match in _UNIT_ENDS.finditer(rest) if match[1])]
    yield rest[: ends[-1]], rest[ends[-1] :]


def _parse_xml(data: bytes) -> tuple[Any, Any]:
    """Return the root, as far as it can be parsed, and the first error for which it is not well-formed, if any."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    root = None
    with suppress(etree.XMLSyntaxError):  # of data without a root
        root = etree.fromstring(data or b" ", parser)
    return root, next(iter(parser.error_log.filter_from_fatals()), None)


def _damage(fault: Any) -> str:
    return f"the XML is damaged ({shortened(_LINE_OF_TAG.sub('', fault.message.strip()))})"


def _variants(root: Any, piece: Piece) -> Iterator[tuple[str, str]]:
    """Yield the language tag and the text of each segment. Raises `BadRow` for an undefined entity."""
    from lxml import etree

    for variant in root.iter("{*}tuv"):
        language = variant.get("{http://www.w3.org/XML/1998/namespace}lang") or variant.get("lang")
        for segment in variant.iterchildren("{*}seg") if language else ():
            etree.strip_elements(segment, *(f"{{*}}{code}" for code in CODES), with_tail=False)
            for entity in segment.iter(etree.Entity):
                raise BadRow("entity", piece, f"this <tu> has the undefined entity {shortened(entity.text)}")
            yield language, collapse_spaces(segment.xpath("string()"))
