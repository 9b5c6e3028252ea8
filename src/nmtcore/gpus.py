"""The GPUs of this machine, without torch: planning counts them, and jobs choose among them."""

import ctypes
import os
import re
from pathlib import Path


def nvml() -> ctypes.CDLL | None:
    """Return the library with which NVIDIA's driver tells of its GPUs, ready for calls; None if it is not here."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return None if library.nvmlInit_v2() else library


def visible_gpus(devices: Path = Path("/dev")) -> list[str]:
    """Return the GPUs that a program sees here, each as CUDA_VISIBLE_DEVICES names it: by UUID, or else by number.

    As in CUDA, that variable is read up to its first entry that names no GPU. Without NVML, `devices` is the folder
    whose files (`nvidia0`, `nvidia1`...) are counted.
    """
    library, uuids = nvml(), []
    if library is not None:
        count, handle, uuid = ctypes.c_uint(), ctypes.c_void_p(), ctypes.create_string_buffer(96)
        library.nvmlDeviceGetCount_v2(ctypes.byref(count))
        for number in range(count.value):
            library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(handle))
            library.nvmlDeviceGetUUID(handle, uuid, len(uuid))
            uuids.append(uuid.value.decode())
    files = [path for path in devices.glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name)]
    gpus = uuids or [str(number) for number in range(len(files))]
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
