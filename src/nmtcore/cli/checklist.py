"""The command `nmtcore checklist`."""

import argparse
import sys
from pathlib import Path

from nmtcore.cli.streams import write_output

_HELP = "Answer the ACL reproducibility checklist from the manifests of runs: nmtcore checklist RESULTS > answers.md"


def add_checklist(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("checklist", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_checklist)
    command.add_argument("folder", metavar="RESULTS", type=Path, help="a results folder, or a folder in it")


def _run_checklist(chosen: argparse.Namespace) -> None:
    from nmtcore.reporting.checklist import checklist
    from nmtcore.reporting.manifest_files import outdated_manifests, read_manifests

    manifests = read_manifests(chosen.folder)
    for path in outdated_manifests(chosen.folder):
        print(
            f"{path} says that the run was interrupted, but scores lie beside it, which the answers lack: unless it "
            "trains again now, `snakemake --cores 1 results/runs.parquet` brings the manifest up to date.",
            file=sys.stderr,
        )
    write_output(checklist(manifests))
