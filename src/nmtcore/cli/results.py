"""The command `nmtcore results`."""

import argparse
from pathlib import Path

from nmtcore.cli.streams import write_output

_HELP = "List the scores of a results folder, each system beside the baseline: nmtcore results FOLDER"


def add_results(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("results", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_results)
    command.add_argument("folder", metavar="FOLDER", type=Path, help="a results folder")
    command.add_argument(
        "--baseline",
        default="transformer_base",
        metavar="SYSTEM",
        help="the system that the others are compared with (default: %(default)s)",
    )
    command.add_argument("--all", action="store_true", help="all splits and scores, without comparisons")


def _run_results(chosen: argparse.Namespace) -> None:
    from nmtcore.reporting.listings import results_listing

    write_output(results_listing(chosen.folder, baseline=chosen.baseline, every=chosen.all))
