"""Options that several commands have."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nmtcore.errors import DivergedError, UserError

if TYPE_CHECKING:
    from nmtcore.inference.bundle import Bundle


def model_command(
    commands: argparse._SubParsersAction, name: str, run: Callable[[argparse.Namespace], None], *, help: str
) -> argparse.ArgumentParser:
    """Add a command that uses a trained model, with the options of all such commands."""
    command = commands.add_parser(name, help=help, description=help)
    command.set_defaults(run=partial(_run_and_name_model, run))
    command.add_argument("model", metavar="MODEL", type=Path, help="the model/ folder of a run")
    command.add_argument(
        "--device", default="auto", help="cpu, cuda, cuda:1...; auto (the default): a GPU if there is one"
    )
    command.add_argument(
        "--models",
        type=folder_path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="a folder with the models of annotators, each under its name (may be repeated); default: the folders in "
        "`models`, and the downloads, of config/config.yaml in the working directory, if it exists. Some models are "
        "programs: name only trusted folders, and run the command in a trusted working directory",
    )
    command.add_argument(
        "--parser",
        metavar="SETTINGS",
        help="a parser for new text in place of the one of the model's data set, with the keys that an annotator has "
        "in a data set's file, for example '{tool: spacy, model: NAME}'; for models that were trained on trees that "
        "came with their corpus",
    )
    return command


def _run_and_name_model(run: Callable[[argparse.Namespace], None], chosen: argparse.Namespace) -> None:
    try:
        run(chosen)
    except DivergedError as error:
        raise UserError(f"{chosen.model}: {error}") from error


def load_chosen_model(chosen: argparse.Namespace, *, observed: bool = False) -> "Bundle":
    """Load a command's model, `observed` to record its attention.

    Models of annotators are in the given folders, or else in those of the project in the working directory.
    """
    from nmtcore.api import load
    from nmtcore.config.files import parse_yaml
    from nmtcore.inference.attention import observed as observed_bundle

    parser = chosen.parser and parse_yaml(chosen.parser, where="--parser")
    bundle = load(chosen.model, device=chosen.device, models=chosen.models, parser=parser).bundle
    return observed_bundle(bundle) if observed else bundle


def folder_path(text: str) -> Path:
    """Convert an argument to the path of a folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of a folder is empty (for the working directory, write '.')")
    return Path(text)


def positive_number(text: str) -> int:
    """Convert an argument to a whole number above 0."""
    return whole_number(text, least=1)


def whole_number(text: str, *, least: int = 0) -> int:
    """Convert an argument to a whole number that is not negative."""
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"{text} is less than {least}")
    return number
