"""Forked calls end as those of a Python of their own do."""

import os
import subprocess
import sys

import pytest
from forked import call_forked

pytestmark = pytest.mark.needs("Snakemake")

MODULE = """\
import os, sys
print(sys.argv[1:], os.getcwd(), os.environ.get("COLOUR"), sys.stdin.read(), __name__)
print("to the error stream", file=sys.stderr)
{end}
"""
ENDS = {"plain": "", "status": "sys.exit(3)", "message": "sys.exit('a message')", "signal": "os.kill(os.getpid(), 15)"}


@pytest.mark.parametrize("end", ENDS)
def test_a_module_runs_as_in_a_python_of_its_own(end, tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(MODULE.format(end=ENDS[end].replace("os.kill", "sys.stdout.flush(); os.kill")))
    monkeypatch.syspath_prepend(tmp_path)
    forked = call_forked("own", "a", "b", folder=tmp_path, text=b"text", variables={"COLOUR": "red"})
    variables = os.environ | {"COLOUR": "red", "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "own", "a", "b"]
    real = subprocess.run(command, input=b"text", capture_output=True, cwd=tmp_path, env=variables, check=False)
    assert (forked.returncode, forked.stdout, forked.stderr) == (real.returncode, real.stdout, real.stderr)
    assert real.stdout.startswith(b"['a', 'b']")


def test_the_streams_of_a_module_may_be_merged(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(MODULE.format(end=""))
    monkeypatch.syspath_prepend(tmp_path)
    merged = call_forked("own", merged=True)
    assert (merged.stderr, sorted(merged.stdout.splitlines())[-1]) == (b"", b"to the error stream")
