"""Formats with tags: WMT's test sets in SGML or the later XML, and TMX, the exchange format of translation memories."""

import html
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from nmtcore.corpus.formats.rows import Format, Inputs, Row, check_same_ids, collapse_spaces, pair_pieces
from nmtcore.corpus.pairs import SIDES, Side
from nmtcore.corpus.streams import open_stream
from nmtcore.corpus.text_lines import BadRow, Input, Piece, check_encoding, check_length, decode
from nmtcore.errors import LineError, quoted, shortened

_TAG = re.compile(rb"<!--|<\s?(/?)\s?(seg|doc|srcset|refset|tstset|src|ref|hyp)\b([^<>]*)>", re.IGNORECASE)
_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
_ATTRIBUTE = re.compile(rb"""(?<![^\s"'])([^\s"'=<>]++)\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)""")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,8}|\w+);")
_ROLE_OF_TAG = {b"srcset": "source", b"src": "source", b"refset": "reference", b"ref": "reference"}
_SIDE_ROLES = ("source", "reference")
_ROLE_OF_TAG |= dict.fromkeys((b"tstset", b"hyp"), "system")
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
    text = _COMMENT.sub("", decode(piece))
    return collapse_spaces(_REFERENCE.sub(lambda reference: html.unescape(reference[0]), text))


def segments(file: Input, *, role: str | None = None) -> Iterator[Piece]:
    """Yield the text between each `<seg>` and `</seg>`. Raises `LineError` if the tags are not paired.

    A file with texts of several roles has the segments of one `role` (source or reference): of each document, those of
    its first text with this role.
    """
    path = str(file.path)
    with open_stream(file.path, file.member) as stream:
        data = stream.read()
    check_encoding(data, path)
    current = document = ""
    has_ids, opened, ids = False, None, ("", "")
    is_wanted, has_text = role is None, False
    for line, tag in _tags(data, path):
        name, is_end = tag[2].lower(), bool(tag[1])
        if opened is not None and name == b"seg" and is_end:
            text = data[opened[1].end() : tag.start()]
            cut_at = file.max_line_bytes if len(text) > file.max_line_bytes else 0
            if is_wanted:
                yield Piece(path, opened[0], b"" if cut_at else text, cut_at, ids)
            opened = None
        elif opened is not None and name in (b"seg", b"doc"):
            raise LineError(path, opened[0], f"this <seg> has no </seg> before the tag in line {line}.")
        elif opened is not None:
            continue
        elif name == b"seg" and is_end:
            raise LineError(path, line, "this </seg> has no <seg>.")
        elif name == b"seg":
            segment = _id(tag[3], b"id")
            has_ids |= bool(segment)
            ids = (document, segment or ("(no id)" if has_ids else ""))
            opened = (line, tag)
            if tag[3].endswith(b"/"):
                if is_wanted:
                    yield Piece(path, line, b"", ids=ids)
                opened = None
        elif name == b"doc":
            document = "" if is_end else _id(tag[3], b"docid") or _id(tag[3], b"id")
            has_text = False
        elif not is_end:
            other, current = current, _ROLE_OF_TAG[name]
            if role is not None:
                is_wanted = current == role and not has_text
                has_text |= is_wanted
            elif other not in ("", current):
                fault = f"a {current} text in a file that began with a {other} text: use one file per side, or this one"
                raise LineError(path, line, f"{fault} for both.")
    if opened is not None:
        raise LineError(path, opened[0], "this <seg> has no </seg>: is the file cut off?")


def _tags(data: bytes, path: str) -> Iterator[tuple[int, re.Match[bytes]]]:
    """Yield the tags that are not in a comment, with their lines."""
    line, counted, place = 1, 0, 0
    while tag := _TAG.search(data, place):
        line, counted, place = line + data.count(b"\n", counted, tag.start()), tag.start(), tag.end()
        if tag[2]:
            yield line, tag
        elif (place := data.find(b"-->", tag.end())) < 0:
            raise LineError(path, line, "this comment does not end (-->): is the file cut off?")


