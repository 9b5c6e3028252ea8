"""Stands for Python in tests: asks the fork server to run `python ARGUMENTS`, and ends as that ended.

Runs the real Python instead if the arguments or the environment ask for anything that the server cannot give.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

# No other imports than these, which take no time; annotations are not evaluated.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

FIXED = ("PYTHON", "OMP_", "MKL_", "ONEDNN_", "LC_", "LANG", "LD_", "MALLOC_")
"""Variables whose names begin so are read when Python or a library is loaded."""
SERVED = ("PYTHONPATH", "OMP_WAIT_POLICY")
"""Those of them that calls may have as they like, since the workflow sets them for its jobs: the server takes over the
former, and the latter, how threads wait for each other, changes no results."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)


def fixed(environment: Mapping[str, str]) -> dict[str, str]:
    """Select the variables that a running Python cannot change any more."""
    return {name: value for name, value in environment.items() if name.startswith(FIXED) and name not in SERVED}


def is_served(arguments: list[str], environment: Mapping[str, str], code: str) -> bool:
    """Say whether the server, which has an environment of its own, can do what `python ARGUMENTS` does.

    It has imported the package from the folder `code`.
    """
    is_safe = arguments[:1] == ["-P"]
    arguments = arguments[is_safe:]
    if not arguments or (arguments[0].startswith("-") and arguments[0] != "-m"):
        return False
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if not is_safe and arguments[0] != "-m":
        folders.append(os.path.dirname(os.path.abspath(arguments[0])))
    for folder in filter(None, folders):
        own = os.path.join(folder, "nmtcore")
        if (os.path.isdir(own) or os.path.isfile(f"{own}.py")) and os.path.realpath(folder) != code:
            return False
    return fixed(os.environ) == fixed(environment)


def call(server: socket.socket, arguments: list[str]) -> NoReturn:
    """Send the call, pass on signals, and end as the called process ends."""
    ignored = [number for number in SIGNALS if signal.getsignal(number) == signal.SIG_IGN]
    umask = os.umask(0)
    os.umask(umask)
    values = {
        "arguments": arguments,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "python": os.path.abspath(sys.argv[0]),
        "umask": umask,
        "ignored": ignored,
    }
    message = json.dumps(values).encode()
    socket.send_fds(server, [b"%8d" % len(message)], [0, 1, 2])
    server.sendall(message)
    for number in set(SIGNALS) - set(ignored):
        signal.signal(number, lambda number, _: server.send(bytes([number])))
    status = int(server.recv(64) or b"1")
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def main() -> NoReturn:
    """Call the server or, if that cannot be, the real Python."""
    arguments = sys.argv[1:]
    with open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "server.json")) as file:
        known = json.load(file)
    if is_served(arguments, known["environment"], known["code"]):
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(known["socket"])
        except OSError:  # it has ended
            server.close()
        else:
            call(server, arguments)
    os.execv(known["python"], [known["python"], *arguments])


if __name__ == "__main__":
    main()
