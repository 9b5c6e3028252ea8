"""The GPUs of this machine, without torch: planning counts them, and jobs share them.

Each GPU has as many slots as jobs may share it. A slot is a file, in a folder per user, that a job locks until it ends;
the system frees the lock of a process that ends in whatever way. Where an executor gives jobs their GPUs, there are no
slots.
"""

import ctypes
import fcntl
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from nmtcore.errors import explain_os_errors

JOBS_PER_GPU = "NMTCORE_JOBS_PER_GPU"
"""The environment variable in which planning tells the jobs of this machine how many of them may share a GPU."""
held: list[int] = []
"""The open files of the slots that this process holds; a child that also has them open holds them until it ends."""


def nvml() -> ctypes.CDLL | None:
    """Return the library with which NVIDIA's driver tells of its GPUs, ready for calls; None if it is not here."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return None if library.nvmlInit_v2() else library


def known_gpus() -> dict[str, float]:
    """Return the GPUs that NVML knows, by UUID, with the share of their memory that is in use (0 if unknown)."""
    known: dict[str, float] = {}
    library, count, handle = nvml(), ctypes.c_uint(), ctypes.c_void_p()
    if library is not None:
        library.nvmlDeviceGetCount_v2(ctypes.byref(count))
    for number in range(count.value):
        uuid, memory = ctypes.create_string_buffer(96), (ctypes.c_ulonglong * 3)()  # total, free, used
        library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(handle))
        library.nvmlDeviceGetUUID(handle, uuid, len(uuid))
        library.nvmlDeviceGetMemoryInfo(handle, memory)
        known[uuid.value.decode()] = 1 - memory[1] / memory[0] if memory[0] else 0.0
    return known


def visible_gpus(devices: Path = Path("/dev")) -> list[str]:
    """Return the GPUs that a program sees here, each as CUDA_VISIBLE_DEVICES names it: by UUID, or else by number.

    As in CUDA, that variable is read up to its first entry that names no GPU. Without NVML, `devices` is the folder
    whose files (`nvidia0`, `nvidia1`...) are counted.
    """
    files = [path for path in devices.glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name)]
    gpus = list(known_gpus()) or [str(number) for number in range(len(files))]
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None or not gpus:
        return gpus
    visible = []
    for entry in map(str.strip, chosen.split(",")):
        is_number = entry.isdecimal() and int(entry) < len(gpus)
        if not is_number and not re.match("GPU-|MIG-", entry):
            break
        visible.append(entry)
    return visible


def card_names(gpus: Sequence[str] | None = None, known: Iterable[str] | None = None) -> list[str]:
    """Return the UUIDs of visible GPUs, which numbers or beginnings of UUIDs name; without NVML, the names."""
    known = list(known_gpus() if known is None else known)
    by_number = dict(zip(map(str, range(len(known))), known, strict=True))
    return [
        by_number.get(gpu) or next((uuid for uuid in known if uuid.startswith(gpu)), gpu)
        for gpu in (visible_gpus() if gpus is None else gpus)
    ]


def use_gpus(slots: int, *, log: Callable[[str], None] = print) -> None:
    """Give this process a GPU, or all slots of several, until it ends, and hide the others from it and its children.

    `slots` is the job's resource `gpu`. Nothing happens where an executor gives jobs their GPUs, nor with too few GPUs,
    which training reports.
    """
    if slots and (jobs := jobs_per_gpu()):
        gpus, count = visible_gpus(), max(1, slots // jobs)
        if count <= len(gpus):
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(take_slots(gpus, count, jobs=jobs, log=log))


def jobs_per_gpu() -> int:
    """Return how many jobs may share a GPU of this machine; 0 if there are no slots."""
    return int(os.environ.get(JOBS_PER_GPU, 0))


def take_slots(
    gpus: Sequence[str],
    count: int,
    *,
    jobs: int,
    folder: Path | None = None,
    known: Callable[[], Mapping[str, float]] = known_gpus,
    log: Callable[[str], None] = print,
    pause: float = 1.0,
) -> list[str]:
    """Take a slot of the emptiest GPU, or all slots of the `count` emptiest ones; wait, with a message, until it can.

    At most `jobs` jobs share a GPU. How full it is: the share of its slots that are taken or, if that is more, of its
    memory, which other programs use, too. One process at a time looks, and takes all that it needs or nothing, so that
    none holds slots while it waits for others. Looks again after `pause` seconds. Returns the GPUs, in their order.
    """
    waiting = False
    while True:
        used = known()
        names = dict(zip(gpus, card_names(gpus, used), strict=True))
        with _slots(names.values(), jobs, folder) as (free, holders):
            loads = {gpu: max(len(holders[name]) / jobs, used.get(name, 0.0)) for gpu, name in names.items()}
            fitting = [gpu for gpu in gpus if len(holders[names[gpu]]) < (jobs if count == 1 else 1)]
            chosen = sorted(fitting, key=loads.__getitem__)[:count]
            if len(chosen) == count:
                for slot in (slot for gpu in chosen for slot in free[names[gpu]][: 1 if count == 1 else None]):
                    os.ftruncate(slot, 0)
                    os.pwrite(slot, f"process {os.getpid()}".encode(), 0)
                    held.append(slot)
                return [gpu for gpu in gpus if gpu in chosen]
            ending = ", ".join(sorted({holder for processes in holders.values() for holder in processes}))
        if not waiting:
            log(f"Waiting for {'a GPU' if count == 1 else f'{count} GPUs'} until jobs have ended: {ending}.")
        waiting = True
        time.sleep(pause)


@contextmanager
def _slots(
    names: Iterable[str], jobs: int, folder: Path | None
) -> Iterator[tuple[dict[str, list[int]], dict[str, list[str]]]]:
    """Lock the free slots of GPUs, by their full names, in the block, one process at a time, except those then `held`.

    Yields the open files of these slots, and the processes that have the others, which may be more than `jobs`: another
    workflow may allow more.
    """
    folder = folder or Path(tempfile.gettempdir(), f"nmtcore-gpu-{os.getuid()}")
    free: dict[str, list[int]] = {}
    holders: dict[str, list[str]] = {}
    with explain_os_errors(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
        with open(folder / "lock", "w") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            for name in names:
                free[name], holders[name] = [], []
                for path in sorted(
                    {folder / f"{name}.{number}" for number in range(jobs)} | {*folder.glob(f"{name}.*")}
                ):
                    slot = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
                    free[name].append(slot)
                    try:
                        fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        holders[name].append(os.pread(slot, 100, 0).decode())
                        os.close(free[name].pop())
            try:
                yield free, holders
            finally:
                for slot in (slot for slots in free.values() for slot in slots if slot not in held):
                    os.close(slot)
