"""Universal Dependencies' CoNLL-U (https://universaldependencies.org/format.html), one file per side.

The nodes of the trees are *syntactic* words: German "zur" is the two words "zu" and "der". The source side has the
syntactic words, so that its trees can be used; the target side has the surface tokens, of which translations consist.
If the two differ, a target sentence has no annotation (reason `multiword tokens`), since its tokens are not the nodes
of its tree. Empty nodes (8.1) are ignored on both sides. In a gold treebank, both sides have the syntactic words, and
one side may be missing; it is then empty, without a tree.

What is not valid CoNLL-U is refused: word numbers that do not count from 1, ranges of multiword tokens that overlap or
are out of place, and a `# text` that differs from the words by more than white space. If both sides have a `# sent_id`,
they must agree, apart from a zone: a language code that ends all ids of a file (`s1/en`).

Spaces inside a form (Czech "10 000") become no-break spaces, because words contain no ASCII white space.
"""

import re
from collections.abc import Iterator

from nmtcore.config.formats import ConlluOptions
from nmtcore.corpus.formats.rows import (
    BadRow,
    IdsOfFile,
    Input,
    Inputs,
    Piece,
    ReadingContext,
    Row,
    check_same_ids,
    decode,
    lines,
    pair_pieces,
    replace_separators,
)
from nmtcore.corpus.pairs import SIDES, Side
from nmtcore.errors import quoted
from nmtcore.numerals import natural_number
from nmtcore.syntax.annotation import Annotation, failed, tree_fault

ALIGNED = True
COLUMNS = 10
_SENTENCE_ID = re.compile(rb"^#[ \t]*sent_id[ \t]*=([^\n]*)", re.MULTILINE)
_TEXT = re.compile(r"#[ \t]*text[ \t]*=(.*)", re.DOTALL)
_ZONE = re.compile("[a-zA-Z]{2,3}(?:[-_][a-zA-Z0-9]{1,20})?")
_EMPTY_NODE = re.compile("(0|[1-9][0-9]{0,8})[.]([1-9][0-9]{0,8})")
MULTIWORD = "multiword tokens"
"""The reason for a missing annotation if surface tokens and syntactic words differ."""


def rows(inputs: Inputs, options: ConlluOptions) -> Iterator[Row]:
    """Yield (source sentence, target sentence); None for a side without files."""
    readers = {side: sentences if getattr(options, f"{side}_format") == "conllu" else lines for side in SIDES}
    if all(inputs.get(side) for side in SIDES):
        return pair_pieces(inputs, readers, unit="sentences")
    return (
        tuple(piece if side == present else None for side in SIDES)
        for present in SIDES
        for file in inputs.get(present, ())
        for piece in readers[present](file)
    )


