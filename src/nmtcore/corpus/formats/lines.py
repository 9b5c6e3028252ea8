"""Formats with one pair per line: two plain text files, columns of one file, copied text, and CzEng's export format."""

import re
from collections.abc import Iterator

from nmtcore.corpus.formats.rows import Format, Inputs, Row, pair_pieces, replace_separators
from nmtcore.corpus.pairs import SIDES, Side
from nmtcore.corpus.text_lines import BadRow, Piece, decode, lines
from nmtcore.errors import quoted
from nmtcore.syntax.annotation import Annotation, failed, tree_fault

CZENG_BLOCKS = 15
_TOKEN = re.compile(r"(\||[^|]+)\|(\||[^|]+)\|([^|]+)\|([0-9]{1,9})\|([0-9]{1,9})\|([^|]+)")


class Plain(Format):
    """Two parallel plain text files."""

    aligned = True

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield (source line, target line)."""
        return pair_pieces(inputs, dict.fromkeys(SIDES, lines))

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Decode both lines."""
        return Side(text=decode(row[0])), Side(text=decode(row[1]))


class Tsv(Format):
    """Columns that are separated by tabs or another separator."""

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Take the source and target columns, and delete from the target what the options say.

        Raises `BadRow` if the line has too few columns.
        """
        options, columns = self.options, decode(row[0]).split(self.options.separator)
        last_column = max(options.source_column, options.target_column)
        if len(columns) < last_column:
            raise BadRow("columns", row[0], f"has {len(columns)} columns, but the options name column {last_column}")
        target = columns[options.target_column - 1]
        if options.delete_from_target:
            target = re.sub(options.delete_from_target, "", target)
        return Side(text=columns[options.source_column - 1]), Side(text=target)


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
