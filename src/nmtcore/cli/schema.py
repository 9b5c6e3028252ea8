"""The command `nmtcore schema`."""

import argparse
from contextlib import chdir
from pathlib import Path


def add_schema(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    description = (
        "Say which keys the configuration has and what they mean, or write the JSON Schemas of all configuration "
        "files, with which editors complete and check them."
    )
    command = commands.add_parser("schema", help=description, description=description)
    command.set_defaults(run=_run_schema)
    command.add_argument(
        "keys",
        metavar="KEY",
        nargs="*",
        help="a file or section, or a key below it: config, datasets.splits, training.schedule, components.pascal; "
        "or a key alone, wherever it is: dropout, schedule.peak; without any, the schemas are written",
    )
    command.add_argument(
        "--folder",
        metavar="FOLDER",
        type=Path,
        default=Path("config/schemas"),
        help="the folder to write the schemas to (default: %(default)s)",
    )


def _run_schema(chosen: argparse.Namespace) -> None:
    from nmtcore.config.registry import OWN_CONFIG
    from nmtcore.schemas import FILES, explained, write_schemas

    if chosen.keys:
        print("\n\n".join(map(explained, chosen.keys)))
        return
    folder = chosen.folder.resolve()
    working_folder = (
        folder.parent.parent if folder.parent.name == OWN_CONFIG.name and folder.parent.is_dir() else Path()
    )
    with chdir(working_folder):  # the schemas of a folder's configuration also know its own components, filters...
        write_schemas(folder)
    for name in FILES:
        print(chosen.folder / f"{name}.schema.json")
