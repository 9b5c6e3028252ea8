"""The command `nmtcore parse`."""

import argparse
import sys
from pathlib import Path

from nmtcore.cli.options import load_chosen_model, model_command
from nmtcore.cli.streams import standard_input, write_output
from nmtcore.errors import UserError


def add_parse(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = model_command(
        commands,
        "parse",
        _run_parse,
        help="Parse raw text, one sentence per line, to CoNLL-U: nmtcore parse MODEL < in > out.conllu",
    )
    command.add_argument(
        "--conllu",
        type=Path,
        metavar="FILE",
        help="parse the words of this treebank instead, and print the attachment score",
    )
    decoding = command.add_mutually_exclusive_group()
    decoding.add_argument(
        "--roots",
        choices=["one", "many"],
        help="the number of roots per tree (default: the setting of the model's data set)",
    )
    decoding.add_argument(
        "--argmax", action="store_true", help="the likeliest head of each word by itself, which may not form a tree"
    )
    command.add_argument(
        "--attention",
        metavar="LAYER.HEAD",
        help="induce trees from this attention head of the encoder (both from 0), even if it was not trained to parse",
    )


def _run_parse(chosen: argparse.Namespace) -> None:
    from nmtcore.evaluation.attachment import attachment_line
    from nmtcore.evaluation.summary import induction_lines
    from nmtcore.inference.parse import conllu_block, layer_and_head, make_parser, parse_sentences
    from nmtcore.inference.schemas import TREE_METHODS
    from nmtcore.inference.text import LINES_PER_CHUNK, read_text, read_treebank

    bundle = load_chosen_model(chosen, observed=chosen.attention is not None)
    method = "argmax" if chosen.argmax else TREE_METHODS[chosen.roots or bundle.run.evaluation.roots]
    parser = make_parser(bundle, method, attention=chosen.attention and layer_and_head(chosen.attention))
    if chosen.conllu is None:
        chunk = 1 if standard_input().isatty() else LINES_PER_CHUNK
        texts = read_text(standard_input())
        for sentence, words, heads in parse_sentences(bundle, texts, parser, chunk=chunk):
            write_output(conllu_block(sentence, words, heads))
            if not words:
                print(f"{sentence.where}: left out, since CoNLL-U has no sentence without words.", file=sys.stderr)
        return
    parses = list(parse_sentences(bundle, read_treebank(chosen.conllu), parser))
    if not parses:
        raise UserError(f"{chosen.conllu} contains no sentences.")
    write_output("".join(conllu_block(*parsed) for parsed in parses))
    compared = list(
        zip(*((heads, sentence.gold.head, words, sentence.gold.upos) for sentence, words, heads in parses), strict=True)
    )
    lines = [attachment_line(*compared)]
    if chosen.attention is not None or bundle.run.tree_comparison == "induced":
        lines += induction_lines(*compared)
    for line in lines:
        print(f"{chosen.conllu}: {line}", file=sys.stderr)
