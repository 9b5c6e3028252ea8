"""A library like that of NVIDIA's driver, for a machine without GPUs."""

import shutil
import subprocess
from pathlib import Path

from conftest import skip_unless_ci

CODE = """
#include <stdio.h>
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = GPUS; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) { *device = (char *)0 + index + 1; return 0; }
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size) {
    snprintf(uuid, size, "GPU-%d-fake", (int)((char *)device - (char *)0 - 1));
    return 0;
}
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long *memory) {
    memory[0] = 100;
    memory[1] = device == (char *)0 + 1 ? FREE_OF_FIRST : 100;
    memory[2] = memory[0] - memory[1];
    return 0;
}
"""


def make_library(folder: Path, gpus: int, *, free_of_first: int = 100) -> Path:
    """Compile the library; a process with `folder` as LD_LIBRARY_PATH sees so many GPUs, GPU-0-fake, GPU-1-fake...

    `free_of_first` is the percentage of the first one's memory that is free.
    """
    if shutil.which("cc") is None:
        skip_unless_ci("there is no C compiler")
    defined = [f"-DGPUS={gpus}", f"-DFREE_OF_FIRST={free_of_first}"]
    command = ["cc", "-shared", "-fPIC", *defined, "-x", "c", "-", "-o", str(folder / "libnvidia-ml.so.1")]
    subprocess.run(command, input=CODE, text=True, check=True)
    return folder
