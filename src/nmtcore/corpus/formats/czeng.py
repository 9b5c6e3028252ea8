"""CzEng's export format: 15 tab-separated blocks per line, two of them the a-layers (surface trees) of both sides.

An a-layer is a sequence of space-separated tokens of the form `form|lemma|tag|ord|head|afun`. Tokens are parsed from
the right: the last four factors contain no bar, but the form and the lemma may each be a bar.
"""

import re
from collections.abc import Iterator

from nmtcore.config.formats import CzengOptions
from nmtcore.corpus.formats.rows import BadRow, Inputs, Piece, ReadingContext, Row, decode, lines, replace_separators
from nmtcore.corpus.pairs import Side
from nmtcore.errors import quoted
from nmtcore.numerals import natural_number
from nmtcore.syntax.annotation import Annotation, failed, tree_fault

ALIGNED = False
BLOCKS = 15
_FORM_AND_LEMMA = re.compile(r"(\||[^|]+)\|(\||[^|]+)")


def rows(inputs: Inputs, options: CzengOptions) -> Iterator[Row]:
    """Yield the lines of all files, one after the other."""
    return ((line,) for file in inputs["pairs"] for line in lines(file))


def parse(row: Row, options: CzengOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Parse both a-layers. Raises `BadRow` if the blocks, the factors or a tree are malformed."""
    blocks = replace_separators(decode(row[0])).split("\t")
    if len(blocks) != BLOCKS:
        raise BadRow(
            "blocks", row[0], f"has {len(blocks)} tab-separated blocks, but CzEng's export format has {BLOCKS}."
        )
    source_block, target_block = options.blocks(context.source)
    source, target = (_parse_block(blocks[number - 1], row[0], number) for number in (source_block, target_block))
    return source, target


def _parse_block(block: str, piece: Piece, number: int) -> Side:
    tokens = [_factors(token, piece, number) for token in block.split()]
    if not tokens:
        return Side(text="", words=[], annotation=failed("no words"))
    forms, lemmas, tags, orders, heads, afuns = zip(*tokens, strict=True)
    for factor in (*orders, *heads):
        if natural_number(factor) is None:
            raise BadRow("factors", piece, f"block {number}: ord and head must be numbers, not {quoted(factor)}.")
    orders, heads = [int(order) for order in orders], [int(head) for head in heads]
    if orders != list(range(1, len(orders) + 1)):
        raise BadRow("factors", piece, f"block {number}: the tokens' ord factors do not count from 1 to {len(orders)}.")
    if fault := tree_fault(heads):
        raise BadRow("tree", piece, f"block {number}: {fault}.")
    annotation = Annotation(lemma=lemmas, xpos=tags, head=heads, deprel=afuns)
    return Side(text=" ".join(forms), words=forms, annotation=annotation)


def _factors(token: str, piece: Piece, number: int) -> tuple[str, ...]:
    front, *rest = token.rsplit("|", 4)
    if len(rest) == 4 and all(rest):
        match = _FORM_AND_LEMMA.fullmatch(front)
        if match:
            return (*match.groups(), *rest)
    raise BadRow("factors", piece, f"block {number}: {quoted(token)} is not form|lemma|tag|ord|head|afun.")
