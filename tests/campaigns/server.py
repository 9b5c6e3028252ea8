"""A hostile server: a download is the right file, or refused by a sentence, and never endless."""

import contextlib
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

from campaigns.damage import HOSTILE, damaged_bytes
from campaigns.run import WrongOutput

from nmtcore.config.corpora import FileSettings
from nmtcore.corpus import download

DATA = b"".join(b"line %d\n" % i for i in range(5000))


class Handler(BaseHTTPRequestHandler):
    """Answers with damaged headers and bodies, drawn at random."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a request."""
        draw = self.server.random.random
        choose = self.server.random.choice
        first = 0
        if (asked := self.headers.get("Range", "")) and draw() < 0.8:
            first = int(asked.removeprefix("bytes=").rstrip("-"))
        body = DATA[first:] if draw() < 0.6 else damaged_bytes(DATA[first:], self.server.random)
        status = choose((200, 206)) if draw() < 0.1 else 206 if first else 200
        self.send_response(status if draw() < 0.95 else choose((100, 204, 302, 304, 404, 416, 500, 503, 599)))
        total = choose((len(DATA), len(DATA), len(DATA), 10**12, 5))
        headers = {
            "Content-Length": choose((len(DATA) - first, len(DATA) - first, None, "9" * 5000, -1, "x", 10**15)),
            "Content-Range": f"bytes {first}-{len(DATA) - 1}/{total}" if first else None,
            "ETag": choose(('"a"', '"a"', '"b"', "W/x", None)),
            "Transfer-Encoding": choose((None,) * 5 + ("chunked",)),
            "Location": choose((None,) * 9 + ("file:///etc/passwd", "http://127.0.0.1:1/", "gopher://x")),
        }
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, str(value))
        if draw() < 0.05:
            self.wfile.write(choose(HOSTILE))
        with contextlib.suppress(OSError):
            self.end_headers()
            self.wfile.write(body if draw() < 0.8 else body[: len(body) // 2])
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Be silent."""


def attempt(random: Random, folder: Path) -> str:
    """Download a file whose sum, or length, may be known."""
    download.PAUSE, download.TIMEOUT = 0.001, 2
    pins = {"sha256": hashlib.sha256(DATA).hexdigest()} if random.random() < 0.6 else {}
    pins |= {"length": len(DATA)} if random.random() < 0.5 else {}
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.random = True, Random(random.random())
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        file = FileSettings(name="file", url=f"http://127.0.0.1:{server.server_port}/file", **pins)
        try:
            download.download(file, target=folder / "file", manual_folder=folder, http_hosts=["127.0.0.1"])
        finally:
            server.shutdown()
    if pins.get("sha256") and (folder / "file").read_bytes() != DATA:
        raise WrongOutput("another file than pinned")
    return "clean"
