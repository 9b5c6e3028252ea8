"""Universal Dependencies' CoNLL-U (https://universaldependencies.org/format.html), a file a side.

Trees speak of *syntactic* words: German "zur" is the two words "zu" and "der". The source side has the syntactic
words, so that its trees can be used; the target side has the surface tokens, which are what a translation is made
of. Where the two differ, a target sentence has no annotation (with the reason `multiword tokens`), since no tree
speaks of its tokens. Empty nodes (8.1) are left out on both sides.
In a gold treebank both sides have the syntactic words, and one side may be missing: it is empty then, with no tree.

A form with a space inside (Czech "10 000") gets a no-break space instead: words hold no ASCII white space.
"""

from collections.abc import Iterator

from nmtcore.config.formats import ConlluOptions
from nmtcore.corpus.formats.rows import BadRow, Input, Inputs, Piece, ReadingContext, Row, aligned, clean, decode, lines
from nmtcore.corpus.pairs import SIDES, Side
from nmtcore.syntax.annotation import Annotation, failed, tree_fault

ALIGNED = True
COLUMNS = 10
MULTIWORD = "multiword tokens"


def rows(inputs: Inputs, options: ConlluOptions) -> Iterator[Row]:
    """Yield (source sentence, target sentence); None for a side that has no file."""
    readers = {side: sentences if getattr(options, f"{side}_format") == "conllu" else lines for side in SIDES}
    if all(inputs.get(side) for side in SIDES):
        return aligned(inputs, readers, unit="sentences")
    return (
        tuple(piece if side == present else None for side in SIDES)
        for present in SIDES
        for file in inputs.get(present, ())
        for piece in readers[present](file)
    )


def parse(row: Row, options: ConlluOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Read both sentences. Raises `BadRow` where columns, numbers or the tree are not as they should be."""
    left = _parsed(row[0], options.source_format, surface=False)
    return left, _parsed(row[1], options.target_format, surface=not context.treebank)


def _parsed(piece: Piece | None, format: str, *, surface: bool) -> Side:
    if piece is None:
        return Side(text="", words=[])
    return parse_sentence(piece, surface=surface) if format == "conllu" else Side(text=decode(piece))


def sentences(file: Input) -> Iterator[Piece]:
    """Yield the lines of each sentence, which an empty line ends."""
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
    """Read one sentence, as surface tokens or as syntactic words."""
    text, words, spans = None, [], []
    for number, line in enumerate(decode(piece).split("\n")):
        line = clean(line)
        if line.startswith("#"):
            text = line.partition("=")[2].strip() if line[1:].lstrip().startswith("text =") else text
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS or not all(columns):
            raise BadRow("columns", piece, f"has {len(columns)} columns; CoNLL-U has {COLUMNS}.", line=number)
        if "-" in columns[0]:
            spans.append((*_span(columns[0], piece, number), columns))
        elif "." not in columns[0]:
            if columns[0] != str(len(words) + 1):
                what = f"the word's number is {columns[0]}, not {len(words) + 1}."
                raise BadRow("columns", piece, what, line=number)
            words.append(columns)
    if not words:
        raise BadRow("no words", piece, "a sentence without words.")
    return _side(piece, text, words, spans, surface=surface)


def _span(number: str, piece: Piece, line: int) -> tuple[int, int]:
    first, _, last = number.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise BadRow("columns", piece, f"'{number}' is no range of words.", line=line)
    return int(first), int(last)


def _side(piece: Piece, text: str | None, words: list, spans: list, *, surface: bool) -> Side:
    tokens = _tokens(words, spans)
    text = _joined(tokens) if text is None else text
    annotation = _annotation(piece, words)
    if surface and spans:
        return Side(text=text, words=[_form(token) for token in tokens], annotation=failed(MULTIWORD))
    return Side(text=text, words=[_form(word) for word in words], annotation=annotation)


def _tokens(words: list, spans: list) -> list:
    """Put every multiword token in the place of its words."""
    tokens, after = [], 0
    starts = {first: (last, columns) for first, last, columns in spans}
    for number, word in enumerate(words, start=1):
        if number in starts:
            after, columns = starts[number]
            tokens.append(columns)
        elif number > after:
            tokens.append(word)
    return tokens


def _form(columns: list[str]) -> str:
    return "\u00a0".join(columns[1].split()) or "_"


def _joined(tokens: list) -> str:
    """Make the text of tokens by their SpaceAfter=No."""
    parts = [token[1] + ("" if "SpaceAfter=No" in token[9].split("|") else " ") for token in tokens]
    return "".join(parts).strip()


def _annotation(piece: Piece, words: list) -> Annotation:
    lemma, upos, xpos, feats = ([word[column] for word in words] for column in (2, 3, 4, 5))
    heads = [word[6] for word in words]
    if wrong := [head for head in heads if not head.isdecimal()]:
        raise BadRow("tree", piece, f"the head '{wrong[0]}' is not a number.")
    heads = [int(head) for head in heads]
    if fault := tree_fault(heads):
        raise BadRow("tree", piece, f"{fault}.")
    return Annotation(
        lemma=_given(lemma),
        upos=_given(upos),
        xpos=_given(xpos),
        feats=feats,
        head=heads,
        deprel=[word[7] for word in words],
    )


def _given(values: list[str]) -> list[str] | None:
    """A column that is empty (`_`) for every word of a sentence was not annotated."""
    return values if any(value != "_" for value in values) else None
