"""The command `nmtcore checklist`."""

import argparse
from pathlib import Path

from nmtcore.cli.streams import write_output

_HELP = "Answer the ACL reproducibility checklist from the runs of a folder: nmtcore checklist RESULTS > answers.md"


def add_checklist(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("checklist", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_checklist)
    command.add_argument("folder", metavar="RESULTS", type=Path, help="a results folder")


def _run_checklist(chosen: argparse.Namespace) -> None:
    from nmtcore.layout import Layout
    from nmtcore.reporting.checklist import checklist

    write_output(checklist(Layout(results=str(chosen.folder))))
