"""The command `nmtcore logprob`."""

import argparse
import sys
from pathlib import Path

from nmtcore.cli.options import annotator_folders, device_name, model_command
from nmtcore.cli.streams import write_output

_DETAILS = (
    "Output: a line with the names of the columns, then a line per pair, separated by tabs: log_probability (natural "
    "logarithm of p(target | source), the sum over the target's subwords and </s>), per_token (divided by tokens), "
    "tokens (subwords and </s>), unknown (subwords that the vocabulary lacks, scored as <unk>). A pair whose source "
    "has no words has empty columns."
)
_HEADER = "log_probability\tper_token\ttokens\tunknown\n"


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
    from nmtcore.errors import explain_os_errors
    from nmtcore.inference.bundle import load_bundle
    from nmtcore.inference.scoring import score_text_pairs
    from nmtcore.inference.text import read_text

    bundle = load_bundle(chosen.model, device_name(chosen.device))
    lines = unknown = without_words = 0
    with explain_os_errors(chosen.source), open(chosen.source, "rb") as source, open(chosen.target, "rb") as target:
        texts = read_text(source, where=str(chosen.source)), read_text(target, where=str(chosen.target))
        scores = score_text_pairs(bundle, *texts, model_folders=annotator_folders(chosen, bundle))
        for score in scores:
            if not lines:
                write_output(_HEADER)
            lines += 1
            if score is None:
                without_words += 1
                write_output("\t\t\t\n")
                continue
            unknown += score.unknown > 0
            write_output(f"{score.log_probability:.6f}\t{score.per_token:.6f}\t{score.tokens}\t{score.unknown}\n")
    if not lines:
        write_output(_HEADER)
    if without_words:
        print(f"{chosen.source}: {without_words:,} of {lines:,} lines have no words, so no score.", file=sys.stderr)
    if unknown:
        message = f"{chosen.target}: {unknown:,} of {lines:,} lines have subwords that the vocabulary lacks"
        print(f"{message}, scored as <unk>.", file=sys.stderr)
