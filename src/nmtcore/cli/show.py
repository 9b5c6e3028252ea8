"""The command `nmtcore show`."""

import argparse
import sys
from pathlib import Path

from nmtcore.cli.options import load_chosen_model, model_command, positive_number
from nmtcore.cli.streams import standard_input, write_output

SENTENCES = 20
"""Sentences that a page shows without `--limit`."""


def add_show(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = model_command(
        commands,
        "show",
        _run_show,
        help="Write a page with trees, translations, tags, gates and attention: nmtcore show MODEL < in > page.html",
    )
    command.add_argument(
        "--treebank",
        type=Path,
        metavar="FILE",
        help="show the sentences and the gold trees of this CoNLL-U file instead of standard input",
    )
    command.add_argument(
        "--limit",
        type=positive_number,
        default=SENTENCES,
        metavar="N",
        help="show the first N lines or sentences (default: %(default)s)",
    )


def _run_show(chosen: argparse.Namespace) -> None:
    from nmtcore.errors import UserError
    from nmtcore.inference.analyse import analyse_sentences
    from nmtcore.inference.text import read_text, read_treebank
    from nmtcore.reporting.show_page import show_page

    if sys.stdout.isatty():
        raise UserError("the page is written to standard output: add, for example, > page.html.")
    bundle = load_chosen_model(chosen, observed=True)
    if chosen.treebank is None:
        name, texts = "standard input", (sentence for sentence in read_text(standard_input()) if sentence.text.strip())
    else:
        name, texts = chosen.treebank.name, read_treebank(chosen.treebank)
    model = analyse_sentences(bundle, texts, limit=chosen.limit)
    if not model.sentences:
        raise UserError(f"{chosen.treebank or name} contains no sentences.")
    note = ""
    if next(texts, None) is not None:
        note = f"Only the first {len(model.sentences)} sentences of {name} are shown; --limit N shows others."
        print(f"nmtcore show: {note}", file=sys.stderr)
    page = show_page(model, gold=None if chosen.treebank is None else name, note=note)
    write_output(page)
