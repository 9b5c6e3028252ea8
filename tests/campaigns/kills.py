"""Processes that are killed while they write or download: the next one makes the same files and leaves nothing else."""

import contextlib
import hashlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from campaigns.disk import MAPPED, WRITERS, prepare, written  # noqa: F401 (campaigns.run calls prepare)
from campaigns.run import WrongOutput

from nmtcore.config.corpora import FileSettings
from nmtcore.corpus import download as downloads
from nmtcore.corpus.download import checksums_path, download
from nmtcore.corpus.sources import sidecar_path
from nmtcore.files import read_json

DOWNLOADS = 0.3
"""The share of cases that kill a download."""
REPEATABLE = sorted(WRITERS.keys() - {"component"})
"""Writers that can be called again; `nmtcore new component` replaces no file, so it can only be told another name."""
LONGEST = 3
"""Seconds after which a writer is killed at the latest, on a busy machine."""


def attempt(random: Random, folder: Path) -> str:
    """Kill a writer or a download at any time, once or twice, then let it finish."""
    return (_kill_download if random.random() < DOWNLOADS else _kill_writer)(random, folder)


def _kill_writer(random: Random, folder: Path) -> str:
    name, seed = random.choice(REPEATABLE), random.randrange(2**32)
    began = time.perf_counter()
    WRITERS[name](folder / "reference", seed)
    duration = time.perf_counter() - began
    expected = written(folder / "reference")
    for _ in range(random.choice((1, 1, 2))):
        write = partial(WRITERS[name], folder / "out", seed)
        _run_and_kill(write, random.random() * min(1.2 * duration, LONGEST))
        half = {file for file, data in written(folder / "out").items() if file in expected and data != expected[file]}
        if half and name != "history":  # a log grows by lines
            raise WrongOutput(f"{name} left {sorted(half)} under their final names")
    WRITERS[name](folder / "out", seed)
    _compare(name, folder / "out", folder / "reference")
    return "clean"


def _compare(name: str, folder: Path, reference: Path) -> None:
    """Compare all files, and the names of all folders."""
    for of in (written, _folders):
        result, expected = of(folder), of(reference)
        if result != expected:
            raise WrongOutput(f"{name}: {sorted(result)} is not {sorted(expected)}")


def _folders(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_dir()}


def _run_and_kill(function: Callable[[], None], seconds: float) -> None:
    """Call a function in a process of its own, which is killed after some seconds."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        finally:  # also after an error, or the child would go on with the next cases
            os._exit(status)
    try:
        time.sleep(seconds)
    finally:
        os.kill(child, signal.SIGKILL)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) > 0:
        raise WrongOutput("the process ended with an error before it was killed")


BLOCKS = 40
"""Parts in which the server sends a file, with pauses between them."""
PAUSE = 0.002


class SlowServer(ThreadingHTTPServer):
    """Sends `data` slowly, from any byte if it has not changed."""

    daemon_threads = True
    data = b""

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that are killed."""

    @property
    def version(self) -> str:
        """The validator of the data."""
        return f'"{hashlib.md5(self.data).hexdigest()}"'


class Handler(BaseHTTPRequestHandler):
    """Answers requests for the file of a `SlowServer`."""

    def do_GET(self) -> None:
        """Answer a request."""
        data, first = self.server.data, 0
        if (asked := self.headers.get("Range")) and self.headers.get("If-Range") in (None, self.server.version):
            first = int(asked.removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(data) - first))
        self.send_header("ETag", self.server.version)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        size = len(data) // BLOCKS + 1
        for start in range(first, len(data), size):
            self.wfile.write(data[start : start + size])
            time.sleep(PAUSE)

    def log_message(self, *_: object) -> None:
        """Be silent."""


@contextlib.contextmanager
def _served(data: bytes) -> Iterator[SlowServer]:
    with SlowServer(("127.0.0.1", 0), Handler) as server:
        server.data = data
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def _kill_download(random: Random, folder: Path) -> str:
    """Kill a download while the file streams; the file may be another one when the next download begins."""
    downloads.PAUSE, target = 0.001, folder / "downloads/file"
    with _served(random.randbytes(random.randrange(1, 400_000))) as server:
        is_pinned = random.random() < 0.5
        pins = {"sha256": hashlib.sha256(server.data).hexdigest()} if is_pinned else {}
        file = FileSettings(name="file", url=f"http://127.0.0.1:{server.server_port}/file", **pins)

        def fetch() -> None:
            download(file, target=target, manual_folder=folder, http_hosts=["127.0.0.1"])

        versions = [server.data]
        for _ in range(random.choice((1, 1, 2, 3))):
            _run_and_kill(fetch, random.random() * 1.5 * BLOCKS * PAUSE)
            # It is an earlier version if that was whole, but its checksum not yet written.
            if target.exists() and target.read_bytes() not in versions:
                raise WrongOutput("a part of the file, under its final name")
            if not is_pinned and not checksums_path(target).exists() and random.random() < 0.3:
                server.data = random.randbytes(random.randrange(1, 400_000))
                versions.append(server.data)
        fetch()
        if target.read_bytes() != server.data:
            raise WrongOutput("another file than that of the server")
    if read_json(sidecar_path(target))["sha256"] != hashlib.sha256(target.read_bytes()).hexdigest():
        raise WrongOutput("a wrong record")
    if others := {path for path in target.parent.iterdir()} - {target, sidecar_path(target), checksums_path(target)}:
        raise WrongOutput(f"{sorted(path.name for path in others)} are left")
    return "clean"
