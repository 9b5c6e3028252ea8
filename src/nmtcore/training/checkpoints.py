"""Checkpoints, each of them complete or absent, and the weights with which a run ends.

A checkpoint is one file, `{update}-{sha256}.safetensors`: the weights, the optimiser's tensors and, as the file's
metadata, the training state. Its name has the first digits of its checksum. The name of a folder of checkpoints is a
checksum of settings and data, so that training never resumes from a checkpoint of others.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from nmtcore.config.runs import RunSettings, differences, training_settings
from nmtcore.errors import UserError
from nmtcore.files import atomic_folder, file_sha256, read_json, sync_file, write_json
from nmtcore.training.state import TrainingState
from nmtcore.training.update import Adam

VERSION = 5
"""To be raised when a change of the code would make old checkpoints resume differently, or not at all."""

KEPT = 2
"""How many of the newest checkpoints are kept, in addition to those that they refer to."""


class Checkpoints:
    """The checkpoints of one run in one folder; only one process at a time may write there (see lock.py)."""

    def __init__(self, folder: Path, *, log: Callable[[str], None] = print) -> None:
        self.folder = folder
        self._log = log
        self._needed: set[int] = set()
        """The updates that the last checkpoint which was saved or loaded refers to."""

    def paths(self) -> dict[int, Path]:
        """Return the file of each update that has a checkpoint, oldest first."""
        return {int(path.name.partition("-")[0]): path for path in sorted(self.folder.glob("*-*.safetensors"))}

    def save(self, state: TrainingState, model: nn.Module, optimiser: Adam) -> None:
        """Write a checkpoint; then delete those but the newest `KEPT` to which neither it nor the last one refers."""
        tensors = {f"model/{name}": tensor.detach() for name, tensor in named_weights(model)}
        tensors |= {f"optimiser/{name}": tensor for name, tensor in optimiser.tensors().items()}
        written = self.folder / "checkpoint.safetensors"
        save_tensors(tensors, written, metadata={"state": json.dumps(asdict(state))})
        name = f"{state.update:08d}-{_checksum(written)}.safetensors"
        replaced = self.paths().get(state.update)
        os.replace(written, self.folder / name)
        if replaced is not None and replaced.name != name:
            replaced.unlink()
        needed = {*list(self.paths())[-KEPT:], *state.needs(), *self._needed}
        for update, other in self.paths().items():
            if update not in needed:
                other.unlink()
        self._needed = state.needs()

    def newest(self) -> int | None:
        """Return the update of the newest checkpoint that is whole, as is all that it refers to; None without any.

        Delete newer ones, each with a message to `log`.
        """
        for update, path in reversed(self.paths().items()):
            try:
                for needed in self.state(update).needs():
                    self.state(needed)
                return update
            except UserError as error:
                self._log(f"{error} Going back to the checkpoint before update {update}.")
                path.unlink()
        return None

    def load(self, update: int, model: nn.Module, optimiser: Adam) -> TrainingState:
        """Load a checkpoint into model and optimiser."""
        state, tensors = self.state(update), load_file(self.paths()[update])
        set_weights(model, _without_prefix("model/", tensors))
        optimiser.restore(_without_prefix("optimiser/", tensors))
        self._needed = state.needs()
        return state

    def load_average(self, model: nn.Module, updates: Sequence[int]) -> None:
        """Load the mean of the weights of some checkpoints into the model; for one checkpoint, its exact weights."""
        sums: dict[str, torch.Tensor] = {}
        for update in updates:
            self.state(update)
            for name, tensor in _without_prefix("model/", load_file(self.paths()[update])).items():
                sums[name] = sums[name] + tensor.double() if name in sums else tensor.double()
        set_weights(model, {name: total / len(updates) for name, total in sums.items()})

    def state(self, update: int) -> TrainingState:
        """Read a checkpoint's state. Raises `UserError` if the file is missing or damaged."""
        path = self.paths().get(update)
        if path is None:
            raise UserError(f"{self.folder} has no checkpoint of update {update}.")
        if _checksum(path) != path.stem.partition("-")[2]:
            raise UserError(f"{path} is damaged (its sha256 differs from the one in its name).")
        with safe_open(path, "pt") as file:
            return TrainingState(**json.loads(file.metadata()["state"]))


def checkpoint_folder(
    root: Path, run: RunSettings, *, data: Sequence[Path], log: Callable[[str], None] = print
) -> Path:
    """Return the folder under `root` for these settings and the files `data`; make it if it is missing.

    If `root` holds only folders of other settings, data or versions, a message to `log` says what has changed.
    """
    sums = {path.name: _checksum(path) for path in sorted(data, key=lambda path: path.name)}
    description = {"version": VERSION, "data": sums, "settings": training_settings(run)}
    folder = root / hashlib.sha256(json.dumps(description, ensure_ascii=False).encode()).hexdigest()[:16]
    if not (folder / "run.json").exists():
        others = sorted(root.glob("*/run.json"), key=lambda path: path.stat().st_mtime)
        if others:
            changed = _what_changed(others[-1], description)
            log(f"{changed}: starting afresh in {folder}; earlier checkpoints stay in {others[-1].parent}.")
        write_json(folder / "run.json", description)
    return folder


def _what_changed(path: Path, new: Mapping[str, Any]) -> str:
    """Say what differs between the description at `path` and `new`: the version, files, or settings with values."""
    old = read_json(path, advice="delete its folder")
    if old.get("version") != VERSION:
        return f"The earlier checkpoints are of another version of the training code than {VERSION}"
    files = [f"{line.partition(': ')[0]} is another file" for line in differences(old["data"], new["data"])]
    return f"Settings or data changed ({', '.join([*files, *differences(old['settings'], new['settings'])])})"


def named_weights(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the name and tensor of every parameter and saved buffer; a tied one appears once, under its first name."""
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield name, tensor


def save_tensors(tensors: Mapping[str, torch.Tensor], path: Path, *, metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors as safetensors, completely or not at all. Raises `UserError` if the disk is full."""
    with atomic_folder(path) as folder:
        # A process that is killed leaves safetensors' own temporary file in this folder, which is deleted with it.
        written = folder / path.name
        try:
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, written, metadata)
        except SafetensorError as error:
            number = re.search(r"os error ([0-9]+)", str(error))
            if number is None:
                raise
            raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error
        written.chmod(folder.stat().st_mode & 0o666)  # as any other new file: safetensors lets only its owner read it
        sync_file(written)
        os.replace(written, path)


def set_weights(model: nn.Module, tensors: Mapping[str, torch.Tensor]) -> None:
    """Copy tensors, by the names of `named_weights`, into a model."""
    with torch.no_grad():
        for name, tensor in named_weights(model):
            tensor.copy_(tensors[name])


def _without_prefix(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Select the tensors whose names have a prefix, and remove it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _checksum(path: Path) -> str:
    """Return the first 16 hexadecimal digits of a file's sha256."""
    return file_sha256(path)[:16]
