"""The command `nmtcore schema`."""

import argparse
from pathlib import Path


def add_schema(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    description = "Write the JSON Schemas of all configuration files, with which editors complete and check them."
    command = commands.add_parser("schema", help=description, description=description)
    command.set_defaults(run=_run_schema)
    command.add_argument(
        "folder",
        metavar="FOLDER",
        type=Path,
        nargs="?",
        default=Path("config/schemas"),
        help="the folder to write them to (default: %(default)s)",
    )
    command.add_argument("--readme", type=Path, metavar="FILE", help="also update the marked tables of a Markdown file")


def _run_schema(chosen: argparse.Namespace) -> None:
    from nmtcore.config.schema_files import write_schemas
    from nmtcore.config.settings_tables import update_tables

    for path in write_schemas(chosen.folder):
        print(path)
    if chosen.readme is not None:
        update_tables(chosen.readme)
        print(chosen.readme)
