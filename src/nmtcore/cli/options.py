"""Options that several commands have."""

import argparse
from collections.abc import Callable, Sequence
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
    return command


def _run_and_name_model(run: Callable[[argparse.Namespace], None], chosen: argparse.Namespace) -> None:
    try:
        run(chosen)
    except DivergedError as error:
        raise UserError(f"{chosen.model}: {error}") from error


def load_chosen_model(chosen: argparse.Namespace, *, observed: bool = False) -> tuple["Bundle", Sequence[Path]]:
    """Load a command's model, `observed` to record its attention, and name the folders with annotators' models.

    The folders are the given ones, or those of the project in the working directory if the model needs annotators.
    """
    from nmtcore.inference.attention import load_observed_bundle
    from nmtcore.inference.bundle import load_bundle
    from nmtcore.model.device import choose_device

    bundle = (load_observed_bundle if observed else load_bundle)(chosen.model, choose_device(chosen.device))
    if chosen.models or not bundle.run.inference_features["source"]:
        return bundle, chosen.models
    from nmtcore.config.own_folder import project_model_folders

    return bundle, project_model_folders(chosen.model)


def folder_path(text: str) -> Path:
    """Convert an argument to the path of a folder."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of a folder is empty (for the working directory, write '.')")
    return Path(text)


def positive_number(text: str) -> int:
    """Convert an argument to a whole number above 0."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number
