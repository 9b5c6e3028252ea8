"""No space at every writer: one sentence, nothing half-written, and the same result once there is space."""

import resource
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow as pa
import torch
from campaigns.run import WrongOutput
from factories import build_tiny_model, run_settings
from inference.tiny import write_segmentation

from nmtcore.config.training import TrainingSettings
from nmtcore.errors import UserError
from nmtcore.files import write_json, write_lines
from nmtcore.inference.bundle import save_bundle
from nmtcore.parquet import write_rows
from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.history import History
from nmtcore.training.optimiser import Adam
from nmtcore.training.state import TrainingState

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])


def attempt(random: Random, folder: Path) -> str:
    """Write with a limit on the size of files, then without; compare with writing elsewhere."""
    name = random.choice(sorted(WRITERS))
    seed = random.randrange(2**32)
    WRITERS[name](folder / "reference", seed)
    expected = written(folder / "reference")
    largest = max(len(data) for data in expected.values())
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (random.randrange(largest), allowed[1]))
    refused = None
    try:
        WRITERS[name](folder / "out", seed)
    except UserError as error:
        refused = str(error)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    if refused is None:
        raise WrongOutput(f"{name} did not notice that there is no space")
    if "ulimit" not in refused:
        raise WrongOutput(refused)
    left = {file: data for file, data in written(folder / "out").items() if expected.get(file) != data}
    if left and name != "history":  # a log grows by lines, and a cut one is dropped by the next attempt
        raise WrongOutput(f"{name} left {sorted(left)}")
    WRITERS[name](folder / "out", seed)
    if written(folder / "out") != expected:
        raise WrongOutput(f"{name} does not write the same once there is space")
    return "clean"


def written(folder: Path) -> dict[str, bytes]:
    """Return all files but TensorBoard's, which have the time in them."""
    files = (path for path in folder.rglob("*") if path.is_file() and "tfevents" not in path.name)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _rows(folder: Path, seed: int) -> None:
    draw = Random(seed)
    write_rows(folder / "x.parquet", SCHEMA, ({"id": i, "text": str(draw.random())} for i in range(20_000)))


def _lines(folder: Path, seed: int) -> None:
    write_lines(folder / "x.txt", [str(seed)] * (1 + seed % 5000))


def _json(folder: Path, seed: int) -> None:
    write_json(folder / "x.json", list(range(1 + seed % 5000)))


def _bundle(folder: Path, seed: int) -> None:
    segmentation = write_segmentation(folder.parent / "segmentation")
    run = run_settings()
    size = len((segmentation / "source.vocab").read_text().splitlines())
    model = build_tiny_model(run, vocabulary=size, seed=seed)
    save_bundle(folder / "model", run=run, model=model, segmentation=segmentation)


def _checkpoint(folder: Path, seed: int) -> None:
    torch.manual_seed(seed)
    model = torch.nn.Linear(7, 1 + seed % 50)
    optimiser = Adam(dict(model.named_parameters()), TrainingSettings(max_updates=1))
    Checkpoints(folder).save(TrainingState(), model, optimiser)


def _history(folder: Path, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    history = History(folder, update=0)
    try:
        for update in range(1, 2 + seed % 100):
            history.write({"update": update, "seconds": 1.0, "loss": seed})
    finally:
        history.close()


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "parquet": _rows, "lines": _lines, "json": _json, "bundle": _bundle, "checkpoint": _checkpoint, "history": _history,
}  # fmt: skip
