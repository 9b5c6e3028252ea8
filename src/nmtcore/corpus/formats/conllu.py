"""Universal Dependencies' CoNLL-U (https://universaldependencies.org/format.html), one file per side.

The nodes of the trees are *syntactic* words: German "zur" is the two words "zu" and "der". The source side has the
syntactic words, so that its trees can be used; the target side has the surface tokens, of which translations consist.
If the two differ, a target sentence has no annotation (reason `multiword tokens`), since its tokens are not the nodes
of its tree. Empty nodes (8.1) are ignored on both sides. In a gold treebank, both sides have the syntactic words, and
one side may be missing; it is then empty, without a tree.

A sentence is refused if its words do not count from 1, its ranges of multiword tokens overlap or are out of place, or
its `# text` differs from the words by more than white space. If both sides have a `# sent_id`, they must agree, apart
from a language at the end (`s1/en`), unless most ids of the two files differ (`en_lines-1`, `sv_lines-1`).

Spaces inside a form (Czech "10 000") become no-break spaces, because words contain no ASCII white space.

MISC may have the supertags of words and, of the first one, the sentence's constituents: `CCG=NP|Constituents=(S ...)`.
"""

import re
from collections.abc import Iterator
from itertools import chain, groupby

from nmtcore.config.corpora import SIDES
from nmtcore.corpus.formats.rows import (
    NO_ID,
    Format,
    Inputs,
    Row,
    check_same_ids,
    pair_pieces,
    plain_lines,
    replace_separators,
)
from nmtcore.corpus.pairs import Side
from nmtcore.corpus.text_lines import BadRow, Input, Piece, decode, lines, natural_number
from nmtcore.errors import quoted
from nmtcore.syntax.annotation import Annotation, annotation_fault, failed

COLUMNS = 10
_SENTENCE_ID = re.compile(rb"^#[ \t]*sent_id[ \t]*=([^\n]*)", re.MULTILINE)
_TEXT = re.compile(r"#[ \t]*text[ \t]*=(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([p\\])")
"""`\\p` and `\\\\`, UDPipe's signs for `|` and `\\` in MISC. Any other backslash is one, as in categories: `S\\NP`."""
MULTIWORD = "multiword tokens"
"""The reason for a missing annotation if surface tokens and syntactic words differ."""


class Conllu(Format):
    """Sentences with trees; one side may be plain text."""

    aligned = True

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield (source sentence, target sentence); None for a side without files."""
        readers = {side: sentences if self._is_conllu(side) else plain_lines for side in SIDES}
        if all(inputs.get(side) for side in SIDES):
            files = [inputs[side] for side in SIDES]
            if len(files[0]) == len(files[1]) and all(map(self._is_conllu, SIDES)):
                return chain.from_iterable(map(self._joined, *files))
            return pair_pieces(inputs, readers, unit="sentences")
        return (
            tuple(piece if side == present else None for side in SIDES)
            for present in SIDES
            for file in inputs.get(present, ())
            for piece in readers[present](file)
        )

    def _joined(self, *files: Input) -> Iterator[Row]:
        """Pair the sentences of two files; their ids are dropped if most of those of the two files differ."""
        ids = [{self._comparable_id(piece) for piece in sentences(file)} - {"", NO_ID} for file in files]
        are_comparable = 2 * len(set.intersection(*ids)) > min(map(len, ids))
        inputs = {side: [file] for side, file in zip(SIDES, files, strict=True)}
        for row in pair_pieces(inputs, dict.fromkeys(SIDES, sentences), unit="sentences"):
            yield tuple(piece._replace(ids=(self._comparable_id(piece) * are_comparable,)) for piece in row)

    def _comparable_id(self, piece: Piece) -> str:
        """Return the id of a sentence without the language of its side at the end (`n1/en`, `n1/en-US`)."""
        languages = "|".join(map(re.escape, self.context[:2]))
        return re.sub(rf"(?<=.)/({languages})([-_]\w+)?$", "", piece.ids[0], flags=re.IGNORECASE)

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Parse both sentences. Raises `BadRow` if one is malformed or their ids differ."""
        if None not in row:
            check_same_ids(*row)
        source = self._parse_piece(row[0], "source", surface=False)
        target = self._parse_piece(row[1], "target", surface=not self.context.treebank)
        return source, target

    def _is_conllu(self, side: str) -> bool:
        return getattr(self.options, f"{side}_format") == "conllu"

    def _parse_piece(self, piece: Piece | None, side: str, *, surface: bool) -> Side:
        if piece is None:
            return Side(text="", words=[])
        return parse_sentence(piece, surface=surface) if self._is_conllu(side) else Side(text=decode(piece))


