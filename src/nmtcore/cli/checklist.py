"""The command `nmtcore checklist`."""

import argparse
import sys
from pathlib import Path

_HELP = "Answer the ACL reproducibility checklist from the manifests of runs: nmtcore checklist RESULTS > answers.md"


def add_checklist(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("checklist", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_checklist)
    command.add_argument("folder", metavar="RESULTS", type=Path, help="a results folder, or a folder in it")


def _run_checklist(chosen: argparse.Namespace) -> None:
    from nmtcore.reporting.checklist import checklist
    from nmtcore.reporting.manifest_files import read_manifests

    sys.stdout.buffer.write(checklist(read_manifests(chosen.folder)).encode("utf-8"))
