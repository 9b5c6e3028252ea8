"""The command `nmtcore results`."""

import argparse
from pathlib import Path

from nmtcore.cli.streams import write_output

_HELP = "List the scores of a results folder, each system beside another one: nmtcore results FOLDER"


def add_results(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("results", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_results)
    command.add_argument("folder", metavar="FOLDER", type=Path, help="a results folder")
    command.add_argument(
        "--baseline",
        metavar="SYSTEM",
        help="the system that all others are compared with [what the entry of each is `compared_with`]",
    )
    command.add_argument("--all", action="store_true", help="all splits and scores, without comparisons")


def _run_results(chosen: argparse.Namespace) -> None:
    from nmtcore.config.project import project_of_folder
    from nmtcore.reporting.listings import results_listing

    folder, baseline = chosen.folder, chosen.baseline
    project = None if baseline or chosen.all else project_of_folder(folder.resolve().parent)

    def compared_with(system: str) -> str | None:
        """Return the chosen baseline or, without one, the system that the entry of this one names, if it has one."""
        if project is None:
            return None if system == baseline else baseline
        return project.compared_with(system) if system in project.system_entries else None

    write_output(results_listing(folder, compared_with=compared_with, every=chosen.all))
