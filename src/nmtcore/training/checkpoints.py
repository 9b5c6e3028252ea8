"""Checkpoints, each of them complete or absent, and the weights with which a run ends.

A checkpoint is two files: `{update}.safetensors` with the weights and the optimiser's tensors, and `{update}.json`,
written after it, with the training state and the sha256 of both. A checkpoint without a matching JSON file does not
count.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from nmtcore.errors import UserError, explain_os_errors, shortened
from nmtcore.files import atomic_folder, read_json, sync_file, write_json
from nmtcore.training.optimiser import Adam
from nmtcore.training.state import TrainingState

KEPT = 2
"""How many of the newest checkpoints are kept, in addition to those that they refer to."""


class Checkpoints:
    """The checkpoints of one run in one folder; only one process at a time may write there (see lock.py)."""

    def __init__(self, folder: Path, *, log: Callable[[str], None] = print) -> None:
        self.folder = folder
        self._log = log

    def updates(self) -> list[int]:
        """List the updates that have a checkpoint, oldest first."""
        return sorted(int(path.stem) for path in self.folder.glob("*.json") if path.stem.isdigit())

    def save(self, state: TrainingState, model: nn.Module, optimiser: Adam) -> None:
        """Write a checkpoint, then delete those that none of the newest `KEPT` refers to."""
        tensors = {f"model/{name}": tensor.detach() for name, tensor in named_weights(model)}
        tensors |= {f"optimiser/{name}": tensor for name, tensor in optimiser.tensors().items()}
        path = self._tensor_path(state.update)
        save_tensors(tensors, path)
        values = json.loads(json.dumps(state.to_json()))
        content = {"sha256": _file_sha256(path), "state_sha256": _values_sha256(values), "state": values}
        write_json(self._state_path(state.update), content)
        self.prune()

    def newest(self) -> int | None:
        """Return the update of the newest checkpoint that is complete with all that it refers to; None without any.

        Delete damaged checkpoints and those that refer to them, each with a message to `log`, and the incomplete files
        of a killed process.
        """
        self._delete_incomplete_files()
        states: dict[int, TrainingState] = {}
        for update in self.updates():
            try:
                states[update] = self._read_state(update)
            except UserError as error:
                self._log(f"{error} Going back to the checkpoint before it.")
                self._delete(update)
        for update in reversed(states):
            missing = states[update].needs() - states.keys()
            if not missing:
                return update
            needed = self._tensor_path(min(missing))
            self._log(f"{self._state_path(update)} needs {needed}. Going back to the checkpoint before it.")
            self._delete(update)
        return None

    def load(self, update: int, model: nn.Module, optimiser: Adam) -> TrainingState:
        """Load a checkpoint into model and optimiser. Raises `UserError` if it is damaged or of another model."""
        state = self._read_state(update)
        tensors = load_file(self._tensor_path(update))
        _set_weights(model, _without_prefix("model/", tensors), self._tensor_path(update))
        optimiser.restore(_without_prefix("optimiser/", tensors))
        return state

    def load_average(self, model: nn.Module, updates: Iterable[int]) -> None:
        """Load the mean of the weights of some checkpoints into the model; for one checkpoint, its exact weights."""
        sums: dict[str, torch.Tensor] = {}
        dtypes: dict[str, torch.dtype] = {}
        count = 0
        for update in updates:
            self._read_state(update)
            for name, tensor in _without_prefix("model/", load_file(self._tensor_path(update))).items():
                dtypes[name] = tensor.dtype
                sums[name] = sums[name] + tensor.double() if name in sums else tensor.double()
            count += 1
        mean = {name: (total / count).to(dtypes[name]) for name, total in sums.items()}
        _set_weights(model, mean, self.folder)

    def prune(self) -> None:
        """Delete the checkpoints that none of the newest `KEPT` refers to."""
        updates = self.updates()
        needed: set[int] = set()
        for update in updates[-KEPT:]:
            needed |= {update} | TrainingState.from_json(read_json(self._state_path(update))["state"]).needs()
        for update in updates:
            if update not in needed:
                self._delete(update)

    def _delete_incomplete_files(self) -> None:
        for path in self.folder.glob(".*.partial"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in self.folder.glob("*.safetensors"):
            if not path.with_suffix(".json").exists():
                path.unlink()

    def _read_state(self, update: int) -> TrainingState:
        """Read a checkpoint's state. Raises `UserError` if the state or the tensors are damaged."""
        path = self._tensor_path(update)
        content = read_json(self._state_path(update))
        with explain_os_errors(path):
            digest = _file_sha256(path)
        try:
            state = TrainingState.from_json(content["state"])
            recorded, values_recorded = content["sha256"], content.get("state_sha256")
        except (KeyError, TypeError) as error:
            raise UserError(f"{self._state_path(update)} is damaged ({shortened(str(error))}).") from error
        # Earlier versions recorded no sum of the state.
        if values_recorded not in (None, _values_sha256(content["state"])) or state.update != update:
            raise UserError(f"{self._state_path(update)} is damaged (its sha256 differs from the recorded one).")
        if digest != recorded:
            raise UserError(f"{path} is damaged (its sha256 differs from the recorded one).")
        return state

    def _delete(self, update: int) -> None:
        # The JSON file goes first: without it, the tensors are no checkpoint.
        self._state_path(update).unlink(missing_ok=True)
        self._tensor_path(update).unlink(missing_ok=True)

    def _state_path(self, update: int) -> Path:
        return self.folder / f"{update:08d}.json"

    def _tensor_path(self, update: int) -> Path:
        return self.folder / f"{update:08d}.safetensors"


def named_weights(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the name and tensor of every parameter and saved buffer; a tied one appears once, under its first name."""
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield name, tensor


def save_tensors(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    """Write tensors as safetensors, completely or not at all. Raises `UserError` if the disk is full."""
    with atomic_folder(path) as folder:
        # A process that is killed leaves safetensors' own temporary file in this folder, which is deleted with it.
        _save_file(tensors, folder / path.name)
        sync_file(folder / path.name)
        os.replace(folder / path.name, path)


def _save_file(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    except SafetensorError as error:
        number = re.search(r"os error ([0-9]+)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error


def _set_weights(model: nn.Module, tensors: dict[str, torch.Tensor], path: Path) -> None:
    own = dict(named_weights(model))
    if {n: t.shape for n, t in own.items()} != {n: t.shape for n, t in tensors.items()}:
        different = sorted(own.keys() ^ tensors.keys()) or [n for n in own if own[n].shape != tensors[n].shape]
        raise UserError(f"{path} belongs to another model ({different[0]} differs): delete it and train again.")
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(tensors[name])


def _without_prefix(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Select the tensors whose names have a prefix, and remove it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _values_sha256(values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _file_sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
