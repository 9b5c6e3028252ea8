"""Formats with one pair per line: two plain text files, columns of one file, copied text, and CzEng's export format."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path

from nmtcore.config.corpora import SIDES, CorpusSettings, TsvOptions
from nmtcore.corpus.formats.rows import (
    FIRST_LINES,
    Format,
    Inputs,
    Row,
    pair_pieces,
    peek,
    plain_lines,
    replace_separators,
)
from nmtcore.corpus.pairs import Side
from nmtcore.corpus.text_lines import BadRow, Input, Piece, decode, lines
from nmtcore.errors import LineError, quoted
from nmtcore.syntax.annotation import Annotation, failed, tree_fault

CZENG_BLOCKS = 15
FEWEST_ROWS = 10
"""Rows from which it can be told that they are in quotes."""
_NAMES = """
source sources src target targets tgt trg ref reference references sentence sentences text translation translations
original id score english german french spanish italian portuguese dutch swedish danish norwegian finnish czech slovak
polish russian ukrainian bulgarian romanian hungarian greek turkish arabic persian hebrew hindi chinese japanese korean
"""
_HEADER_WORDS = frozenset(_NAMES.split())
"""Words of which the names of two columns with sentences consist, besides codes of languages and numbers."""
_TOKEN = re.compile(r"(\||[^|]+)\|(\||[^|]+)\|([^|]+)\|([0-9]{1,9})\|([0-9]{1,9})\|([^|]+)")


class Plain(Format):
    """Two parallel plain text files."""

    aligned = True

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield (source line, target line)."""
        return pair_pieces(inputs, dict.fromkeys(SIDES, plain_lines))

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Decode both lines."""
        return Side(text=decode(row[0])), Side(text=decode(row[1]))


class Tsv(Format):
    """Columns that are separated by tabs or another separator."""

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield the lines of all files, each with the number of columns that its file has."""
        return (row for file in inputs[self.role] for row in self._rows(file))

    def _rows(self, file: Input) -> Iterator[Row]:
        """Yield (line, columns that most of the first lines have). Raises `LineError` for a header or quotes."""
        first, pieces = peek(plain_lines(file))
        rows = [piece.data.decode("utf-8", "replace").split(self.options.separator) for piece in first if piece.data]
        columns = Counter(map(len, rows)).most_common(1)[0][0] if rows else 1
        if self.options.header:
            next(pieces, None)
        elif rows and (fault := self._fault(rows)):
            raise LineError(file.path, first[0].line, fault)
        yield from zip(pieces, repeat(columns))

    def _fault(self, rows: Sequence[Sequence[str]]) -> str | None:
        """Say that the first row names the columns, or that both sides are in quotes, if so.

        It names them if the cells of both sides are different names.
        """
        first, *others = (row for row in rows if len(row) == len(rows[0]))
        sides = [number - 1 for number in (self.options.source_column, self.options.target_column)]
        if max(sides) >= len(first):
            return None
        words = _HEADER_WORDS | {*self.context[:2]}
        names = {tuple(re.findall(r"[^\W\d_]+", first[side].casefold())) for side in sides}
        are_names = len(names) == len(SIDES) and all(name and words.issuperset(name) for name in names)
        if are_names:
            advice = f"set `header: true` in the corpus's `options` (--header). {_columns_text(first)}"
            return f"this row names the columns: {advice}"
        cells = [row[side] for row in (first, *others) for side in sides]
        if len(rows) >= FEWEST_ROWS and all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells):
            return "the columns are in quotes, as in CSV: write them without quotes, with tabs between."
        return None

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Take the source and target columns, and delete from the target what the options say.

        Raises `BadRow` if the line has too few columns, or another number than most.
        """
        options, columns = self.options, decode(row[0]).split(self.options.separator)
        last_column = max(options.source_column, options.target_column)
        if len(columns) < last_column:
            raise BadRow("columns", row[0], f"has {len(columns)} columns, but the options name column {last_column}")
        if len(columns) != row[1]:
            fault = f"has {len(columns)} columns, but most of the file's first {FIRST_LINES:,} lines have {row[1]}"
            raise BadRow("columns", row[0], fault)
        target = columns[options.target_column - 1]
        if options.delete_from_target:
            target = re.sub(options.delete_from_target, "", target)
        return Side(text=columns[options.source_column - 1]), Side(text=target)


def describe_columns(corpus: CorpusSettings) -> str:
    """Show the columns of the first row of a table, a file of the user's own, and say how to choose others."""
    file = corpus.files["pairs"][0]
    first = next((piece.data for piece in lines(Input(Path(file.path), file.member)) if piece.data.strip()), b"")
    cells = first.decode("utf-8", "replace").split(corpus.options.get("separator", TsvOptions.separator))
    return f"{file.path}: {_columns_text(cells)}"


def _columns_text(cells: Sequence[str]) -> str:
    shown = ", ".join(f"{number} {quoted(cell)}" for number, cell in enumerate(cells, start=1))
    return (
        f"The columns are {shown}: choose others by `source_column` and `target_column` (--columns SOURCE TARGET of "
        "`nmtcore new dataset`)."
    )


class Copied(Format):
    """Monolingual text that is used as both sides (Currey et al. 2017)."""

    role = "text"

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Decode the line once, for both sides."""
        side = Side(text=decode(row[0]))
        return side, side


class Czeng(Format):
    """CzEng's export format: 15 blocks between tabs, two of them the a-layers (surface trees) of both sides.

    An a-layer is a sequence of space-separated tokens of the form `form|lemma|tag|ord|head|afun`. The form and
    the lemma may each be a bar; no other factor contains one.
    """

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Parse both a-layers. Raises `BadRow` if the blocks, the factors or a tree are malformed."""
        blocks = replace_separators(decode(row[0])).split("\t")
        if len(blocks) != CZENG_BLOCKS:
            fault = f"has {len(blocks)} tab-separated blocks, but CzEng's export format has {CZENG_BLOCKS}"
            raise BadRow("blocks", row[0], fault)
        numbers = self.options.blocks(self.context.source)
        source, target = (_parse_block(blocks[number - 1], row[0], number) for number in numbers)
        return source, target


def _parse_block(block: str, piece: Piece, number: int) -> Side:
    tokens = [(_TOKEN.fullmatch(token), token) for token in block.split()]
    if not tokens:
        return Side(text="", words=[], annotation=failed("no words"))
    if broken := [token for match, token in tokens if match is None]:
        fault = f"block {number}: {quoted(broken[0])} is not form|lemma|tag|ord|head|afun"
        raise BadRow("factors", piece, fault)
    forms, lemmas, tags, orders, heads, afuns = zip(*(match.groups() for match, _ in tokens), strict=True)
    if [int(order) for order in orders] != list(range(1, len(orders) + 1)):
        raise BadRow("factors", piece, f"block {number}: the tokens' ord factors do not count from 1 to {len(orders)}")
    heads = [int(head) for head in heads]
    if fault := tree_fault(heads):
        raise BadRow("tree", piece, f"block {number}: {fault}")
    annotation = Annotation(lemma=lemmas, xpos=tags, head=heads, deprel=afuns)
    return Side(text=" ".join(forms), words=forms, annotation=annotation)
