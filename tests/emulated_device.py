"""A device that exists only in tests: its tensors hold values on the CPU, and what makes the host wait is counted.

An accelerator works through a queue; the host runs ahead of it until it needs a value, and then waits for the whole
queue. `Emulator.waits` counts such moments by the line of the package that caused them. An operation that mixes tensors
of the device with others raises, as on a real one. Real kernels, streams and pinned memory are not covered.
"""

import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils import backend_registration as registration
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map


class _Module(registration._DummyBackendModule):
    """What `torch.autocast` asks, even if it does nothing."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16]


# torch has only weak references to these.
_HOOK, _GUARD = registration._DummyPrivateUse1Hook(), registration._DummyDeviceGuard()
registration._setup_privateuseone_for_python_backend("emulated", _Module(), hook=_HOOK, device_guard=_GUARD)
DEVICE = torch.device("emulated", 0)
_AUTOCAST = torch._C.DispatchKey.AutocastPrivateUse1
_IN_LOW_PRECISION = "linear", "matmul", "mm", "addmm", "bmm", "baddbmm", "scaled_dot_product_attention"
"""Operations before which autocast casts fp32, as on a GPU; it has no rules here for others."""
_OPERATIONS_THAT_WAIT = {"_local_scalar_dense", "nonzero", "masked_select", "equal", "unique_consecutive", "_unique2"}
"""Operations whose result, or its shape, the host must know."""
_INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_"}
_MAY_MIX = {"_to_copy", "copy_", "_pack_padded_sequence", *_INDEXING}
"""Operations that take tensors of both; the lengths of packed sequences are on the CPU."""


def _autocast_libraries() -> list[torch.library.Library]:
    """Give the device its autocast; the rules end with these objects."""
    others, rules = torch.library.Library("_", "IMPL", "AutocastPrivateUse1"), torch.library.Library("aten", "IMPL")
    others.fallback(torch.library.fallthrough_kernel)
    for name in _IN_LOW_PRECISION:
        rules.impl(name, _cast_before(getattr(torch.ops.aten, name).default), "AutocastPrivateUse1")
    return [others, rules]


def _cast_before(operation: Any) -> Any:
    def cast(leaf: Any) -> Any:
        on_device = isinstance(leaf, EmulatedTensor) and leaf.dtype == torch.float32
        return leaf.to(torch.get_autocast_dtype(DEVICE.type)) if on_device else leaf

    def run(*args: Any, **options: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(_AUTOCAST)):
            return operation(*tree_map(cast, args), **tree_map(cast, options))

    return run


_LIBRARIES = _autocast_libraries()


class EmulatedTensor(Tensor):
    """A tensor on `DEVICE`; `.values` is the tensor on the CPU that has its values."""

    values: Tensor

    @staticmethod
    def __new__(cls, values: Tensor) -> "EmulatedTensor":
        """Wrap a tensor of the CPU."""
        tensor = Tensor._make_wrapper_subclass(
            cls, values.size(), strides=values.stride(), storage_offset=values.storage_offset(), dtype=values.dtype,
            device=DEVICE,
        )  # fmt: skip
        tensor.values = values
        return tensor

    def __repr__(self) -> str:
        """Show the values."""
        return f"EmulatedTensor({self.values})"

    def tolist(self) -> Any:
        """Copy to the host, which waits."""
        _ACTIVE[-1].count("tolist")
        return self.values.tolist()

    @classmethod
    def __torch_dispatch__(cls, operation: Any, types: Any, args: tuple = (), options: dict | None = None) -> Any:
        """Compute on the CPU."""
        return _ACTIVE[-1].run(operation, args, options or {})


class Emulator(TorchDispatchMode):
    """Runs operations of the device, and counts the waits by operation and line."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: Counter[str] = Counter()

    def count(self, name: str) -> None:
        """Count a wait, with the line of the package that caused it."""
        frames = [f for f in traceback.extract_stack() if "/src/nmtcore/" in f.filename]
        where = f"{frames[-1].filename.partition('/src/')[2]}:{frames[-1].lineno}" if frames else "outside the package"
        self.waits[f"{where}: {name}"] += 1

    def __torch_dispatch__(self, operation: Any, types: Any, args: tuple = (), options: dict | None = None) -> Any:
        """Run an operation that has no tensor of the device among its arguments, but perhaps makes one."""
        return self.run(operation, args, options or {})

    def run(self, operation: Any, args: tuple, options: dict) -> Any:
        name = operation._schema.name.partition("::")[2]
        tensors = [leaf for leaf in tree_leaves((args, options)) if isinstance(leaf, Tensor)]
        emulated = [tensor for tensor in tensors if isinstance(tensor, EmulatedTensor)]
        target = torch.device(options["device"]) if options.get("device") is not None else None
        on_device = target.type == DEVICE.type if target is not None else bool(emulated)
        if not emulated and not on_device:
            return operation(*args, **options)
        others = [tensor for tensor in tensors if not isinstance(tensor, EmulatedTensor) and tensor.dim()]
        if others and emulated and name not in _MAY_MIX:
            raise RuntimeError(f"{name} mixes tensors of the device with others")
        self._count_waits(name, args, options, on_device=on_device)
        options = options | ({"device": torch.device("cpu")} if target is not None else {})
        result = operation(*tree_map(_values, args), **tree_map(_values, options))
        if not on_device or name == "_local_scalar_dense":
            return result  # on the host
        if name == "_pack_padded_sequence":
            return EmulatedTensor(result[0]), result[1]  # batch sizes stay on the host
        arguments = {id(tensor.values): tensor for tensor in emulated}  # operations in place return their argument

        def wrap(leaf: Any) -> Any:
            if not isinstance(leaf, Tensor):
                return leaf
            return arguments[id(leaf)] if id(leaf) in arguments else EmulatedTensor(leaf)

        return tree_map(wrap, result)

    def _count_waits(self, name: str, args: tuple, options: dict, *, on_device: bool) -> None:
        if name in _OPERATIONS_THAT_WAIT or (name == "repeat_interleave" and not options.get("output_size")):
            self.count(name)
        elif name == "_to_copy" and isinstance(args[0], EmulatedTensor) != on_device:
            if not options.get("non_blocking"):
                self.count("copy between host and device")
        elif name == "copy_" and isinstance(args[0], EmulatedTensor) != isinstance(args[1], EmulatedTensor):
            self.count("copy between host and device")
        elif name in _INDEXING:
            indices = [index for index in args[1] or () if isinstance(index, Tensor)]
            if any(index.dtype == torch.bool or not isinstance(index, EmulatedTensor) for index in indices):
                self.count("index by a mask, or by a tensor of the host")


def _values(leaf: Any) -> Any:
    return leaf.values if isinstance(leaf, EmulatedTensor) else leaf


_ACTIVE: list[Emulator] = []


@contextmanager
def emulated_device() -> Iterator[Emulator]:
    """Provide `DEVICE` within a block."""
    emulator = Emulator()
    _ACTIVE.append(emulator)
    try:
        with emulator:
            yield emulator
    finally:
        _ACTIVE.pop()


def move(model: nn.Module) -> nn.Module:
    """Move a model's parameters and buffers to the device."""
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = nn.Parameter(EmulatedTensor(parameter.detach()), parameter.requires_grad)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = EmulatedTensor(buffer)
    return model
