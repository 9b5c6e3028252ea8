"""No space at writers of packages and commands: one sentence, nothing half-written, the same once there is space."""

import atexit
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import torch
from campaigns.run import WrongOutput
from factories import build_tiny_model, run_settings
from full_disk import largest_file
from inference.tiny import write_bundle

from nmtcore.config.training import TrainingSettings
from nmtcore.errors import UserError
from nmtcore.inference.bundle import save_bundle
from nmtcore.inference.export import export_bundle
from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.state import TrainingState
from nmtcore.training.update import Adam

_inputs: list[Path] = []
"""The folder with what writers read, after `prepare`: `segmentation` and `model`."""


def prepare() -> None:
    """Make what the writers read."""
    folder, owner = Path(mkdtemp(prefix="campaign-disk-")), os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    write_bundle(folder / "model")  # and its segmentation
    _inputs[:] = [folder]


def attempt(random: Random, folder: Path) -> str:
    """Write files that must not be as large (`ulimit -f`), then write them again; compare with writing elsewhere."""
    name, seed = random.choice(sorted(WRITERS)), random.randrange(2**32)
    write, out = WRITERS[name], folder / "out"
    write(folder / "reference", seed)
    expected = written(folder / "reference")
    try:
        with largest_file(random.randrange(max(map(len, expected.values())))):
            write(out, seed)
    except UserError as error:
        if "ulimit" not in str(error) or "\n" in str(error):
            raise WrongOutput(str(error)) from error
    else:
        raise WrongOutput(f"{name} did not notice that there is no space")
    if left := [file for file, data in written(out).items() if expected.get(file) != data]:
        raise WrongOutput(f"{name} left {sorted(left)}")
    write(out, seed)
    if written(out) != expected:
        raise WrongOutput(f"{name} does not write the same once there is space")
    return "clean"


def written(folder: Path) -> dict[str, bytes]:
    """Return all files but locks."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _bundle(folder: Path, seed: int) -> None:
    segmentation = _inputs[0] / "segmentation"
    run = run_settings()
    size = len((segmentation / "source.vocab").read_text().splitlines())
    model = build_tiny_model(run, vocabulary=size, seed=seed)
    save_bundle(folder / "model", run=run, model=model, segmentation=segmentation)


def _checkpoint(folder: Path, seed: int) -> None:
    torch.manual_seed(seed)
    model = torch.nn.Linear(7, 1 + seed % 50)
    optimiser = Adam(dict(model.named_parameters()), TrainingSettings(max_updates=1))
    Checkpoints(folder).save(TrainingState(), model, optimiser)


def _export(folder: Path, seed: int) -> None:
    if not (folder / "exported").exists():
        export_bundle(_inputs[0] / "model", folder / "exported")


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "bundle": _bundle, "checkpoint": _checkpoint, "export": _export
}  # fmt: skip
