"""What jobs and commands that compute on a processor ask of the C library."""

import ctypes

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
"""Numbers of glibc's options in `malloc.h`."""


def keep_freed_memory() -> None:
    """Let the C library keep freed memory for the next tensors of this process, as torch does with a GPU's.

    By default, glibc gives large blocks back to the kernel, which then clears every page of the next ones: this took an
    eighth of the CPU time of training (docs/benchmarks.md). Other C libraries stay as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_MAX, 0)
        mallopt(_TRIM_THRESHOLD, 2**31 - 1)
