"""A Python for tests whose calls start at once: they are forked from one that has imported what takes seconds.

Importing Snakemake or torch takes a second, on a slow machine three: more than most tests do with them. What starts,
stops or kills processes is tested with `sys.executable`, and so are some calls of each program.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fork_client import fixed

import nmtcore

TESTS = Path(__file__).parent


def forked_python() -> str:
    """Return the path of a program that calls the server for the present environment; start it at the first call."""
    return _start_server(tuple(sorted(fixed(os.environ).items())))


@functools.cache
def _start_server(environment: tuple[tuple[str, str], ...]) -> str:
    """Start a server, which ends with this process, and return the path of the program that calls it."""
    folder = Path(tempfile.mkdtemp(prefix="forks-"))
    program = folder / "python"
    client = (TESTS / "fork_client.py").read_text(encoding="utf-8")
    program.write_text(f"#!{sys.executable} -IS\n{client}", encoding="utf-8")
    program.chmod(0o755)
    code = Path(nmtcore.__file__).resolve().parents[1]
    known = {"python": sys.executable, "socket": str(folder / "socket"), "environment": dict(environment)}
    known["code"] = str(code)
    (folder / "server.json").write_text(json.dumps(known), encoding="utf-8")
    command = [sys.executable, str(TESTS / "fork_server.py"), known["socket"], known["code"]]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables["OMP_WAIT_POLICY"] = "passive"  # as in jobs of the workflow
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables)
    if not server.stdout.readline():
        raise RuntimeError("the fork server did not start")
    return str(program)
