"""Commands that run without the power of root to read and write everything, to test what permissions forbid."""

import ctypes
import os
import subprocess
import sys

import pytest

_DROP_CAPABILITY = 24  # PR_CAPBSET_DROP
_OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def run_without_override(*arguments: str) -> subprocess.CompletedProcess:
    """Run `nmtcore` with permissions in force, also for root; skip the test if this process cannot give that up."""
    if os.geteuid() == 0 and not _can_drop():
        pytest.skip("root may read everything here, and cannot give it up")
    command = [sys.executable, "-m", "nmtcore", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=_drop)


def _can_drop() -> bool:
    try:
        return subprocess.run(["true"], check=False, preexec_fn=_drop).returncode == 0
    except subprocess.SubprocessError:
        return False


def _drop() -> None:
    if os.geteuid() == 0:
        for capability in _OVERRIDES:
            if ctypes.CDLL(None, use_errno=True).prctl(_DROP_CAPABILITY, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "prctl")
