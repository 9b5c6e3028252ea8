"""Checkpoints, each of them complete or absent, and the weights with which a run ends.

A checkpoint is one file, `{update}-{sha256}.safetensors`: the weights, the optimiser's tensors and, as the file's
metadata, the training state. Its name has the first digits of its checksum. A folder of checkpoints belongs to one
fingerprint of settings and data, so that training never resumes from a checkpoint of others.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from nmtcore.config.depends import training_settings
from nmtcore.config.recorded import SAME_SETTINGS, differences
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.files import atomic_folder, read_json, sync_file, write_json
from nmtcore.training.optimiser import Adam
from nmtcore.training.state import TrainingState

VERSION = 2
"""To be raised when a change of the code would make old checkpoints resume differently, or not at all."""

KEPT = 2
"""How many of the newest checkpoints are kept, in addition to those that they refer to."""

_DIGITS = 16
"""Hexadecimal digits of a checkpoint's checksum in its name."""


class Checkpoints:
    """The checkpoints of one run in one folder; only one process at a time may write there (see lock.py)."""

    def __init__(self, folder: Path, *, log: Callable[[str], None] = print) -> None:
        self.folder = folder
        self._log = log

    def paths(self) -> dict[int, Path]:
        """Return the file of each update that has a checkpoint, oldest first."""
        files = sorted(self.folder.glob("*-*.safetensors"))
        return {int(path.stem.partition("-")[0]): path for path in files if re.fullmatch(r"\d+-[0-9a-f]+", path.stem)}

    def save(self, state: TrainingState, model: nn.Module, optimiser: Adam) -> None:
        """Write a checkpoint, then delete those that none of the newest `KEPT` refers to."""
        tensors = {f"model/{name}": tensor.detach() for name, tensor in named_weights(model)}
        tensors |= {f"optimiser/{name}": tensor for name, tensor in optimiser.tensors().items()}
        before = self.paths().get(state.update)
        with atomic_folder(self.folder / "checkpoint") as temporary:
            written = temporary / "checkpoint.safetensors"
            save_tensors(tensors, written, metadata={"state": json.dumps(state.to_json())})
            name = f"{state.update:08d}-{_hash_file(written)[:_DIGITS]}.safetensors"
            os.replace(written, self.folder / name)
        if before is not None and before.name != name:
            before.unlink()
        self.prune()

    def newest(self) -> int | None:
        """Return the update of the newest checkpoint that is complete with all that it refers to; None without any.

        Delete damaged checkpoints and those that refer to them, each with a message to `log`, and the incomplete files
        of a killed process.
        """
        for path in self.folder.glob(".*.partial"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        states: dict[int, TrainingState] = {}
        for update, path in self.paths().items():
            try:
                states[update] = self.state(update)
            except UserError as error:
                self._log(f"{error} Going back to the checkpoint before it.")
                path.unlink()
        for update in reversed(states):
            missing = states[update].needs() - states.keys()
            if not missing:
                return update
            path = self.paths()[update]
            self._log(f"{path} needs that of update {min(missing)}. Going back to the checkpoint before it.")
            path.unlink()
        return None

    def load(self, update: int, model: nn.Module, optimiser: Adam) -> TrainingState:
        """Load a checkpoint into model and optimiser. Raises `UserError` if it is damaged or of another model."""
        state, path = self.state(update), self.paths()[update]
        tensors = load_file(path)
        _set_weights(model, _without_prefix("model/", tensors), path)
        optimiser.restore(_without_prefix("optimiser/", tensors))
        return state

    def load_average(self, model: nn.Module, updates: Sequence[int]) -> None:
        """Load the mean of the weights of some checkpoints into the model; for one checkpoint, its exact weights."""
        sums: dict[str, torch.Tensor] = {}
        for update in updates:
            self.state(update)
            for name, tensor in _without_prefix("model/", load_file(self.paths()[update])).items():
                sums[name] = sums[name] + tensor.double() if name in sums else tensor.double()
        _set_weights(model, {name: total / len(updates) for name, total in sums.items()}, self.folder)

    def prune(self) -> None:
        """Delete the checkpoints that none of the newest `KEPT` refers to."""
        paths = self.paths()
        needed: set[int] = set()
        for update in list(paths)[-KEPT:]:
            needed |= {update} | _read_state(paths[update]).needs()
        for update in paths.keys() - needed:
            paths[update].unlink()

    def state(self, update: int) -> TrainingState:
        """Read a checkpoint's state. Raises `UserError` if the file is missing or damaged."""
        path = self.paths().get(update)
        if path is None:
            raise UserError(f"{self.folder} has no checkpoint of update {update}.")
        if not _hash_file(path).startswith(path.stem.partition("-")[2]):
            raise UserError(f"{path} is damaged (its sha256 differs from the one in its name).")
        return _read_state(path)


def checkpoint_folder(
    root: Path, run: RunSettings, *, data: Sequence[Path], log: Callable[[str], None] = print
) -> Path:
    """Return the folder under `root` for these settings and the files `data`; make it if it is missing.

    If `root` holds only folders of other settings or data, a message to `log` says what has changed.
    """
    description = describe_training(run, data={path.name: _hash_file(path) for path in data})
    folder = root / fingerprint(description)
    if not (folder / "run.json").exists():
        others = sorted(root.glob("*/run.json"), key=lambda path: path.stat().st_mtime)
        if others:
            changed = ", ".join(describe_changes(read_json(others[-1]), description)) or SAME_SETTINGS
            log(
                f"Settings or data changed ({changed}): starting afresh in {folder}; "
                f"earlier checkpoints stay in {others[-1].parent}."
            )
        write_json(folder / "run.json", description)
    return folder


def describe_training(run: RunSettings, *, data: Mapping[str, str]) -> dict[str, Any]:
    """Collect what a fingerprint covers: the settings, the sha256 of each file of data by its name, and `VERSION`."""
    return {"version": VERSION, "data": dict(data), "settings": training_settings(run)}


def fingerprint(description: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits that differ if the descriptions differ."""
    text = json.dumps(description, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def describe_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """List the settings, with old and new values, and the files in which two descriptions differ."""
    files = [f"{line.partition(': ')[0]} is another file" for line in differences(old["data"], new["data"])]
    versions = differences({"version": old["version"]}, {"version": new["version"]})
    return [*versions, *files, *differences(old["settings"], new["settings"])]


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
        sync_file(written)
        os.replace(written, path)


def _read_state(path: Path) -> TrainingState:
    with safe_open(path, "pt") as file:
        return TrainingState.from_json(json.loads(file.metadata()["state"]))


def _set_weights(model: nn.Module, tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    own = dict(named_weights(model))
    if {n: t.shape for n, t in own.items()} != {n: t.shape for n, t in tensors.items()}:
        different = sorted(own.keys() ^ tensors.keys()) or [n for n in own if own[n].shape != tensors[n].shape]
        raise UserError(f"{path} belongs to another model ({different[0]} differs): delete it and train again.")
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(tensors[name])


def _without_prefix(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Select the tensors whose names have a prefix, and remove it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _hash_file(path: Path) -> str:
    with explain_os_errors(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
