"""Calls of the forked Python end as those of the real one do."""

import os
import signal
import subprocess
import sys
import time

import pytest
from forked_python import forked_python

SCRIPT = """\
import atexit, os, sys, threading, time
atexit.register(print, "exits")
threading.Thread(target=lambda: (time.sleep(0.1), print("thread ends"))).start()
print(sys.argv[1:], os.getcwd(), os.environ.get("COLOUR"), sys.stdin.read(), sys.path[0], __name__)
print("to the error stream", file=sys.stderr)
{end}
"""
ENDS = {
    "plain": "",
    "status": "sys.exit(3)",
    "message": "sys.exit('a message')",
    "exception": "raise ValueError",
    "signal": "sys.stdout.flush(); os.kill(os.getpid(), 15)",
}


def call(python, *arguments, **options):
    done = subprocess.run([python, *arguments], capture_output=True, text=True, check=False, **options)
    # The real traceback has fewer lines: it does not pass the server.
    return done.returncode, done.stdout, done.stderr.replace("Traceback", "\0").split("\0")[0]


@pytest.mark.parametrize("end", ENDS)
def test_a_script_runs_as_in_a_python_of_its_own(end, tmp_path):
    script, work = tmp_path / "script.py", tmp_path / "work"
    script.write_text(SCRIPT.format(end=ENDS[end]))
    work.mkdir()
    options = {"input": "text", "cwd": work, "env": os.environ | {"COLOUR": "red"}}
    forked, real = (call(python, str(script), "a", "b", **options) for python in (forked_python(), sys.executable))
    assert forked == real
    assert real[1].startswith("['a', 'b']")


def test_modules_are_found_as_in_a_python_of_its_own(tmp_path):
    (tmp_path / "own.py").write_text("import sys\nprint(sys.argv, __name__)")
    for arguments in (["-m", "own", "x"], ["-P", "-m", "own"], ["-c", "print(1)"], ["-m", "absent"]):
        forked, real = (call(python, *arguments, cwd=tmp_path) for python in (forked_python(), sys.executable))
        assert forked[:2] == real[:2], arguments


@pytest.mark.parametrize("variables", [{}, {"PYTHONUTF8": "1"}, {"OMP_NUM_THREADS": "7"}])
def test_what_is_read_at_the_start_needs_the_real_python(variables, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import os\nprint(os.getppid())")
    _, parent, _ = call(forked_python(), str(script), env=os.environ | variables)
    assert (int(parent) == os.getpid()) == bool(variables)


def test_jobs_of_the_workflow_are_forked(root, tmp_path):
    """They have another PYTHONPATH and OMP_WAIT_POLICY than the tests."""
    script = tmp_path / "script.py"
    script.write_text("import os, sys\nprint(os.getppid(), os.environ['OMP_WAIT_POLICY'], *sys.path, sep='\\n')")
    variables = {"PYTHONPATH": os.pathsep.join([str(root / "src"), "relative"]), "OMP_WAIT_POLICY": "passive"}
    forked, real = (
        call(python, str(script), env=os.environ | variables, cwd=tmp_path)[1].splitlines()
        for python in (forked_python(), sys.executable)
    )
    assert forked[0] != real[0] == str(os.getpid())
    assert forked[1:] == [*real[1:], ".snakemake/pip-deployments"], "Snakemake, once imported, adds a folder"
    assert real[2:5] == [str(tmp_path), str(root / "src"), str(tmp_path / "relative")]


def test_another_copy_of_the_package_needs_the_real_python(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import nmtcore, os\nprint(os.getppid(), nmtcore.__file__)")
    (tmp_path / "nmtcore").mkdir()
    (tmp_path / "nmtcore/__init__.py").touch()
    _, output, _ = call(forked_python(), str(script), env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert output.split() == [str(os.getpid()), str(tmp_path / "nmtcore/__init__.py")]
    _, beside_the_script, _ = call(forked_python(), str(script))
    assert beside_the_script == output


def test_each_environment_has_a_server(tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text("import os\nprint(os.getppid(), os.environ.get('MKL_VERBOSE'))")
    for value in ("0", None):
        with monkeypatch.context() as patch:
            if value:
                patch.setenv("MKL_VERBOSE", value)
            _, output, _ = call(forked_python(), str(script))
        parent, seen = output.split()
        assert (int(parent) != os.getpid(), seen) == (True, str(value))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_reach_the_process(number, tmp_path):
    script, beat = tmp_path / "script.py", tmp_path / "beat"
    script.write_text(f"import time\nwhile True:\n    open({str(beat)!r}, 'a').write('.')\n    time.sleep(0.01)")
    process = subprocess.Popen([forked_python(), str(script)], stderr=subprocess.DEVNULL)
    while not beat.exists():
        time.sleep(0.01)
    process.send_signal(number)
    assert process.wait(60) == -number
    time.sleep(0.1)
    size = beat.stat().st_size
    time.sleep(0.2)
    assert beat.stat().st_size == size
