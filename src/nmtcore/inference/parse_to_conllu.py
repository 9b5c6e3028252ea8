"""The trees that a model sees in raw text, or in the words of a treebank, as CoNLL-U."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nmtcore.corpus.formats.conllu import parse_sentence, sentences
from nmtcore.corpus.formats.rows import BadRow, Input, Piece, decode
from nmtcore.errors import LineError, UserError
from nmtcore.inference.bundle import LINES_PER_CHUNK, Bundle
from nmtcore.inference.parse import Parser, parse_examples
from nmtcore.inference.parse_files import ParseMethod
from nmtcore.inference.raw import TextPart, TextReader, clean_lines, grouped
from nmtcore.syntax.annotation import Annotation
from nmtcore.syntax.trees import HEAD_OF_ROOT
from nmtcore.syntax.write_conllu import conllu_sentence

_HEAD = 6
"""The column of the head in CoNLL-U, from 0."""


def parse_text(
    bundle: Bundle,
    lines: Iterable[str | bytes],
    *,
    method: ParseMethod,
    parser: Parser | None = None,
    chunk: int = LINES_PER_CHUNK,
    where: str = "standard input",
    model_folders: Sequence[Path] = (),
) -> Iterator[str]:
    """Yield a block of CoNLL-U for each line of raw text, in order: its number (from 1), its text and its words.

    The block of a line without words has only comments. A line of more than `raw.MAX_SUBWORDS` subwords is parsed in
    parts, each with its own root, and standard error says so. `parser` defaults to the heads that the model was trained
    to parse with. Raises the errors of `Bundle.translate_n_best`, and `UserError` if there is no `parser` and the model
    does not parse, or has no root for the trees of `method`.
    """
    parser = parser or _trained(bundle, method)
    with bundle.reader(model_folders) as reader:
        first = 1
        for texts in grouped(clean_lines(lines, where=where), chunk):
            words = [reader.split(text) for text in texts]
            places = [f"{where}, line {number}" for number in range(first, first + len(texts))]
            found = _heads(parser, reader, words, method=method, places=places)
            for number, (text, its_words, heads) in enumerate(zip(texts, words, found, strict=True), start=first):
                yield conllu_sentence(its_words, Annotation(head=heads), sent_id=number, text=text)
            first += len(texts)


class ParsedSentence(NamedTuple):
    """A sentence of a treebank with the model's heads (1-based, 0 = root) beside its own."""

    block: str
    """Its lines as they were, but for the heads of the words, and the empty line after them."""
    words: Sequence[str]
    heads: list[int]
    gold: Sequence[int]
    upos: Sequence[str] | None


def parse_treebank(
    bundle: Bundle, path: Path, *, method: ParseMethod, parser: Parser | None = None, model_folders: Sequence[Path] = ()
) -> Iterator[ParsedSentence]:
    """Parse the syntactic words of a CoNLL-U file as they stand there, sentence by sentence.

    What is no CoNLL-U, or no tree, is a `LineError`, a file without sentences a `UserError`; for the rest see
    `parse_text`.
    """
    parser = parser or _trained(bundle, method)
    empty = True
    with bundle.reader(model_folders) as reader:
        for pieces in grouped(sentences(Input(path, None)), LINES_PER_CHUNK):
            empty = False
            gold = [_gold(piece) for piece in pieces]
            places = [f"{path}, line {piece.line}" for piece in pieces]
            found = _heads(parser, reader, [words for words, _ in gold], method=method, places=places)
            for piece, (words, tree), heads in zip(pieces, gold, found, strict=True):
                yield ParsedSentence(_with_heads(decode(piece), heads), words, heads, tree.head, tree.upos)
    if empty:
        raise UserError(f"{path} holds no sentence.")


def _trained(bundle: Bundle, method: ParseMethod) -> Parser:
    if not bundle.model.parses:
        raise UserError(
            f"The system {bundle.run.system} gives no trees: none of its heads is trained to parse. Take a model of "
            "depparse_l1, say, or name a head whose attention to read as trees: --attention 0.0."
        )
    if method != "argmax" and not bundle.model.parses_to_root:
        raise UserError(f"The system {bundle.run.system} knows no root, so its heads make no trees: add --argmax.")
    at_once = bundle.run.decoding.batch_sentences
    return lambda examples, methods: parse_examples(bundle.model, examples, methods=methods, batch_sentences=at_once)


def _heads(
    parser: Parser, reader: TextReader, lines: Sequence[Sequence[str]], *, method: ParseMethod, places: Sequence[str]
) -> list[list[int]]:
    """Give the heads of every line's words; `places` says where each line stands."""
    parts = reader.parts(lines)
    for line, count in Counter(part.line for part in parts).items():
        if count > 1:
            print(f"{places[line]}: very long, parsed in {count} parts, each with its root.", file=sys.stderr)
    of_line: list[list[tuple[TextPart, Sequence[int]]]] = [[] for _ in lines]
    for part, parse in zip(parts, parser(reader.examples_of(parts), [method]), strict=True):
        of_line[part.line].append((part, getattr(parse, method).tolist()))
    return [_joined(its_parts) for its_parts in of_line]


def _joined(parts: Sequence[tuple[TextPart, Sequence[int]]]) -> list[int]:
    """Put the heads of a line's parts together; a word that goes on in the next part has those of its first."""
    joined: list[int] = []
    for part, heads in parts:
        new = heads[len(joined) - part.first :]
        joined += [HEAD_OF_ROOT if head == HEAD_OF_ROOT else head + part.first for head in new]
    return joined


def _gold(piece: Piece) -> tuple[Sequence[str], Annotation]:
    try:
        side = parse_sentence(piece, surface=False)
    except BadRow as error:
        raise LineError(error.path, error.line, str(error)) from error
    return side.words, side.annotation


def _with_heads(block: str, heads: Sequence[int]) -> str:
    """Put heads into the lines of words; comments, multiword tokens and empty nodes stay."""
    lines, left = [], iter(heads)
    for line in block.split("\n"):
        columns = line.split("\t")
        if columns[0].isdecimal():
            columns[_HEAD] = str(next(left))
        lines.append("\t".join(columns))
    return "\n".join([*lines, "", ""])
