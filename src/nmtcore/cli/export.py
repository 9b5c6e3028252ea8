"""The command `nmtcore export`."""

import argparse
import sys
from pathlib import Path

from nmtcore.cli.options import folder_path

_HELP = "Export a trained model, to translate without nmtcore: nmtcore export MODEL --to ctranslate2 FOLDER"


def add_export(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("export", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_export)
    command.add_argument("model", metavar="MODEL", type=Path, help="the model/ folder of a run")
    command.add_argument("--to", choices=["ctranslate2"], required=True, help="the library that is to read the model")
    command.add_argument("folder", metavar="FOLDER", type=folder_path, help="the folder to write; it must be new")


def _run_export(chosen: argparse.Namespace) -> None:
    from nmtcore.inference.export import export_bundle
    from nmtcore.layout import file_name
    from nmtcore.reporting.data_table import licence_entries
    from nmtcore.reporting.manifest import read_manifest

    manifest = read_manifest(chosen.model.resolve().parent / file_name("manifest"))
    rows = None if manifest is None else [{"dataset": manifest["dataset"], **row} for row in manifest["data"]["files"]]
    licences = None if rows is None else licence_entries(rows)
    export_bundle(chosen.model, chosen.folder, licences=licences)
    print(f"{chosen.folder}: exported; {chosen.folder / 'README.md'} says how to use it", file=sys.stderr)
