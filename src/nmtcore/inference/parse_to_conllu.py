"""Parsing of raw text, or of the words of a treebank, to CoNLL-U."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nmtcore.corpus.formats.conllu import parse_sentence, sentences
from nmtcore.corpus.pairs import Side
from nmtcore.corpus.text_lines import BadRow, Input, Piece, clean_lines, decode
from nmtcore.errors import LineError, UserError
from nmtcore.inference.bundle import Bundle
from nmtcore.inference.parse import Parser, parse_examples
from nmtcore.inference.raw import LINES_PER_CHUNK, TextPart, TextReader, grouped_texts
from nmtcore.inference.schemas import ParseMethod
from nmtcore.syntax.annotation import Annotation, conllu_sentence
from nmtcore.syntax.trees import HEAD_OF_ROOT

_HEAD_COLUMN = 6
"""The index of the head's column in CoNLL-U."""


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
    """Yield a block of CoNLL-U per line of raw text, in order, with the line's number (from 1), text and words.

    The block of a line without words has only comments. A line of more than `raw.MAX_SUBWORDS` subwords is parsed in
    parts, each with its own root, and standard error says so. `parser` defaults to the heads that the model was trained
    to parse with. Raises the errors of `Bundle.translate_lines`, and `UserError` if there is no `parser` and the model
    does not parse, or has no root for the trees of `method`.
    """
    parser = parser or _trained_parser(bundle, method)
    with bundle.reader(model_folders) as reader:
        for first, texts in grouped_texts(clean_lines(lines, where=where), chunk, characters=len):
            words = [reader.split(text) for text in texts]
            locations = [f"{where}, line {first + number}" for number in range(1, len(texts) + 1)]
            parses = _parse_lines(parser, reader, words, method=method, locations=locations)
            for number, (text, line_words, heads) in enumerate(zip(texts, words, parses, strict=True), start=1):
                yield conllu_sentence(line_words, Annotation(head=heads), sent_id=first + number, text=text)


class ParsedSentence(NamedTuple):
    """A sentence of a treebank with the model's heads and the gold heads (1-based, 0 = root)."""

    block: str
    """The original lines with the heads of the words replaced, and the empty line after them."""
    words: Sequence[str]
    heads: list[int]
    gold: Sequence[int]
    upos: Sequence[str] | None


def parse_treebank(
    bundle: Bundle, path: Path, *, method: ParseMethod, parser: Parser | None = None, model_folders: Sequence[Path] = ()
) -> Iterator[ParsedSentence]:
    """Parse the syntactic words of a CoNLL-U file, sentence by sentence; see `parse_text` for `method` and `parser`.

    Also raises `LineError` for a line that is not CoNLL-U or a sentence that is not a tree, and `UserError` for a file
    without sentences.
    """
    parser = parser or _trained_parser(bundle, method)
    empty = True
    with bundle.reader(model_folders) as reader:
        treebank = sentences(Input(path, None))
        for _, pieces in grouped_texts(treebank, LINES_PER_CHUNK, characters=lambda piece: len(piece.data)):
            empty = False
            gold = [read_gold_sentence(piece) for piece in pieces]
            locations = [f"{path}, line {piece.line}" for piece in pieces]
            parses = _parse_lines(parser, reader, [side.words for side in gold], method=method, locations=locations)
            for piece, side, heads in zip(pieces, gold, parses, strict=True):
                tree = side.annotation
                yield ParsedSentence(_replace_heads(decode(piece), heads), side.words, heads, tree.head, tree.upos)
    if empty:
        raise UserError(f"{path} contains no sentences.")


def _trained_parser(bundle: Bundle, method: ParseMethod) -> Parser:
    if not bundle.model.parses:
        induce = ", or induce trees from an attention head, for example --attention 0.0"
        raise UserError(
            f"The system {bundle.run.system} does not parse: none of its heads was trained to. Use a model of another "
            f"system, for example depparse_l1{induce if bundle.model.encoder_attention[0] else ''}."
        )
    if method != "argmax" and not bundle.model.parses_to_root:
        raise UserError(
            f"The system {bundle.run.system} has no artificial root, so its heads do not form trees: add --argmax."
        )
    size = bundle.run.decoding.batch_sentences
    return lambda examples, methods: parse_examples(bundle.model, examples, methods=methods, batch_sentences=size)


def _parse_lines(
    parser: Parser, reader: TextReader, lines: Sequence[Sequence[str]], *, method: ParseMethod, locations: Sequence[str]
) -> list[list[int]]:
    """Predict the heads of the words of every line; `locations` name the lines in messages."""
    parts = reader.parts(lines)
    for line, count in Counter(part.line for part in parts).items():
        if count > 1:
            print(f"{locations[line]}: very long, parsed in {count} parts with a root each.", file=sys.stderr)
    parsed_parts: list[list[tuple[TextPart, Sequence[int]]]] = [[] for _ in lines]
    for part, parse in zip(parts, parser(reader.examples_of(parts), [method]), strict=True):
        parsed_parts[part.line].append((part, getattr(parse, method).tolist()))
    return [_join_heads(line_parts) for line_parts in parsed_parts]


def _join_heads(parts: Sequence[tuple[TextPart, Sequence[int]]]) -> list[int]:
    """Join the heads of a line's parts; a word that continues in the next part has the head from its first part."""
    line_heads: list[int] = []
    for part, heads in parts:
        new = heads[len(line_heads) - part.first :]
        line_heads += [HEAD_OF_ROOT if head == HEAD_OF_ROOT else head + part.first for head in new]
    return line_heads


def read_gold_sentence(piece: Piece) -> Side:
    """Read a sentence of a treebank, with its syntactic words; raises `LineError` if it is malformed or no tree."""
    try:
        return parse_sentence(piece, surface=False)
    except BadRow as error:
        raise LineError(error.path, error.line, str(error)) from error


def _replace_heads(block: str, heads: Sequence[int]) -> str:
    """Replace the heads of the words; comments, multiword tokens and empty nodes stay unchanged."""
    lines, remaining = [], iter(heads)
    for line in block.split("\n"):
        columns = line.split("\t")
        if columns[0].isdecimal():
            columns[_HEAD_COLUMN] = str(next(remaining))
        lines.append("\t".join(columns))
    return "\n".join([*lines, "", ""])