def sentences(file: Input) -> Iterator[Piece]:
    """Yield the lines of each sentence; sentences are separated by empty lines."""
    limit, has_ids = file.max_line_bytes, False
    for is_empty, group in groupby(lines(file), key=lambda piece: not (piece.cut_at or piece.data.strip())):
        if is_empty:
            continue
        pieces = list(group)
        data = b"\n".join(piece.data for piece in pieces)
        ids = [id_.decode("utf-8", "replace").strip() for id_ in _SENTENCE_ID.findall(data)]
        has_ids |= any(ids)
        id_ = ", ".join(dict.fromkeys(filter(None, ids))) or (NO_ID if has_ids else "")
        is_long = len(data) > limit or any(piece.cut_at for piece in pieces)
        yield Piece(str(file.path), pieces[0].line, b"" if is_long else data, is_long * limit, (id_,))


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
        first, dash, last = columns[0].partition("-")
        is_next = first == str(len(words) + 1)
        if is_next and not dash:
            words.append(columns)
            if len(words) > covered:
                tokens.append(columns)
        elif is_next and covered <= len(words) < (natural_number(last) or 0):
            tokens.append(columns)
            covered = int(last)
        elif not re.fullmatch(rf"{len(words)}[.][1-9][0-9]*", columns[0]):
            raise BadRow("columns", piece, f"the number {quoted(columns[0])} is out of place", line=number)
    if not words or covered > len(words):
        raise BadRow("columns", piece, "the sentence ends before its last word")
    forms = "".join("".join(token[1].split()) for token in tokens)
    texts = [text for text in texts if text] or texts  # a second text may be empty, as in UD's Belarusian treebank
    if others := [text for text in texts if "".join(text.split()) != forms]:
        raise BadRow("text", piece, f"`# text` is {quoted(others[0])}, but the words are {quoted(forms)}")
    spaced = (token[1] + ("" if "SpaceAfter=No" in token[9].split("|") else " ") for token in tokens)
    text = texts[-1] if texts else "".join(spaced).strip()
    annotation = _parse_annotation(piece, words)
    if surface and covered:
        return Side(text=text, words=[_form(token) for token in tokens], annotation=failed(MULTIWORD))
    return Side(text=text, words=[_form(word) for word in words], annotation=annotation)


def _form(columns: list[str]) -> str:
    return "\u00a0".join(columns[1].split()) or "_"


def _parse_annotation(piece: Piece, words: list[list[str]]) -> Annotation:
    _, _, *columns, heads, deprel, _, misc = zip(*words, strict=True)
    lemma, upos, xpos, feats = columns
    heads = [natural_number(head) for head in heads]
    categories = [_in_misc("CCG=", cell) for cell in misc]
    # A column that is empty (`_`) for all words was not annotated.
    lemma, upos, xpos = (None if set(values) == {"_"} else values for values in (lemma, upos, xpos))
    annotation = Annotation(
        lemma=lemma,
        upos=upos,
        xpos=xpos,
        feats=feats,
        head=heads,
        deprel=deprel,
        ccg=None if set(categories) == {None} else categories,
        constituency=_in_misc("Constituents=", misc[0]),
    )
    if None in heads:
        fault = "a head is not a number"
    elif None in (annotation.ccg or ()):
        fault = f"word {categories.index(None) + 1} has no CCG= in MISC, but other words have"
    else:
        fault = annotation_fault(annotation, len(words))
    if fault:
        raise BadRow("tree", piece, fault)
    return annotation


def _in_misc(key: str, cell: str) -> str | None:
    """Return what follows a key in a cell of MISC; None if it has no such key."""
    if key not in cell:
        return None
    value = next((part.removeprefix(key) for part in cell.split("|") if part.startswith(key)), None)
    return value and _ESCAPED.sub(lambda match: "|" if match[1] == "p" else match[1], value)
