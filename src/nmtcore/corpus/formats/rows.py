"""Building blocks of the formats: rows, lines of plain text, pieces of parallel files, and white space."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

from nmtcore.config.corpora import FormatOptions
from nmtcore.corpus.pairs import Side
from nmtcore.corpus.text_lines import BadRow, Input, Piece, lines
from nmtcore.errors import LineError, UserError, quoted

SEPARATORS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""The characters besides `\\n` that end a line for `str.splitlines` and many tools, but not here."""
FIRST_LINES = 1_000
"""Lines that show whether a file is plain text and, of a table, its columns."""
_OTHER_KINDS = {
    rb"<!doctype html|<html": "this is an HTML page, not plain text: fetch the text itself",
    rb"<(doc|url)\b": "this is a tag, no sentence: delete such lines from both files, if they are IWSLT's train.tags "
    "(grep -v '^ *<' OLD > NEW), or write `format: sgm` if there are <seg> tags (--format sgm)",
    rb"<\?xml|<!doctype|<(mteval|dataset|srcset|refset|tstset|tmx|seg)\b": "this is XML or SGML, not plain text: write "
    "`format: sgm` for segments of WMT or IWSLT, `format: tmx` for TMX (--format), or convert it",
    rb"""\{\s*(["']|$)|\[\s*(\{|$)""": "this is JSON, not plain text: write one sentence per line",
    rb"#\s*(sent_id|newdoc)\b": "this is CoNLL-U, not plain text: write `format: conllu` (--format conllu)",
}
"""How text that is not plain begins, and what to do."""
NO_ID = "(no id)"
"""The id of a sentence without one, in a file with ids."""
_WHITE_SPACE = re.compile("[ \t\r\n]+")
_TO_SPACES = str.maketrans(dict.fromkeys(SEPARATORS, " "))

Row = tuple[Any, ...]
"""The unparsed input for one pair: pieces of files (of contrastive pairs: a finished pair)."""
Inputs = Mapping[str, Sequence[Input]]
"""The files of a corpus by role."""


class ReadingContext(NamedTuple):
    """The languages of both sides, and whether the rows are a gold treebank.

    The words of a treebank are the words of its trees, on both sides.
    """

    source: str
    target: str
    treebank: bool = False


class Format:
    """Base of the formats: by default, each line of the files of one role is a row."""

    aligned = False
    role = "pairs"

    def __init__(self, options: FormatOptions, context: ReadingContext) -> None:
        self.options = options
        self.context = context

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield the lines of all files, one after the other."""
        return ((line,) for file in inputs[self.role] for line in plain_lines(file))

    def parse(self, row: Row) -> tuple[Side, Side]:
        """Return the sides of a finished pair."""
        source, target = row
        return source, target


def plain_lines(file: Input) -> Iterator[Piece]:
    """Yield the lines of a file. Raises `LineError` if it begins as one of `_OTHER_KINDS`."""
    first, pieces = peek(lines(file))
    text = next((piece for piece in first if piece.data.strip()), None)
    for start, fault in _OTHER_KINDS.items() if text else ():
        if re.match(rb"\s*(?:%b)" % start, text.data, re.IGNORECASE):
            raise LineError(text.path, text.line, f"{fault}.")
    yield from pieces


def peek(pieces: Iterator[Piece]) -> tuple[list[Piece], Iterator[Piece]]:
    """Return the first `FIRST_LINES` pieces, and all of them."""
    first = list(islice(pieces, FIRST_LINES))
    return first, chain(first, pieces)


def check_same_ids(source: Piece, target: Piece) -> None:
    """Raise `BadRow` if two parallel pieces both have an id at some level and the ids differ."""
    if any(left and right and left != right for left, right in zip(source.ids, target.ids, strict=False)):
        left, right = (", ".join(id_ or "-" for id_ in piece.ids) for piece in (source, target))
        place = f"{target.path}, line {target.line}"
        fault = f"has the id {quoted(left)}, but the other side ({place}) has {quoted(right)}"
        raise BadRow("ids differ", source, fault)


def replace_separators(text: str) -> str:
    """Replace characters that other tools take for line ends by spaces."""
    return text if text.isprintable() else text.translate(_TO_SPACES)


def collapse_spaces(text: str) -> str:
    """Collapse XML white space into single spaces, and strip it from both ends."""
    return _WHITE_SPACE.sub(" ", text).strip(" ")


def pair_pieces(
    inputs: Inputs, readers: Mapping[str, Callable[[Input], Iterable[Piece]]], *, unit: str = "lines"
) -> Iterator[tuple[Piece, Piece]]:
    """Pair the pieces of the source files with those of the target files, file by file.

    Raises `UserError`, with both counts, if two parallel files differ in length.
    """
    sources, targets = inputs["source"], inputs["target"]
    if len(sources) != len(targets):
        raise UserError(
            f"The source has {len(sources)} files and the target {len(targets)}: list as many for each side."
        )
    for source, target in zip(sources, targets, strict=True):
        counts = [0, 0]
        for pair in zip_longest(readers["source"](source), readers["target"](target)):
            counts = [count + (piece is not None) for count, piece in zip(counts, pair, strict=True)]
            if None not in pair:
                yield pair
        if counts[0] != counts[1]:
            if source == target:
                raise UserError(f"{source.path} has {counts[0]} {unit} of sources, but {counts[1]} of references.")
            raise not_parallel((source, target), counts, unit=unit)


def not_parallel(files: Sequence[Input], counts: Sequence[int], *, unit: str) -> UserError:
    """Return the error about two files that have not as many lines or other pieces."""
    (source, *_), (target, *_) = files
    return UserError(
        f"{source} has {counts[0]} {unit}, but {target} has {counts[1]}: the files are not parallel, so correct them."
    )
