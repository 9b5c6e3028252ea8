"""Universal Dependencies' CoNLL-U (https://universaldependencies.org/format.html), one file per side.

The nodes of the trees are *syntactic* words: German "zur" is the two words "zu" and "der". The source side has the
syntactic words, so that its trees can be used; the target side has the surface tokens, of which translations consist.
If the two differ, a target sentence has no annotation (reason `multiword tokens`), since its tokens are not the nodes
of its tree. Empty nodes (8.1) are ignored on both sides. In a gold treebank, both sides have the syntactic words, and
one side may be missing; it is then empty, without a tree.

A sentence is refused if its words do not count from 1, its ranges of multiword tokens overlap or are out of place, or
its `# text` differs from the words by more than white space. If both sides have a `# sent_id`, they must agree, apart
from a zone: the language code of the side at the end (`s1/en`).

Spaces inside a form (Czech "10 000") become no-break spaces, because words contain no ASCII white space.
"""

import re
from collections.abc import Iterator
from itertools import chain

from nmtcore.corpus.formats.rows import Format, Inputs, Row, check_same_ids, pair_pieces, replace_separators
from nmtcore.corpus.pairs import SIDES, Side
from nmtcore.corpus.text_lines import BadRow, Input, Piece, decode, lines
from nmtcore.errors import quoted
from nmtcore.numerals import natural_number
from nmtcore.syntax.annotation import Annotation, failed, tree_fault

COLUMNS = 10
_SENTENCE_ID = re.compile(rb"^#[ \t]*sent_id[ \t]*=([^\n]*)", re.MULTILINE)
_TEXT = re.compile(r"#[ \t]*text[ \t]*=(.*)", re.DOTALL)
MULTIWORD = "multiword tokens"
"""The reason for a missing annotation if surface tokens and syntactic words differ."""


class Conllu(Format):
    """Sentences with trees; one side may be plain text."""

    aligned = True

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield (source sentence, target sentence); None for a side without files."""
        readers = {side: sentences if self._is_conllu(side) else lines for side in SIDES}
        if all(inputs.get(side) for side in SIDES):
            return pair_pieces(inputs, readers, unit="sentences")
        return (
            tuple(piece if side == present else None for side in SIDES)
            for present in SIDES
            for file in inputs.get(present, ())
            for piece in readers[present](file)
        )

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Parse both sentences. Raises `BadRow` if one is malformed or their ids differ."""
        if None not in row:
            check_same_ids(*map(_without_zone, row, self.context[:2]))
        source = self._parse_piece(row[0], "source", surface=False)
        target = self._parse_piece(row[1], "target", surface=not self.context.treebank)
        return source, target

    def _is_conllu(self, side: str) -> bool:
        return getattr(self.options, f"{side}_format") == "conllu"

    def _parse_piece(self, piece: Piece | None, side: str, *, surface: bool) -> Side:
        if piece is None:
            return Side(text="", words=[])
        return parse_sentence(piece, surface=surface) if self._is_conllu(side) else Side(text=decode(piece))


def _without_zone(piece: Piece, language: str) -> Piece:
    """Remove the zone from the ids of a sentence: the language, perhaps with a region or the like (`/en-US`)."""
    zone = re.compile(rf"(?<=.)/{re.escape(language)}([-_]\w+)?$", re.IGNORECASE)
    return piece._replace(ids=tuple(zone.sub("", id_) for id_ in piece.ids))


def sentences(file: Input) -> Iterator[Piece]:
    """Yield the lines of each sentence; sentences are separated by empty lines."""
    limit, has_ids = file.max_line_bytes, False
    collected: list[bytes] = []
    first = size = 0
    for piece in chain(lines(file), [None]):
        if piece is not None and (piece.cut_at or piece.data.strip()):
            first = first or piece.line
            size += limit + 1 if piece.cut_at else len(piece.data)
            if size <= limit:
                collected.append(piece.data)
        elif first:
            data = b"\n".join(collected) if size <= limit else b""
            ids = [id_.decode("utf-8", "replace").strip() for id_ in _SENTENCE_ID.findall(data)]
            has_ids |= any(ids)
            id_ = ", ".join(dict.fromkeys(filter(None, ids))) or ("(no id)" if has_ids else "")
            yield Piece(str(file.path), first, data, limit if size > limit else 0, (id_,))
            collected.clear()
            first = size = 0


def parse_sentence(piece: Piece, *, surface: bool) -> Side:
    """Parse one sentence into surface tokens or syntactic words. Raises `BadRow` if it is malformed."""
    texts, words = [], []
    tokens: list[list[str]] = []
    covered = 0
    """The last word of the last multiword token."""
    for number, line in enumerate(decode(piece).split("\n")):
        line = replace_separators(line)
        if line.startswith("#"):
            if match := _TEXT.match(line):
                texts.append(match[1].strip())
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS or not all(columns):
            fault = f"has {len(columns)} columns; CoNLL-U has {COLUMNS}, none of them empty"
            raise BadRow("columns", piece, fault, line=number)
        expected = len(words) + 1
        first, dash, last = columns[0].partition("-")
        if dash:
            last = natural_number(last)
            if first != str(expected) or expected <= covered or last is None or last < expected:
                fault = f"the range {quoted(columns[0])} is out of place or overlaps another"
                raise BadRow("columns", piece, fault, line=number)
            tokens.append(columns)
            covered = last
        elif first == str(expected):
            words.append(columns)
            if expected > covered:
                tokens.append(columns)
        elif not re.fullmatch(rf"{len(words)}[.][1-9][0-9]*", first):
            raise BadRow("columns", piece, f"the word's number is {quoted(first)}, not {expected}", line=number)
    if not words:
        raise BadRow("no words", piece, "a sentence without words")
    if covered > len(words):
        raise BadRow("columns", piece, f"a range of words ends with {covered}, after the last word, {len(words)}")
    forms = "".join("".join(token[1].split()) for token in tokens)
    if others := [text for text in texts if "".join(text.split()) != forms]:
        raise BadRow("text", piece, f"`# text` is {quoted(others[0])}, but the words are {quoted(forms)}")
    text = texts[-1] if texts else _surface_text(tokens)
    annotation = _parse_annotation(piece, words)
    if surface and covered:
        return Side(text=text, words=[_form(token) for token in tokens], annotation=failed(MULTIWORD))
    return Side(text=text, words=[_form(word) for word in words], annotation=annotation)


def _form(columns: list[str]) -> str:
    return "\u00a0".join(columns[1].split()) or "_"


def _surface_text(tokens: list[list[str]]) -> str:
    """Join surface tokens into text, following SpaceAfter=No."""
    parts = [token[1] + ("" if "SpaceAfter=No" in token[9].split("|") else " ") for token in tokens]
    return "".join(parts).strip()


def _parse_annotation(piece: Piece, words: list[list[str]]) -> Annotation:
    lemma, upos, xpos, feats = ([word[column] for word in words] for column in (2, 3, 4, 5))
    heads = [natural_number(word[6]) for word in words]
    if None in heads:
        raise BadRow("tree", piece, f"the head {quoted(words[heads.index(None)][6])} is not a number")
    if fault := tree_fault(heads):
        raise BadRow("tree", piece, fault)
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
