"""The command `nmtcore check`."""

import argparse
import sys
from contextlib import chdir
from pathlib import Path

from nmtcore.cli.options import folder_path, positive_number
from nmtcore.errors import escape_controls, explain_os_errors

_HELP = "Look at a data set before hours are spent: nmtcore check DATASET"
_DETAILS = (
    "Says where its files are (nothing is downloaded), what is in those that are on this machine, whether parsers have "
    "their models, and which systems can be planned. The exit status is 1 if something would stop the workflow."
)


def add_check(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("check", help=_HELP, description=f"{_HELP}. {_DETAILS}")
    command.set_defaults(run=_run_check)
    command.add_argument("dataset", metavar="DATASET", help="name of a data set, such as multi30k_cs2en")
    command.add_argument(
        "--folder", type=folder_path, default=Path(), help="working folder, with config/ in it [the current folder]"
    )
    command.add_argument(
        "--mirrors", action="append", default=[], metavar="FOLDER", help="as `mirrors` in config.yaml (may be repeated)"
    )
    command.add_argument(
        "--models", action="append", default=[], metavar="FOLDER", help="as `models` in config.yaml (may be repeated)"
    )
    command.add_argument(
        "--limit", type=positive_number, metavar="N", help="read only the first N pairs of each split [all]"
    )


def _run_check(chosen: argparse.Namespace) -> None:
    from nmtcore.config.own_folder import own_folders, project_of_folder
    from nmtcore.planning.dataset_checks import check_dataset
    from nmtcore.reporting.dataset_report import location_lines, survey_lines, system_lines

    folder, folders = chosen.folder.resolve(), own_folders(mirrors=chosen.mirrors, models=chosen.models)
    with explain_os_errors(chosen.folder), chdir(folder):  # as Snakemake does: folders in config.yaml start there
        project = project_of_folder(folder, **folders)
        for sentence in project.settings.missing_folders:
            print(escape_controls(sentence), file=sys.stderr)
        check = check_dataset(project, chosen.dataset, limit=chosen.limit)
    _show(f"{project.dataset_files[chosen.dataset]}: {check.dataset.description}\n\nFiles:")
    _show("\n".join(location_lines(check.locations, check.dataset)))
    unread = [split for split in check.dataset.splits if split not in check.survey.splits]
    not_here = [f"The text of {', '.join(unread)} was not looked at: it is not all on this machine."] if unread else []
    _show("\nText:", *survey_lines(check.survey), *not_here)
    _show("\nParsers:", *(f"{name}: {state}" for name, (state, _) in check.annotators.items()))
    total = len(project.system_entries)
    _show("\nSystems:", *system_lines(check.planned, check.missing, total=total, scale=project.settings.scale))
    if not check.faults:
        _show("\nNothing here would stop the workflow.")
        return
    _show("\nThis would stop the workflow, or the systems that need it:", *check.faults)
    sys.exit(1)


def _show(heading: str, *lines: str) -> None:
    """Print lines, some of them from other people's data sets, with control characters escaped."""
    print(escape_controls("\n  ".join((heading, *lines))))
