"""The command `nmtcore logprob`."""

import argparse
import sys
from pathlib import Path

from nmtcore.cli.options import load_chosen_model, model_command
from nmtcore.cli.streams import write_output
from nmtcore.errors import explain_os_errors

_DETAILS = (
    "Output: a line with the names of the columns, then a line per pair, separated by tabs: log_probability (natural "
    "logarithm of p(target | source), the sum over the target's subwords and </s>), per_token (divided by tokens), "
    "tokens (subwords and </s>), unknown (subwords that the vocabulary lacks, scored as <unk>). A pair whose source "
    "has no words has empty columns."
)


def add_logprob(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = model_command(
        commands,
        "logprob",
        _run_logprob,
        help="Compute the log-probability of given translations: nmtcore logprob MODEL SOURCE TARGET > out.tsv",
    )
    command.epilog = _DETAILS
    command.add_argument("source", metavar="SOURCE", type=Path, help="a file of sentences, one per line")
    command.add_argument("target", metavar="TARGET", type=Path, help="their translations, one per line")


def _run_logprob(chosen: argparse.Namespace) -> None:
    from nmtcore.inference.scoring import score_text_pairs
    from nmtcore.inference.text import read_text

    bundle = load_chosen_model(chosen)
    unknown = without_words = 0
    with explain_os_errors(chosen.source), open(chosen.source, "rb") as source, open(chosen.target, "rb") as target:
        texts = read_text(source, where=str(chosen.source)), read_text(target, where=str(chosen.target))
        header = "log_probability\tper_token\ttokens\tunknown\n"
        for score in score_text_pairs(bundle, *texts):
            row = "\t\t\t"
            if score is not None:
                total, tokens, unknown_tokens = score
                row = f"{total:.6f}\t{total / tokens:.6f}\t{tokens}\t{unknown_tokens}"
                unknown += score.unknown > 0
            without_words += score is None
            write_output(f"{header}{row}\n")
            header = ""
        write_output(header)  # of no lines
    if without_words:
        print(f"{chosen.source}: lines without words, so without a score: {without_words:,}.", file=sys.stderr)
    if unknown:
        message = f"lines with subwords that the vocabulary lacks, scored as <unk>: {unknown:,}"
        print(f"{chosen.target}: {message}.", file=sys.stderr)
