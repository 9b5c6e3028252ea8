"""Energy that the machine reports for itself: counters of NVIDIA GPUs (NVML) and of processors (RAPL)."""

import ctypes
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")
"""Where Linux lists the counters of processors; `intel-rapl:0` is the first package, of AMD's processors as well."""

SAMPLED_EVERY = 60.0
"""Seconds between readings; a processor's counter begins again from 0 after some minutes or more."""


class RaplCounter:
    """The energy counter of one processor package, in microjoules."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "energy_uj"
        self._range = int((folder / "max_energy_range_uj").read_text())
        self._last = self._read()
        self._total = 0

    def joules(self) -> float:
        """Return the energy since this object was made. Call it at least once per turn of the counter."""
        value = self._read()
        self._total += value - self._last if value >= self._last else value - self._last + self._range
        self._last = value
        return self._total / 1e6

    def _read(self) -> int:
        return int(self._file.read_text())


class GpuCounter:
    """The energy counter of one NVIDIA GPU, in millijoules since its driver was loaded."""

    def __init__(self, library: ctypes.CDLL, uuid: str) -> None:
        self._library = library
        self._handle = ctypes.c_void_p()
        if library.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(self._handle)):
            raise OSError(f"NVML knows no GPU {uuid}")
        self._first = self._read()

    def joules(self) -> float:
        """Return the energy since this object was made."""
        return (self._read() - self._first) / 1e3

    def _read(self) -> int:
        value = ctypes.c_ulonglong()
        if self._library.nvmlDeviceGetTotalEnergyConsumption(self._handle, ctypes.byref(value)):
            raise OSError("this GPU has no energy counter")
        return value.value


def rapl_counters(folder: Path = POWERCAP) -> list[RaplCounter]:
    """Open the counters of all processor packages; none if a counter is missing or only readable by root."""
    packages = sorted(path for path in folder.glob("intel-rapl:*") if path.name.count(":") == 1)
    with suppress(OSError, ValueError):
        return [RaplCounter(path) for path in packages]
    return []


def gpu_counters(uuids: Sequence[str], library: ctypes.CDLL | None = None) -> list[GpuCounter]:
    """Open the counters of the GPUs with these UUIDs; none if one has no counter or there is no NVML."""
    if not uuids:
        return []
    with suppress(OSError, AttributeError):
        library = library or ctypes.CDLL("libnvidia-ml.so.1")
        if library.nvmlInit_v2() == 0:
            return [GpuCounter(library, uuid) for uuid in uuids]
    return []


class EnergyMeter:
    """Reads counters from its start on, in a thread of its own so that no turn of a counter is missed."""

    def __init__(self, *, cpu: Sequence[RaplCounter], gpu: Sequence[GpuCounter]) -> None:
        self._counters = {"cpu": list(cpu), "gpu": list(gpu)}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="energy", daemon=True)
        if any(self._counters.values()):
            self._thread.start()

    def stop(self) -> dict[str, float | None]:
        """Return the joules of all processor packages ("cpu") and of the GPUs ("gpu"); null without a counter.

        The counters measure devices, so these include other programs on the same devices.
        """
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        return {name: self._sum(counters) for name, counters in self._counters.items()}

    def _sample(self) -> None:
        while not self._stop.wait(SAMPLED_EVERY):
            for counters in self._counters.values():
                self._sum(counters)

    @staticmethod
    def _sum(counters: Sequence[RaplCounter | GpuCounter]) -> float | None:
        with suppress(OSError, ValueError):
            return round(sum(counter.joules() for counter in counters), 3) if counters else None
        return None


def start_meter(device: str, gpus: int) -> EnergyMeter:
    """Begin to measure the processors and, on a GPU, the first `gpus` GPUs that are visible to this process."""
    uuids = []
    if device.startswith("cuda"):
        import torch

        uuids = [f"GPU-{torch.cuda.get_device_properties(number).uuid}" for number in range(gpus)]
    return EnergyMeter(cpu=rapl_counters(), gpu=gpu_counters(uuids))
