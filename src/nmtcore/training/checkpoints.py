"""Checkpoints that are whole or not there, and the weights a run ends with.

A checkpoint is two files: `{update}.safetensors` with the weights and the optimiser's tensors, and `{update}.json`,
written after it, with the state and the tensors' sha256: without a JSON that fits, there is no checkpoint.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from nmtcore.errors import UserError, explained
from nmtcore.files import atomic_path, read_json, write_json
from nmtcore.training.optimiser import Adam
from nmtcore.training.state import TrainingState

KEPT = 2
"""The newest checkpoints that stay, beside those that they refer to."""


class Checkpoints:
    """The checkpoints of one run in one folder; one process at a time may write there (lock.py)."""

    def __init__(self, folder: Path, *, log: Callable[[str], None] = print) -> None:
        self.folder = folder
        self._log = log

    def updates(self) -> list[int]:
        """List the updates that have a checkpoint, oldest first."""
        return sorted(int(path.stem) for path in self.folder.glob("*.json") if path.stem.isdigit())

    def save(self, state: TrainingState, model: nn.Module, optimiser: Adam) -> None:
        """Write a checkpoint, then delete those that neither of the newest `KEPT` refers to."""
        tensors = {f"model/{name}": tensor.detach() for name, tensor in named_weights(model)}
        tensors |= {f"optimiser/{name}": tensor for name, tensor in optimiser.tensors().items()}
        path = self._tensors(state.update)
        with atomic_path(path) as temporary:
            save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary)
            digest = _sha256(temporary)
        write_json(self._json(state.update), {"sha256": digest, "state": state.to_json()})
        self.prune()

    def newest(self) -> int | None:
        """Find the newest whole checkpoint's update; None where there is none.

        A damaged one is removed, and `log` gets a sentence; what a killed process left half-written is removed.
        """
        self._tidy()
        for update in reversed(self.updates()):
            try:
                self._state(update)
                return update
            except UserError as error:
                self._log(f"{error} Going back to the checkpoint before it.")
                self._remove(update)
        return None

    def load(self, update: int, model: nn.Module, optimiser: Adam) -> TrainingState:
        """Load a checkpoint into model and optimiser; a damaged one, or another model's, is a `UserError`."""
        state = self._state(update)
        tensors = load_file(self._tensors(update))
        _set_weights(model, _below("model/", tensors), self._tensors(update))
        optimiser.restore(_below("optimiser/", tensors))
        return state

    def load_average(self, model: nn.Module, updates: Iterable[int]) -> None:
        """Load the mean of the weights of some checkpoints into the model (of one: its weights as they are)."""
        sums: dict[str, torch.Tensor] = {}
        kinds: dict[str, torch.dtype] = {}
        count = 0
        for update in updates:
            self._state(update)
            for name, tensor in _below("model/", load_file(self._tensors(update))).items():
                kinds[name] = tensor.dtype
                sums[name] = sums[name] + tensor.double() if name in sums else tensor.double()
            count += 1
        mean = {name: (total / count).to(kinds[name]) for name, total in sums.items()}
        _set_weights(model, mean, self.folder)

    def prune(self) -> None:
        """Delete the checkpoints that neither of the newest `KEPT` refers to."""
        updates = self.updates()
        needed: set[int] = set()
        for update in updates[-KEPT:]:
            needed |= {update} | TrainingState.from_json(read_json(self._json(update))["state"]).needs()
        for update in updates:
            if update not in needed:
                self._remove(update)

    def _tidy(self) -> None:
        """Delete what a killed process left half-written."""
        for path in [*self.folder.glob(".*.partial"), *self.folder.glob("*.safetensors")]:
            if path.suffix == ".partial" or not path.with_suffix(".json").exists():
                path.unlink()

    def _state(self, update: int) -> TrainingState:
        """Read a checkpoint's state; `UserError` where it or its tensors are not what was written."""
        path = self._tensors(update)
        content = read_json(self._json(update))
        with explained(path):
            digest = _sha256(path)
        try:
            state = TrainingState.from_json(content["state"])
            whole = digest == content["sha256"]
        except (KeyError, TypeError) as error:
            raise UserError(f"{self._json(update)} is damaged ({error}).") from error
        if not whole:
            raise UserError(f"{path} is damaged (its sha256 is not the one that was noted).")
        return state

    def _remove(self, update: int) -> None:
        # The JSON first: without it, the rest is no checkpoint.
        self._json(update).unlink(missing_ok=True)
        self._tensors(update).unlink(missing_ok=True)

    def _json(self, update: int) -> Path:
        return self.folder / f"{update:08d}.json"

    def _tensors(self, update: int) -> Path:
        return self.folder / f"{update:08d}.safetensors"


def named_weights(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """Give every parameter and buffer that a model keeps, a tied one once, under its first name."""
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            yield name, tensor


def _set_weights(model: nn.Module, tensors: dict[str, torch.Tensor], where: Path) -> None:
    own = dict(named_weights(model))
    if {n: t.shape for n, t in own.items()} != {n: t.shape for n, t in tensors.items()}:
        strange = sorted(own.keys() ^ tensors.keys()) or [n for n in own if own[n].shape != tensors[n].shape]
        raise UserError(f"{where} belongs to another model ({strange[0]} differs): delete it and train again.")
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(tensors[name])


def _below(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
