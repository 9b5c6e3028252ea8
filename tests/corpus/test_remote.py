"""Downloads from a local server whose answers each test defines."""

import contextlib
import hashlib
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nmtcore.config.corpora import FileSettings, MirrorSettings
from nmtcore.corpus import remote
from nmtcore.corpus.download import download
from nmtcore.corpus.partial import SourceFailed, open_partial, partial_path
from nmtcore.errors import UserError

DATA = b"".join(b"line %d of a corpus\n" % k for k in range(3000))
OTHER = DATA[::-1]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Server(ThreadingHTTPServer):
    """Answers request k with `answers[k]` (then always with the last answer) and records the requests' headers."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.requests = [], []
        self.done = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/file"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        server = self.server
        answer = server.answers[min(len(server.requests), len(server.answers) - 1)]
        server.requests.append(dict(self.headers))
        answer(self)
        self.close_connection = True

    def send(self, status: int, body: bytes, **headers: object):
        self.send_response(status)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {"Content-Length": len(body), **named}.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else body)

    def log_message(self, *args):
        pass


def serve(data=DATA, *, stop=None, tag='"one"', ranges=True, **lies):
    """Answer correctly, but break off after `stop` bytes of the file and override headers by `lies`."""

    def answer(handler):
        requested = handler.headers.get("Range")
        same = handler.headers.get("If-Range", tag) == tag
        if requested and ranges and same:
            first = int(requested.removeprefix("bytes=").rstrip("-"))
            content_range = f"bytes {first}-{len(data) - 1}/{len(data)}"
            headers = {"Content-Length": len(data) - first, "Content-Range": content_range, "ETag": tag}
            handler.send(206, data[first:stop], **(headers | lies))
        else:
            handler.send(200, data[:stop], **({"Content-Length": len(data), "ETag": tag} | lies))

    return answer


def error(status):
    return lambda handler: handler.send(status, b"no")


def redirect(location):
    return lambda handler: handler.send(302, b"", Location=location)


def stall(handler):
    handler.send(200, DATA[:5000], ETag='"one"', Content_Length=len(DATA))
    handler.server.done.wait(10)


def drip(handler):
    handler.send(200, b"", ETag='"one"', Content_Length=len(DATA))
    for k in range(200):
        if handler.server.done.wait(0.01):
            return
        handler.wfile.write(DATA[k : k + 1])
        handler.wfile.flush()


def chunked(*chunks, end=b"0\r\n\r\n"):
    def answer(handler):
        handler.send(200, b"", Content_Length=None, Transfer_Encoding="chunked")
        handler.wfile.write(b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + end)

    return answer


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    with Server() as server:
        thread = threading.Thread(target=partial(server.serve_forever, 0.01))
        thread.start()
        yield server
        server.done.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "downloads" / "file"


@pytest.fixture
def fetch(server, target, tmp_path):
    def fetch(*answers, url=None, **settings):
        server.answers, server.requests = list(answers), []
        arguments = {"target": target, "manual_folder": tmp_path / "manual", "http_hosts": ["127.0.0.1"]}
        return download(FileSettings(name="file", url=url or server.url, **settings), **arguments)

    return fetch


def part(target):
    return partial_path(target).read_bytes()


def test_a_download_leaves_only_the_file_and_its_records(fetch, target):
    facts = fetch(serve(), sha256=sha(DATA), length=len(DATA))
    assert (facts["sha256"], facts["length"]) == (sha(DATA), len(DATA))
    assert target.read_bytes() == DATA
    assert sorted(path.name for path in target.parent.iterdir()) == [".file.known.json", "file", "file.json"]


def test_a_broken_connection_is_resumed(fetch, target, server):
    fetch(serve(stop=10_000), serve(stop=30_000), serve(), sha256=sha(DATA))
    assert target.read_bytes() == DATA
    assert [request.get("Range") for request in server.requests] == [None, "bytes=10000-", "bytes=30000-"]
    assert server.requests[1]["If-Range"] == '"one"'


def test_a_later_run_resumes_the_download(fetch, target, server):
    with pytest.raises(
        UserError, match=r"only 10000 of \d+ bytes arrived, 5 times .*10000 bytes are kept, and the next"
    ):
        fetch(serve(stop=10_000))
    assert part(target) == DATA[:10_000]
    fetch(serve())
    assert target.read_bytes() == DATA
    assert [request["Range"] for request in server.requests] == ["bytes=10000-"]


def test_a_complete_partial_file_is_not_fetched_again(fetch, target, server):
    with open_partial(target) as unfinished:
        unfinished.restart(remote.Origin(url=server.url, validator='"one"', length=len(DATA)))
        unfinished.write(DATA)
    fetch(serve(OTHER))
    assert target.read_bytes() == DATA
    assert server.requests == []


def test_the_download_restarts_if_the_server_ignores_ranges(fetch, target, server):
    fetch(serve(stop=10_000), serve(ranges=False), sha256=sha(DATA))
    assert target.read_bytes() == DATA
    assert server.requests[1]["Range"] == "bytes=10000-"


def test_the_download_restarts_if_the_file_has_changed(fetch, target):
    fetch(serve(stop=10_000), serve(OTHER, tag='"two"'))
    assert target.read_bytes() == OTHER


def test_the_download_restarts_if_the_file_has_shrunk(fetch, target):
    fetch(serve(stop=10_000), error(416), serve(DATA[:5000], tag='"two"'))
    assert target.read_bytes() == DATA[:5000]
    with pytest.raises(UserError, match=r"its length is 5000 bytes, not \d+ bytes as the data set says"):
        fetch(serve(DATA[:5000]), length=len(DATA))


@pytest.mark.parametrize(
    "content_range",
    [None, "bytes 0-57889/57890", "bytes 10000-20000/57890", "bytes 10000-57889/*", "lines 1-2/3", "bytes 10000-1/2"],
)
def test_bytes_outside_the_requested_range_are_not_appended(content_range, fetch, target):
    content_range = content_range and content_range.replace("57890", str(len(DATA))).replace(
        "57889", str(len(DATA) - 1)
    )
    fetch(serve(stop=10_000), serve(**{"Content-Range": content_range}), serve())
    assert target.read_bytes() == DATA


def test_without_a_validator_resuming_requires_a_checksum(fetch, target, server):
    fetch(serve(stop=10_000, ETag=None), serve(ETag=None))
    assert [request.get("Range") for request in server.requests] == [None, None]
    target.unlink()
    fetch(serve(stop=10_000, ETag='W/"weak"'), serve(), sha256=sha(DATA))
    assert server.requests[1]["Range"] == "bytes=10000-"
    assert "If-Range" not in server.requests[1]
    assert target.read_bytes() == DATA


def test_a_modification_date_is_a_validator(fetch, server):
    date = "Sat, 21 Nov 2020 10:00:00 GMT"
    fetch(serve(stop=10_000, **{"ETag": None, "Last-Modified": date}), serve(tag=date))
    assert server.requests[1]["If-Range"] == date


def test_a_mixture_of_two_files_is_discarded(fetch, target):
    with pytest.raises(UserError, match="its sha256 is"):
        fetch(serve(stop=10_000, ETag=None), serve(OTHER, ETag=None), sha256=sha(DATA))
    assert not partial_path(target).exists()
    fetch(serve(), sha256=sha(DATA))


def test_a_stalled_download_is_resumed(fetch, target, server, monkeypatch):
    monkeypatch.setattr(remote, "TIMEOUT", 0.2)
    fetch(stall, serve())
    assert target.read_bytes() == DATA
    assert server.requests[1]["Range"] == "bytes=5000-"


def test_a_very_slow_download_is_retried(fetch, target, server, monkeypatch):
    monkeypatch.setattr(remote, "TIMEOUT", 0.2)
    fetch(drip, serve())
    assert target.read_bytes() == DATA
    assert len(server.requests) == 2


def test_a_server_that_always_stalls_is_given_up(fetch, server, monkeypatch):
    monkeypatch.setattr(remote, "TIMEOUT", 0.05)
    with pytest.raises(UserError, match=r"the transfer broke off \(timed out\), 5 times in a row; 5000 bytes"):
        fetch(stall)
    assert len(server.requests) == 5


def test_temporary_http_errors_are_retried(fetch, target, server):
    fetch(error(503), error(429), serve())
    assert target.read_bytes() == DATA
    with pytest.raises(UserError, match=r"the server answers 503 .*5 times"):
        fetch(error(503))


@pytest.mark.parametrize("status", [403, 404, 501])
def test_permanent_http_errors_are_not_retried(status, fetch, target, server):
    with pytest.raises(UserError, match=f"the server answers {status}"):
        fetch(error(status))
    assert len(server.requests) == 1
    assert list(target.parent.iterdir()) == []


def test_an_unrequested_range_is_rejected(fetch):
    with pytest.raises(UserError, match="the server answers 206"):
        fetch(lambda handler: handler.send(206, DATA[:100], Content_Range=f"bytes 0-99/{len(DATA)}"))


@pytest.mark.parametrize("lie", [10, 10**9])
def test_a_wrong_content_length_is_detected(lie, fetch):
    """A pin reveals that a length is too short; missing bytes reveal that it is too long."""
    sentence = "its length is 10 bytes" if lie == 10 else "the server sends other bytes"
    with pytest.raises(UserError, match=sentence):
        fetch(serve(**{"Content-Length": lie}), length=len(DATA) if lie == 10 else None)
    with pytest.raises(UserError, match="its sha256 is" if lie == 10 else sentence):
        fetch(serve(**{"Content-Length": lie}), sha256=sha(DATA))


def test_an_html_page_is_rejected(fetch, target):
    with pytest.raises(UserError, match="it is an HTML page, perhaps an error or login page"):
        fetch(serve(b"<!DOCTYPE html><html>Moved to our new site</html>"))
    assert list(target.parent.iterdir()) == []


def test_a_truncated_chunked_transfer_is_detected(fetch, target):
    fetch(chunked(DATA[:777], DATA[777:]))
    assert target.read_bytes() == DATA
    with pytest.raises(UserError, match="broke off"):
        fetch(chunked(DATA[:777], DATA[777:], end=b""))
    with pytest.raises(UserError, match="broke off"):
        fetch(chunked(DATA[:777], end=b"ff\r\nabc"))


def test_a_response_without_length_requires_a_pinned_length_or_checksum(fetch, target):
    endless = serve(**{"Content-Length": None})
    with pytest.raises(UserError, match=r"the server does not report the length, .* pin the `length`"):
        fetch(endless)
    fetch(endless, sha256=sha(DATA))
    fetch(endless, length=len(DATA))
    with pytest.raises(UserError, match=f"its length is 100 bytes, not {len(DATA)} bytes"):
        fetch(serve(stop=100, **{"Content-Length": None}), length=len(DATA))


def test_redirects_to_allowed_addresses_are_followed(fetch, target, server):
    fetch(redirect("/elsewhere"), redirect(server.url), serve())
    assert target.read_bytes() == DATA


@pytest.mark.parametrize(
    ("location", "sentence"),
    [
        ("ftp://example.org/x", "it redirects to ftp://example.org/x, and only https addresses are supported"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("http://example.org/x", "it redirects to http://example.org/x, and http is refused; if example.org does not"),
    ],
)
def test_redirects_to_other_addresses_are_refused(location, sentence, fetch, server):
    with pytest.raises(UserError, match=sentence):
        fetch(redirect(location))
    assert len(server.requests) == 1


def test_circular_redirects_end(fetch, server):
    with pytest.raises(UserError, match="answers 302"):
        fetch(redirect("/again"))
    assert len(server.requests) <= 11


def test_check_address_refuses_http_and_other_schemes():
    remote.check_address("https://example.org/x", ())
    remote.check_address("http://example.org:80/x", ("example.org",))
    for url in ("http://example.org/x", "ftp://example.org/x", "file:///x", "x"):
        with pytest.raises(SourceFailed, match=r"http is refused|only https"):
            remote.check_address(url, ("other.org",))
    with pytest.raises(SourceFailed, match="redirects from https to http are not followed"):
        remote.check_address("http://example.org/x", ("example.org",), redirected_from="https://example.org/x")


def test_remote_length_asks_the_server(server):
    server.answers = [redirect("/x"), serve(), error(404), serve(**{"Content-Length": None})]
    assert [remote.remote_length(server.url, ["127.0.0.1"]) for _ in range(3)] == [len(DATA), None, None]
    assert remote.remote_length("http://127.0.0.1:9/x", ["127.0.0.1"]) is None
    assert remote.remote_length(server.url, []) is None


def test_an_unreachable_server_fails_at_once(fetch):
    with pytest.raises(UserError, match=r"127\.0\.0\.1:9/x: cannot be reached"):
        fetch(url="http://127.0.0.1:9/x")


def test_a_remote_mirror_comes_before_the_url(fetch, server, target, tmp_path):
    mirrors = (MirrorSettings(path="a/file"), MirrorSettings(path=server.url + "2", member="m"))
    server.answers = [error(404), serve()]
    facts = download(
        FileSettings(name="file", url="https://localhost:1/x", mirrors=mirrors),
        target=target,
        mirror_roots=[server.url],
        manual_folder=tmp_path,
        http_hosts=["127.0.0.1"],
        progress=True,
    )
    assert (facts["source"], facts["mirror"]) == (server.url + "2", server.url + "2")
    assert facts["passed_over"] == [f"{server.url}/a/file: the server answers 404 Not Found"]
    assert target.read_bytes() == DATA


def test_no_more_than_the_pinned_length_is_received(fetch, target, server):
    def endless(handler):
        handler.send(200, b"", Content_Length=None, Transfer_Encoding="chunked")
        with contextlib.suppress(OSError):
            while not handler.server.done.is_set():
                handler.wfile.write(b"10000\r\n" + bytes(1 << 16) + b"\r\n")

    with pytest.raises(UserError, match=f"the server sends more than the {len(DATA)} bytes of the file"):
        fetch(endless, length=len(DATA))
    assert len(server.requests) == 1
    assert not partial_path(target).exists()


@pytest.mark.parametrize("record", ["{", "[]", "{}", '{"url": 1, "validator": null, "length": null}', "[" * 10**5])
def test_a_damaged_record_of_an_unfinished_download_restarts_it(record, fetch, target, server):
    with pytest.raises(UserError, match="bytes are kept"):
        fetch(serve(stop=10_000))
    partial_path(target).with_name(partial_path(target).name + ".json").write_text(record)
    fetch(serve())
    assert target.read_bytes() == DATA
    assert "Range" not in server.requests[0]


def test_numbers_that_nobody_could_mean_are_ignored(fetch, target):
    fetch(serve(Content_Length="9" * 5000, stop=None), sha256=sha(DATA))
    assert target.read_bytes() == DATA