def parse(row: Row, options: ConlluOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Parse both sentences. Raises `BadRow` if one is malformed or their ids differ."""
    if None not in row:
        check_same_ids(*row)
    source = _parse_piece(row[0], options.source_format, surface=False)
    target = _parse_piece(row[1], options.target_format, surface=not context.treebank)
    return source, target


def _parse_piece(piece: Piece | None, format: str, *, surface: bool) -> Side:
    if piece is None:
        return Side(text="", words=[])
    return parse_sentence(piece, surface=surface) if format == "conllu" else Side(text=decode(piece))


def sentences(file: Input) -> Iterator[Piece]:
    """Yield the lines of each sentence; sentences are separated by empty lines."""
    path, limit, ids = str(file.path), file.max_line_bytes, _SentenceIds()
    first, size, collected = 0, 0, []
    for piece in lines(file):
        if piece.cut_at or piece.data.strip():
            first = first or piece.line
            size += limit + 1 if piece.cut_at else len(piece.data)
            if size <= limit:
                collected.append(piece.data)
        elif first:
            yield _sentence(path, first, collected, limit if size > limit else 0, ids)
            first, size, collected = 0, 0, []
    if first:
        yield _sentence(path, first, collected, limit if size > limit else 0, ids)


def _sentence(path: str, first: int, collected: list[bytes], cut_at: int, ids: "_SentenceIds") -> Piece:
    data = b"" if cut_at else b"\n".join(collected)
    return Piece(path, first, data, cut_at, ids.of(data))


class _SentenceIds:
    """The ids of the sentences of a file, without the zone of the file, if it has one."""

    def __init__(self) -> None:
        self._ids = IdsOfFile()
        self._zone: str | None = None
        """The zone of the first id that has one."""

    def of(self, sentence: bytes) -> tuple[str, ...]:
        """Return the id of the next sentence; if it has several ones, all of them."""
        ids = (id_.decode("utf-8", "replace").strip() for id_ in _SENTENCE_ID.findall(sentence))
        return self._ids.of(", ".join(dict.fromkeys(self._without_zone(id_) for id_ in ids if id_)))

    def _without_zone(self, id_: str) -> str:
        before, _, zone = id_.rpartition("/")
        if not before or not _ZONE.fullmatch(zone):
            return id_
        self._zone = self._zone or zone
        return before if zone == self._zone else id_


def parse_sentence(piece: Piece, *, surface: bool) -> Side:
    """Parse one sentence into surface tokens or syntactic words. Raises `BadRow` if it is malformed."""
    texts, words, spans, empty_nodes = [], [], [], 0
    for number, line in enumerate(decode(piece).split("\n")):
        line = replace_separators(line)
        if line.startswith("#"):
            if match := _TEXT.match(line):
                texts.append(match[1].strip())
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS or not all(columns):
            raise BadRow(
                "columns", piece, f"has {len(columns)} columns; CoNLL-U has {COLUMNS}, none of them empty.", line=number
            )
        if "-" in columns[0]:
            spans.append(
                (*_span(columns[0], piece, number, after=max(len(words), spans[-1][1] if spans else 0)), columns)
            )
        elif "." in columns[0]:
            empty_nodes += 1
            _check_empty_node(columns[0], piece, number, after=(len(words), empty_nodes))
        else:
            if columns[0] != str(len(words) + 1):
                fault = f"the word's number is {quoted(columns[0])}, not {len(words) + 1}."
                raise BadRow("columns", piece, fault, line=number)
            words.append(columns)
            empty_nodes = 0
    if not words:
        raise BadRow("no words", piece, "a sentence without words.")
    if spans and spans[-1][1] > len(words):
        fault = f"the range {spans[-1][0]}-{spans[-1][1]} ends after the last word, {len(words)}."
        raise BadRow("columns", piece, fault)
    return _sentence_side(piece, texts, words, spans, surface=surface)


def _span(number: str, piece: Piece, line: int, *, after: int) -> tuple[int, int]:
    """Return the range of a multiword token, which must begin right after the last word, outside of other ranges."""
    first, last = (natural_number(part) for part in number.partition("-")[::2])
    if first is None or last is None or first > last:
        raise BadRow("columns", piece, f"{quoted(number)} is not a range of word numbers.", line=line)
    if first != after + 1:
        fault = f"the range {number} is out of place or overlaps another: it should begin with {after + 1}."
        raise BadRow("columns", piece, fault, line=line)
    return first, last


def _check_empty_node(number: str, piece: Piece, line: int, *, after: tuple[int, int]) -> None:
    """Raise `BadRow` unless an empty node's number is that of the word before it and its own, as in 8.1."""
    match = _EMPTY_NODE.fullmatch(number)
    if match is None or (int(match[1]), int(match[2])) != after:
        fault = f"the word's number is {quoted(number)}; an empty node would be {after[0]}.{after[1]} here."
        raise BadRow("columns", piece, fault, line=line)


def _sentence_side(piece: Piece, texts: list[str], words: list, spans: list, *, surface: bool) -> Side:
    tokens = _surface_tokens(words, spans)
    for text in texts:
        _check_text(piece, text, "".join(token[1] for token in tokens))
    text = texts[-1] if texts else _surface_text(tokens)
    annotation = _parse_annotation(piece, words)
    if surface and spans:
        return Side(text=text, words=[_form(token) for token in tokens], annotation=failed(MULTIWORD))
    return Side(text=text, words=[_form(word) for word in words], annotation=annotation)


def _check_text(piece: Piece, text: str, forms: str) -> None:
    """Raise `BadRow` if `# text` and the words differ by more than white space."""
    text, forms = "".join(text.split()), "".join(forms.split())
    if text == forms:
        return
    place = next((k for k, (a, b) in enumerate(zip(text, forms, strict=False)) if a != b), min(len(text), len(forms)))
    shown = [quoted(other[place : place + 20]) if other[place:] else "its end" for other in (text, forms)]
    raise BadRow("text", piece, f"`# text` goes on with {shown[0]} where the words have {shown[1]}.")


def _surface_tokens(words: list, spans: list) -> list:
    """Replace the words of each multiword token by the token."""
    tokens, last_covered = [], 0
    starts = {first: (last, columns) for first, last, columns in spans}
    for number, word in enumerate(words, start=1):
        if number in starts:
            last_covered, columns = starts[number]
            tokens.append(columns)
        elif number > last_covered:
            tokens.append(word)
    return tokens


def _form(columns: list[str]) -> str:
    return "\u00a0".join(columns[1].split()) or "_"


def _surface_text(tokens: list) -> str:
    """Join surface tokens into text, following SpaceAfter=No."""
    parts = [token[1] + ("" if "SpaceAfter=No" in token[9].split("|") else " ") for token in tokens]
    return "".join(parts).strip()


def _parse_annotation(piece: Piece, words: list) -> Annotation:
    lemma, upos, xpos, feats = ([word[column] for word in words] for column in (2, 3, 4, 5))
    heads = [natural_number(word[6]) for word in words]
    if None in heads:
        raise BadRow("tree", piece, f"the head {quoted(words[heads.index(None)][6])} is not a number.")
    if fault := tree_fault(heads):
        raise BadRow("tree", piece, f"{fault}.")
    return Annotation(
        lemma=_none_if_empty(lemma),
        upos=_none_if_empty(upos),
        xpos=_none_if_empty(xpos),
        feats=feats,
        head=heads,
        deprel=[word[7] for word in words],
    )


def _none_if_empty(values: list[str]) -> list[str] | None:
    """Return None for a column that is empty (`_`) for all words of a sentence: it was not annotated."""
    return values if any(value != "_" for value in values) else None
