"""Universal Dependencies' CoNLL-U (https://universaldependencies.org/format.html), one file per side.

The nodes of the trees are *syntactic* words: German "zur" is the two words "zu" and "der". The source side has the
syntactic words, so that its trees can be used; the target side has the surface tokens, of which translations consist.
If the two differ, a target sentence has no annotation (reason `multiword tokens`), since its tokens are not the nodes
of its tree. Empty nodes (8.1) are ignored on both sides. In a gold treebank, both sides have the syntactic words, and
one side may be missing; it is then empty, without a tree.

Spaces inside a form (Czech "10 000") become no-break spaces, because words contain no ASCII white space.
"""

from collections.abc import Iterator

from nmtcore.config.formats import ConlluOptions
from nmtcore.corpus.formats.rows import (
    BadRow,
    Input,
    Inputs,
    Piece,
    ReadingContext,
    Row,
    decode,
    lines,
    pair_pieces,
    replace_separators,
)
from nmtcore.corpus.pairs import SIDES, Side
from nmtcore.syntax.annotation import Annotation, failed, tree_fault

ALIGNED = True
COLUMNS = 10
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
    """Parse both sentences. Raises `BadRow` if columns, word numbers or a tree are malformed."""
    source = _parse_piece(row[0], options.source_format, surface=False)
    target = _parse_piece(row[1], options.target_format, surface=not context.treebank)
    return source, target


def _parse_piece(piece: Piece | None, format: str, *, surface: bool) -> Side:
    if piece is None:
        return Side(text="", words=[])
    return parse_sentence(piece, surface=surface) if format == "conllu" else Side(text=decode(piece))


def sentences(file: Input) -> Iterator[Piece]:
    """Yield the lines of each sentence; sentences are separated by empty lines."""
    first, collected = 0, []
    for piece in lines(file):
        if piece.data.strip():
            first = first if collected else piece.line
            collected.append(piece.data)
        elif collected:
            yield Piece(piece.path, first, b"\n".join(collected))
            collected = []
    if collected:
        yield Piece(str(file.path), first, b"\n".join(collected))


def parse_sentence(piece: Piece, *, surface: bool) -> Side:
    """Parse one sentence into surface tokens or syntactic words. Raises `BadRow` if it is malformed."""
    text, words, spans = None, [], []
    for number, line in enumerate(decode(piece).split("\n")):
        line = replace_separators(line)
        if line.startswith("#"):
            text = line.partition("=")[2].strip() if line[1:].lstrip().startswith("text =") else text
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS or not all(columns):
            raise BadRow(
                "columns", piece, f"has {len(columns)} columns; CoNLL-U has {COLUMNS}, none of them empty.", line=number
            )
        if "-" in columns[0]:
            spans.append((*_span(columns[0], piece, number), columns))
        elif "." not in columns[0]:
            if columns[0] != str(len(words) + 1):
                fault = f"the word's number is {columns[0]}, not {len(words) + 1}."
                raise BadRow("columns", piece, fault, line=number)
            words.append(columns)
    if not words:
        raise BadRow("no words", piece, "a sentence without words.")
    return _sentence_side(piece, text, words, spans, surface=surface)


def _span(number: str, piece: Piece, line: int) -> tuple[int, int]:
    first, _, last = number.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise BadRow("columns", piece, f"'{number}' is not a range of word numbers.", line=line)
    return int(first), int(last)


def _sentence_side(piece: Piece, text: str | None, words: list, spans: list, *, surface: bool) -> Side:
    tokens = _surface_tokens(words, spans)
    text = _surface_text(tokens) if text is None else text
    annotation = _parse_annotation(piece, words)
    if surface and spans:
        return Side(text=text, words=[_form(token) for token in tokens], annotation=failed(MULTIWORD))
    return Side(text=text, words=[_form(word) for word in words], annotation=annotation)


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
    heads = [word[6] for word in words]
    if invalid := [head for head in heads if not head.isdecimal()]:
        raise BadRow("tree", piece, f"the head '{invalid[0]}' is not a number.")
    heads = [int(head) for head in heads]
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
