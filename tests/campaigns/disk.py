"""No space at every writer: one sentence, nothing half-written, and the same result once there is space."""

import argparse
import atexit
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import numpy as np
import pyarrow as pa
import torch
from campaigns.run import WrongOutput
from corpus.conftest import Bench
from factories import build_tiny_model, run_settings, side
from full_disk import PAGE, can_mount, largest_file, on_small_disk
from inference.tiny import write_bundle

from nmtcore.cli.new import add_new
from nmtcore.config.filters import DuplicatesSettings
from nmtcore.config.schema import write_schemas
from nmtcore.config.stages import FilteringSettings
from nmtcore.config.training import TrainingSettings
from nmtcore.corpus.filters import filter_split
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.features.mapped import map_blocks
from nmtcore.files import write_json, write_lines
from nmtcore.inference.bundle import save_bundle
from nmtcore.inference.export import export_bundle
from nmtcore.parquet import write_rows
from nmtcore.reporting.pages import write_page
from nmtcore.reporting.table import Column, Page, make_table
from nmtcore.training.checkpoints import Checkpoints
from nmtcore.training.log import TrainingLog
from nmtcore.training.state import TrainingState
from nmtcore.training.update import Adam

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])
SMALL_DISKS = 0.5
"""The share of cases with a full disk, where one can be mounted; the others limit the size of files."""
_inputs: list[Path] = []
"""The folder with what writers read, after `prepare`: `segmentation`, `model`, and pairs, many of them equal."""


def prepare() -> None:
    """Make what the writers read."""
    folder, owner = Path(mkdtemp(prefix="campaign-disk-")), os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    write_bundle(folder / "model")  # and its segmentation
    bench = Bench(folder)
    texts = ("".join(f"{side} {row % 700}\n" for row in range(1000)) for side in ("source", "target"))
    bench.read(bench.dataset(bench.plain(*texts)))
    can_mount()
    _inputs[:] = [folder]


def attempt(random: Random, folder: Path) -> str:
    """Write with too little space, then with enough; compare with writing elsewhere."""
    name, seed = random.choice(sorted(WRITERS)), random.randrange(2**32)
    WRITERS[name](folder / "reference", seed)
    expected = written(folder / "reference")
    if can_mount() and random.random() < SMALL_DISKS:
        return _on_small_disk(random, folder, name, seed, expected)
    with largest_file(random.randrange(max(map(len, expected.values())))):
        _refuse(name, folder / "out", seed, expected, "ulimit")
    _write_again(name, folder / "out", seed, expected)
    return "clean"


def _on_small_disk(random: Random, folder: Path, name: str, seed: int, expected: dict[str, bytes]) -> str:
    needed = sum(-(-len(data) // PAGE) for data in expected.values())
    (folder / "disk").mkdir()

    def fill_and_enlarge(enlarge: Callable[[], None]) -> None:
        _refuse(name, folder / "disk/out", seed, expected, "is full: free some space")
        enlarge()
        _write_again(name, folder / "disk/out", seed, expected)

    if fault := on_small_disk(folder / "disk", random.randrange(needed), fill_and_enlarge):
        raise WrongOutput(f"{name}: {fault}")
    return "clean"


def _refuse(name: str, folder: Path, seed: int, expected: dict[str, bytes], advice: str) -> None:
    """Write without enough space."""
    refused = None
    try:
        WRITERS[name](folder, seed)
    except UserError as error:
        refused = str(error)
    if refused is None:
        raise WrongOutput(f"{name} did not notice that there is no space")
    if advice not in refused or "\n" in refused:
        raise WrongOutput(refused)
    left = {file: data for file, data in written(folder).items() if expected.get(file) != data}
    if left and name != "history":  # a log grows by lines, and a cut one is dropped by the next attempt
        raise WrongOutput(f"{name} left {sorted(left)}")


def _write_again(name: str, folder: Path, seed: int, expected: dict[str, bytes]) -> None:
    WRITERS[name](folder, seed)
    if written(folder) != expected:
        raise WrongOutput(f"{name} does not write the same once there is space")


def written(folder: Path) -> dict[str, bytes]:
    """Return all files but those that Python compiles, which have the time in them, and locks."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc" and path.name != "lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _rows(folder: Path, seed: int) -> None:
    draw = Random(seed)
    write_rows(folder / "x.parquet", SCHEMA, ({"id": i, "text": str(draw.random())} for i in range(20_000)))


def _lines(folder: Path, seed: int) -> None:
    write_lines(folder / "x.txt", [str(seed)] * (1 + seed % 5000))


def _json(folder: Path, seed: int) -> None:
    write_json(folder / "x.json", list(range(1 + seed % 5000)))


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


def _history(folder: Path, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    history = TrainingLog(folder)
    try:
        for update in range(1, 2 + seed % 100):
            history.write({"update": update, "seconds": 1.0, "loss": seed})
    finally:
        history.close()


MAPPED = f"train.{'0' * 16}"
"""The folder of mapped examples."""


def _arrays(folder: Path, seed: int) -> None:
    draw = np.random.default_rng(seed)
    lists = [draw.integers(5, 9_000, draw.integers(9)).tolist() for _ in range(1 + seed % 500)]
    examples = Examples(id=np.arange(len(lists)), source=side(lists), target=side(lists))
    map_blocks(folder / MAPPED, lambda: [examples], log=lambda line: None)


def _filtered(folder: Path, seed: int) -> None:
    """Filter pairs."""
    settings = FilteringSettings(languages={"source": "cs", "target": "en"}, filters=(DuplicatesSettings(),))
    filter_split(
        settings, dataset="bench", raw=_inputs[0] / "raw/train.parquet", other_raws={},
        output=folder / "train.parquet", report=folder / "train.json", processes=1,
    )  # fmt: skip


def _page(folder: Path, seed: int) -> None:
    rows = [[f"system {row}", str(seed)] for row in range(1 + seed % 200)]
    table = make_table([Column(name="system"), Column(name="score")], rows)
    write_page(Page(title="Scores", blocks=(table,)), folder / "x.md")


def _export(folder: Path, seed: int) -> None:
    if not (folder / "exported").exists():
        export_bundle(_inputs[0] / "model", folder / "exported")


def _component(folder: Path, seed: int) -> None:
    """Call `nmtcore new component`."""
    parser = argparse.ArgumentParser()
    add_new(parser.add_subparsers())
    chosen = parser.parse_args(["new", "component", f"vector_{seed}", "--folder", str(folder)])
    chosen.run(chosen)


def _schemas(folder: Path, seed: int) -> None:
    write_schemas(folder)


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "parquet": _rows, "lines": _lines, "json": _json, "bundle": _bundle, "checkpoint": _checkpoint, "history": _history,
    "arrays": _arrays, "filtered": _filtered, "page": _page, "export": _export, "component": _component,
    "schemas": _schemas,
}  # fmt: skip
