"""Calls of modules in processes forked from one that has imported what takes seconds.

Importing Snakemake or torch takes a second, on a slow machine three: more than most tests do with them. What starts,
stops or kills processes is tested with a Python of its own, and so are some calls of each program.
"""

import contextlib
import io
import json
import os
import runpy
import socketserver
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from multiprocessing import forkserver, get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path
from subprocess import CompletedProcess

TESTS = Path(__file__).parent
SECONDS = 600
"""A call that takes longer is killed."""


def call_forked(
    module: str,
    *arguments: str,
    folder: Path | None = None,
    text: bytes = b"",
    variables: Mapping[str, str] | None = None,
    merged: bool = False,
) -> CompletedProcess[bytes]:
    """Do in the folder what `python -m module arguments` does, with `text` as input and some variables set.

    The errors are part of the output if they are `merged`.
    """
    context = forking_context()
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name, stream) for stream in ("input", "output", "output" if merged else "errors")]
        files[0].write_bytes(text)
        environment = {**os.environ, **(variables or {})}
        os.umask(umask := os.umask(0))
        called = (module, arguments, folder or Path.cwd(), environment, files, umask)
        process = context.Process(target=run_module, args=called)
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
        output, errors = (file.read_bytes() for file in files[1:])
    return CompletedProcess([module, *arguments], process.exitcode, output, b"" if merged else errors)


@cache
def forking_context() -> ForkServerContext:
    """Start the process from which others are forked, and return the means to do so."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["preloaded"])
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", "OMP_WAIT_POLICY")}
    os.environ["PYTHONPATH"] = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    os.environ["OMP_WAIT_POLICY"] = "passive"  # as in jobs of the workflow
    forkserver.ensure_running()
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    return context


def run_module(
    module: str,
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    files: Sequence[Path],
    umask: int,
) -> None:
    """Run a module in this process with other streams, arguments, variables, working directory and rights of files."""
    os.umask(umask)
    for number, file in enumerate(files):
        opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


PROGRAM = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as own, own.makefile("rwb") as stream:
    own.connect({address!r})
    stream.write(json.dumps([{module!r}, os.getcwd(), *sys.argv[1:]]).encode() + b"\\n")
    stream.flush()
    status, output = json.loads(stream.readline())
sys.stdout.write(output)
sys.exit(status)
"""


@contextlib.contextmanager
def forked_programs(folder: Path, modules: Mapping[str, str]) -> Iterator[None]:
    """Write programs, NAME: MODULE, with which a shell calls modules in forks of this process's Python."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            module, where, *arguments = json.loads(self.rfile.readline())
            called = call_forked(module, *arguments, folder=Path(where), merged=True)
            self.wfile.write(json.dumps([called.returncode, called.stdout.decode()]).encode() + b"\n")

    with tempfile.TemporaryDirectory() as name, socketserver.UnixStreamServer(f"{name}/socket", Handler) as server:
        for program, module in modules.items():
            text = PROGRAM.format(python=sys.executable, address=server.server_address, module=module)
            (folder / program).write_text(text)
            (folder / program).chmod(0o755)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()
