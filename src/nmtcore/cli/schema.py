"""The command `nmtcore schema`."""

import argparse
from contextlib import chdir
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
    from nmtcore.config.own_code import OWN_CONFIG
    from nmtcore.config.schema_files import FILES, write_schemas
    from nmtcore.config.settings_tables import update_tables

    folder = chosen.folder.resolve()
    own = folder.parent.parent if folder.parent.name == OWN_CONFIG.name and folder.parent.is_dir() else Path()
    with chdir(own):  # the schemas of a folder's configuration also know its own components, filters...
        write_schemas(folder)
    for name in FILES:
        print(chosen.folder / f"{name}.schema.json")
    if chosen.readme is not None:
        update_tables(chosen.readme)
        print(chosen.readme)
