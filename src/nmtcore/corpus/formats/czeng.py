"""CzEng's export format: 15 blocks between tabs, of which two are the a-layers (surface trees) of both sides.

An a-layer is a row of tokens between spaces, each `form|lemma|tag|ord|head|afun`. A token is read from the right: its
last four factors hold no bar, while form and lemma may each be a bar themselves.
"""

import re
from collections.abc import Iterator

from nmtcore.config.formats import CzengOptions
from nmtcore.corpus.formats.rows import BadRow, Inputs, Piece, ReadingContext, Row, clean, decode, lines
from nmtcore.corpus.pairs import Side
from nmtcore.syntax.annotation import Annotation, failed, tree_fault

ALIGNED = False
BLOCKS = 15
_FORM_AND_LEMMA = re.compile(r"(\||[^|]+)\|(\||[^|]+)")


def rows(inputs: Inputs, options: CzengOptions) -> Iterator[Row]:
    """Yield the lines of all files, one after the other."""
    return ((line,) for file in inputs["pairs"] for line in lines(file))


def parse(row: Row, options: CzengOptions, context: ReadingContext) -> tuple[Side, Side]:
    """Read both a-layers. Raises `BadRow` where blocks, factors or the tree are not as they should be."""
    blocks = clean(decode(row[0])).split("\t")
    if len(blocks) != BLOCKS:
        raise BadRow("blocks", row[0], f"has {len(blocks)} blocks between tabs; CzEng's export format has {BLOCKS}.")
    source_block, target_block = options.blocks(context.source)
    return _side(blocks[source_block - 1], row[0], source_block), _side(blocks[target_block - 1], row[0], target_block)


def _side(block: str, piece: Piece, number: int) -> Side:
    tokens = [_factors(token, piece, number) for token in block.split()]
    if not tokens:
        return Side(text="", words=[], annotation=failed("no words"))
    forms, lemmas, tags, orders, heads, afuns = zip(*tokens, strict=True)
    try:
        orders, heads = [int(order) for order in orders], [int(head) for head in heads]
    except ValueError as error:
        raise BadRow("factors", piece, f"block {number}: ord and head are numbers ({error}).") from error
    if orders != list(range(1, len(orders) + 1)):
        raise BadRow("factors", piece, f"block {number}: the tokens' ord do not count from 1 to {len(orders)}.")
    if fault := tree_fault(heads):
        raise BadRow("tree", piece, f"block {number}: {fault}.")
    annotation = Annotation(lemma=lemmas, xpos=tags, head=heads, deprel=afuns)
    return Side(text=" ".join(forms), words=forms, annotation=annotation)


def _factors(token: str, piece: Piece, number: int) -> tuple[str, ...]:
    front, *rest = token.rsplit("|", 4)
    if len(rest) == 4 and all(rest):
        found = _FORM_AND_LEMMA.fullmatch(front)
        if found:
            return (*found.groups(), *rest)
    raise BadRow("factors", piece, f"block {number}: '{token}' is not form|lemma|tag|ord|head|afun.")
