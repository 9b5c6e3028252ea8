"""The command `nmtcore import`."""

import argparse
import sys
from pathlib import Path

from nmtcore.cli.options import folder_path

_HELP = "Import a published model of the Marian family (OPUS-MT): nmtcore import FOLDER RUN --source en --target de"


def add_import(commands: argparse._SubParsersAction) -> None:
    """Add the command and its options."""
    command = commands.add_parser("import", help=_HELP, description=_HELP)
    command.set_defaults(run=_run_import)
    command.add_argument("published", metavar="FOLDER", type=folder_path, help="the folder with the model's files")
    command.add_argument("to", metavar="RUN", type=folder_path, help="the folder to write; it must be new")
    command.add_argument("--source", required=True, metavar="CODE", help="the source language, such as en")
    command.add_argument("--target", required=True, metavar="CODE", help="the target language")
    command.add_argument(
        "--code", default="", metavar="CODE", help="the language code before every source, such as '>>fra<<'"
    )
    command.add_argument("--origin", default="", metavar="TEXT", help="where the model comes from, for manifest.json")
    command.add_argument("--licence", default="", metavar="TEXT", help="the model's licence, for manifest.json")


def _run_import(chosen: argparse.Namespace) -> None:
    import tempfile

    from nmtcore.config.imported import published_files, published_settings
    from nmtcore.config.runs import run_from_json
    from nmtcore.config.stages import MANIFESTS
    from nmtcore.errors import UserError
    from nmtcore.files import file_sha256, write_json
    from nmtcore.inference.marian import import_model
    from nmtcore.layout import PAPER, file_name
    from nmtcore.segmentation.learn import copy_model

    folder, to = chosen.published, chosen.to
    if to.is_file() or (to.is_dir() and any(to.iterdir())):
        raise UserError(f"{to} exists: name a new folder to import into, or delete it first.")
    published = published_settings(folder, code=chosen.code)
    files, name = published_files(folder), folder.resolve().name
    said = {"dataset": name, "system": name, "scale": PAPER, "seed": 1}
    languages = {"source": chosen.source, "target": chosen.target}
    without = {"features": {}, "annotators": {}, "components": {}, "evaluation": {}, "tests": ()}
    values = {**said, **languages, **published, **without, "base": "transformer", "imported": name}
    words = {side: {"kind": "moses"} for side in languages}
    run = run_from_json({**values, "words": words, "training": {"max_updates": 1}}, where=str(folder))
    with tempfile.TemporaryDirectory() as segmentation:
        copy_model(files, run.segmentation, Path(segmentation))
        import_model(run, folder, Path(segmentation), to / "model")
    row = {"kind": "model", "name": name, "licence": chosen.licence, "citation": chosen.origin, "url": None}
    rows = [{**row, "file": path.name, "sha256": file_sha256(path)} for path in files]
    data = {"description": chosen.origin, "licence": chosen.licence, "citation": "", **languages, "splits": {}}
    write_json(to / file_name("manifest"), {"format": MANIFESTS, **said, "data": {**data, "files": rows}})
    print(f"{to / 'model'}: imported; nmtcore translate {to / 'model'} < TEXT translates with it", file=sys.stderr)
