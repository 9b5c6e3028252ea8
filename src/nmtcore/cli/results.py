"""The command `nmtcore results`."""

import argparse
from pathlib import Path

from nmtcore.cli.streams import write_output

_HELP = "List all scores of a results folder, of every scale, data set, system and seed: nmtcore results FOLDER"


def add_results(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("results", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_results)
    command.add_argument("folder", metavar="FOLDER", type=Path, help="a results folder, or a folder in it")


def _run_results(chosen: argparse.Namespace) -> None:
    from nmtcore.reporting.results_listing import results_listing

    write_output(results_listing(chosen.folder))
