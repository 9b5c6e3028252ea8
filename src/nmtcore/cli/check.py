"""The command `nmtcore check`."""

import argparse
import sys
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.cli.options import folder_path, positive_number
from nmtcore.errors import UserError, escape_controls, explain_os_errors

if TYPE_CHECKING:
    from nmtcore.config.project import Project

_HELP = "Look at a data set, or at the settings of a run, before hours are spent: nmtcore check DATASET"
_DETAILS = (
    "Says where its files are (nothing is downloaded), what is in those that are on this machine, whether parsers have "
    "their models, and which systems can be planned. The exit status is 1 if something would stop the workflow. For a "
    "run, SCALE/DATASET/SYSTEM, it prints the settings, each with the file and line that decide it and the values "
    "that this replaces, and what is assumed where a paper leaves it open."
)


def add_check(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("check", help=_HELP, description=f"{_HELP}. {_DETAILS}")
    command.set_defaults(run=_run_check)
    command.add_argument(
        "dataset", metavar="DATASET", help="a data set (multi30k_cs2en), or a run (small/demo_en2de/pascal)"
    )
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
    from nmtcore.config.project import own_folders, project_of_folder
    from nmtcore.new.dataset_checks import check_dataset
    from nmtcore.new.dataset_report import location_lines, survey_lines, system_lines

    folder, folders = chosen.folder.resolve(), own_folders(mirrors=chosen.mirrors, models=chosen.models)
    with explain_os_errors(chosen.folder), chdir(folder):  # as Snakemake does: folders in config.yaml start there
        project = project_of_folder(folder, **folders)
        for sentence in project.settings.missing_folders:
            print(escape_controls(sentence), file=sys.stderr)
        if "/" in chosen.dataset:
            _show_run(project, chosen.dataset, folder)
            return
        check = check_dataset(project, chosen.dataset, limit=chosen.limit)
    target = f"{project.layout.root(project.settings.scale)}/{check.dataset.name}/SYSTEM.bleu"
    unread = [split for split in check.dataset.splits if split not in check.survey.splits]
    not_here = [f"The text of {', '.join(unread)} was not looked at: it is not all on this machine."] if unread else []
    systems = system_lines(check.planned, check.missing, total=len(project.system_entries), target=target)
    _show(f"{project.dataset_files[chosen.dataset]}: {check.dataset.description}")
    _show("Files: " + "\n".join(location_lines(check.locations, check.dataset)))
    _show("Text:", *survey_lines(check.survey), *not_here)
    parsers = [f"{name}: {state}" for name, (state, _) in check.annotators.items()]
    _show("Parsers:" + " none" * (not parsers), *parsers)
    if check.dataset.is_treebank:
        _show("Systems: none, as it is a treebank alone; ask for results/tables/parsers.md")
    else:
        _show(f"Systems at the scale {project.settings.scale}: {systems[0]}", *systems[1:])
    if not check.faults:
        _show("Nothing here would stop the workflow.")
        return
    _show("\nThis would stop the workflow, or the systems that need it:", *check.faults)
    sys.exit(1)


def _show_run(project: "Project", name: str, folder: Path) -> None:
    """Print the settings of a run, each with the file that decides it, and what is assumed."""
    from nmtcore.new.deciding_files import assumed_lines, shown_settings
    from nmtcore.tables.pages import terminal_table

    if name.count("/") != 2:
        raise UserError(f"{name} is no run: write SCALE/DATASET/SYSTEM, such as small/demo_en2de/pascal.")
    scale, dataset, system = name.split("/")
    project.scale_files.check(scale, where=name)
    project.dataset_files.check(dataset, where=name)
    run = project.run(dataset, system, scale, project.settings.seeds[0])
    rows = shown_settings(project, run, folder)
    _show(terminal_table(["setting", "value", "decided by", "in place of"], rows, text=4))
    if assumed := assumed_lines(project, run, folder):
        _show("\nAssumed, where a paper leaves it open:", *assumed)


def _show(heading: str, *lines: str) -> None:
    """Print lines, some of them from other people's data sets, with control characters escaped."""
    print(escape_controls("\n  ".join((heading, *lines))))
