"""A Python that has already imported what takes seconds, and forks itself for each call of fork_client.py.

`python fork_server.py SOCKET CODE`, where CODE is the folder of the package, listens until its standard input is
closed. A call sends its arguments, environment, working directory and standard streams; what it asked for then runs in
a process forked from this one, and ends as in a Python of its own: with the same output, exit status or signal.
"""

import atexit
import contextlib
import gc
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
from types import SimpleNamespace
from typing import Any, NoReturn

from fork_client import SIGNALS

PRELOADED = (
    "nmtcore.cli",
    "nmtcore.corpus.filter",
    "nmtcore.corpus.read",
    "nmtcore.evaluation.scores",
    "nmtcore.experiment.inference",
    "nmtcore.experiment.training",
    "nmtcore.planning.configured",
    "nmtcore.planning.targets",
    "nmtcore.reporting.paper_table",
    "nmtcore.reporting.systems_table",
    "nmtcore.segmentation.learn",
    "sacrebleu",
    "snakemake.cli",
)


def main() -> SimpleNamespace | None:
    """Serve calls until standard input ends. In the process of a call, return what it asked for."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen(64)
    print("listening", flush=True)  # calls wait in the queue until all is imported
    preload()
    # Not SIG_IGN, with which the CPU time of calls would count for no process.
    signal.signal(signal.SIGCHLD, lambda *_: wait_for_answers())
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            return None
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            return answer(connection)
        connection.close()


def wait_for_answers() -> None:
    """Take note of the ended processes that answered calls."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def preload() -> None:
    """Import what the calls need, and keep it out of their garbage collections."""
    import importlib

    sys.path.insert(1, sys.argv[2])
    for module in PRELOADED:
        importlib.import_module(module)
    # Each dev or test set of the demo corpus needs these words, which take seconds.
    importlib.import_module("nmtcore.demo").training_words(1)
    sys.path.remove(sys.argv[2])
    gc.collect()
    gc.freeze()


def answer(connection: socket.socket) -> SimpleNamespace:
    """Return the call in a process of its own; in this one, pass on its signals and its end."""
    length, streams, _, _ = socket.recv_fds(connection, 8, 3)
    message = b""
    while len(message) < int(length):
        message += connection.recv(1 << 16)
    call = SimpleNamespace(**json.loads(message))
    child = os.fork()
    if child == 0:
        connection.close()
        take_over(call, streams)
        return call
    for stream in (*streams, 0, 1, 2):
        os.close(stream)
    ended = os.pidfd_open(child)
    while True:
        ready, _, _ = select.select([connection, ended], [], [])
        if connection in ready:
            # A caller that is gone was killed: so is the process that it stands for.
            numbers = connection.recv(64) or bytes([signal.SIGKILL])
            for number in numbers:
                os.kill(child, number)
        if ended in ready:
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            try:
                connection.sendall(str(status).encode())
            finally:
                os._exit(0)


def take_over(call: SimpleNamespace, streams: list[int]) -> None:
    """Make this process look as if it had been started by the caller."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    for number, name in ((1, "stdout"), (2, "stderr")):
        binary = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
        errors = "backslashreplace" if name == "stderr" else "surrogateescape"
        lines = name == "stderr" or os.isatty(number)
        wrapper = io.TextIOWrapper(binary, encoding="utf-8", errors=errors, line_buffering=lines)
        wrapper.reconfigure(write_through=bool(os.environ.get("PYTHONUNBUFFERED")))
        setattr(sys, name, wrapper)
    os.umask(call.umask)
    os.chdir(call.folder)
    os.environ.clear()
    os.environ.update(call.environment)
    sys.executable = call.python
    for number in SIGNALS:
        ignored = number in call.ignored
        handler = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, signal.SIG_IGN if ignored else handler)


def run(call: SimpleNamespace) -> None:
    """Run what `python ARGUMENTS` would run."""
    arguments = list(call.arguments)
    safe_path = arguments[0] == "-P"
    if safe_path:
        del arguments[0]
    program = arguments.pop(0)
    own = call.environment.get("PYTHONPATH", "")
    own = [os.path.abspath(path) for path in own.split(os.pathsep) if own]
    sys.path[:] = dict.fromkeys([*own, *sys.path[1:]])  # without the folder of this file
    if program == "-m":
        sys.argv = arguments
        if not safe_path:
            sys.path.insert(0, call.folder)
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [program, *arguments]
        if not safe_path:
            sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
        runpy.run_path(program, run_name="__main__")


def run_to_end(call: SimpleNamespace) -> NoReturn:
    """Run the call and end the process, without the half of a second in which Python frees all that was imported."""
    status: Any = 0
    try:
        run(call)
    except SystemExit as end:
        status = 0 if end.code is None else end.code
        if not isinstance(status, int):
            print(status, file=sys.stderr)
            status = 1
    except KeyboardInterrupt:
        raise
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status & 255)


if __name__ == "__main__":
    called = main()
    if called is not None:
        run_to_end(called)