def _id(attributes: bytes, name: bytes) -> str:
    """Return the value of an attribute, or "" if there is none."""
    values = {match[1].lower(): match[2] for match in _ATTRIBUTE.finditer(attributes)}
    value = values.get(name, b"")
    value = value[1:-1] if value[:1] in (b'"', b"'") else value.removesuffix(b"/")  # id=3/>
    return value.decode("utf-8", "replace")


class Variant(NamedTuple):
    """The segment of a `<tuv>`: its language tag, its text, and an undefined entity in it, if any."""

    language: str
    text: str
    undefined_entity: str | None


class Tmx(Format):
    """One pair per `<tu>` (https://www.gala-global.org/tmx-14b).

    Inside a segment, `CODES` are dropped with their content; the text inside `hi` and all other elements is kept. The
    parser reads no other file and expands no entity of the file's own.
    """

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield (position, variants) of each `<tu>`. Raises `LineError` if a file is not well-formed XML."""
        return (unit for file in inputs["pairs"] for unit in units(file))

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Take the variants of both languages.

        Raises `BadRow` if the unit lacks one of them, or has two different ones.
        """
        check_length(row[0])
        source, target = (_variant_side(*row, language) for language in (self.context.source, self.context.target))
        return source, target


def _variant_side(piece: Piece, variants: Sequence[Variant], language: str) -> Side:
    """Return the only text in a language: `en` if there is such a variant, else `en-US` or the like."""
    tags = [variant.language.casefold().replace("_", "-") for variant in variants]
    language = language.casefold().replace("_", "-")
    wanted = {language} if language in tags else {tag for tag in tags if tag.startswith(f"{language}-")}
    matches = [variant for tag, variant in zip(tags, variants, strict=True) if tag in wanted]
    if not matches:
        shown = shortened(", ".join(variant.language for variant in variants)) or "none"
        raise BadRow("language", piece, f"this <tu> has no segment in '{language}' (its languages: {shown})")
    if len({variant.text for variant in matches}) > 1:
        shown = quoted(", ".join(dict.fromkeys(variant.language for variant in matches)))
        raise BadRow("language", piece, f"this <tu> has different segments in {shown}")
    if entity := matches[0].undefined_entity:
        raise BadRow("entity", piece, f"this <tu> has the undefined entity {shortened(entity)}")
    return Side(text=matches[0].text)


def units(file: Input) -> Iterator[tuple[Piece, tuple[Variant, ...]]]:
    """Yield each `<tu>` of a file as soon as it ends."""
    from lxml import etree

    path, root = str(file.path), None
    with open_stream(file.path, file.member) as stream:
        events = etree.iterparse(stream, events=("start", "end"), resolve_entities=False, no_network=True)
        try:
            for event, element in events:
                if root is None:
                    root = element
                    if element.tag != "tmx":
                        raise LineError(path, element.sourceline, f"the file is <{shortened(element.tag)}>, not <tmx>.")
                if event == "end" and element.tag == "tu":
                    yield _unit(element, file)
                    element.clear()
                    while element.getprevious() is not None:
                        del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            last = events.error_log.last_error
            line, fault = (error.lineno, error.msg) if last is None else (last.line, last.message)
            raise LineError(
                path, max(line, 1), f"the XML is damaged ({shortened(fault.strip())}): fetch it again."
            ) from error


def _unit(element: Any, file: Input) -> tuple[Piece, tuple[Variant, ...]]:
    from lxml import etree

    variants = []
    for variant in element.iterchildren("tuv"):
        language = variant.get("{http://www.w3.org/XML/1998/namespace}lang") or variant.get("lang")
        for segment in variant.iterchildren("seg") if language else ():
            etree.strip_elements(segment, *CODES, with_tail=False)
            entity = next(segment.iter(etree.Entity), None)
            text = collapse_spaces(segment.xpath("string()"))
            variants.append(Variant(language, text, None if entity is None else entity.text))
    is_long = sum(len(variant.text.encode()) for variant in variants) > file.max_line_bytes
    piece = Piece(str(file.path), element.sourceline, b"", is_long * file.max_line_bytes)
    return piece, () if is_long else tuple(variants)
