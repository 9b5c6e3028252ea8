"""The command `nmtcore parse`."""

import argparse
import re
import sys
from pathlib import Path

from nmtcore.cli.options import annotator_folders, device_name, model_command
from nmtcore.cli.streams import standard_input, write_output


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
        type=_layer_and_head,
        metavar="LAYER.HEAD",
        help="induce trees from this attention head of the encoder (both from 0), even if it was not trained to parse",
    )


def _run_parse(chosen: argparse.Namespace) -> None:
    from nmtcore.evaluation.attachment import attachment_line
    from nmtcore.evaluation.lines import induction_lines
    from nmtcore.inference.bundle import load_bundle
    from nmtcore.inference.parse_to_conllu import parse_text, parse_treebank
    from nmtcore.inference.raw import LINES_PER_CHUNK
    from nmtcore.inference.schemas import TREE_METHODS

    device, parser = device_name(chosen.device), None
    if chosen.attention is None:
        bundle = load_bundle(chosen.model, device)
    else:
        from nmtcore.inference.attention import load_observed_bundle
        from nmtcore.inference.parse import attention_parser

        bundle = load_observed_bundle(chosen.model, device)
        layer, head = chosen.attention
        parser = attention_parser(bundle, layer=layer, head=head)
    method = "argmax" if chosen.argmax else TREE_METHODS[chosen.roots or bundle.run.evaluation.roots]
    folders = annotator_folders(chosen, bundle)
    if chosen.conllu is None:
        chunk = 1 if standard_input().isatty() else LINES_PER_CHUNK
        for block in parse_text(
            bundle, standard_input(), method=method, parser=parser, chunk=chunk, model_folders=folders
        ):
            write_output(block)
        return
    parses = list(parse_treebank(bundle, chosen.conllu, method=method, parser=parser, model_folders=folders))
    write_output("".join(sentence.block for sentence in parses))
    compared = list(zip(*((s.heads, s.gold, s.words, s.upos) for s in parses), strict=True))
    lines = [attachment_line(*compared)]
    if parser is not None or bundle.run.tree_comparison == "induced":
        lines += induction_lines(*compared)
    for line in lines:
        print(f"{chosen.conllu}: {line}", file=sys.stderr)


def _layer_and_head(text: str) -> tuple[int, int]:
    if not re.fullmatch(r"[0-9]+\.[0-9]+", text):
        raise argparse.ArgumentTypeError(f"{text} is not of the form LAYER.HEAD, for example 0.3 (both count from 0)")
    layer, head = text.split(".")
    return int(layer), int(head)
