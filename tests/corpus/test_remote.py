"""Downloads over the network, from a server that does whatever a test tells it to."""

import hashlib
import threading
import time
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
    """Answers request k by `answers[k]` (the last one again and again), and keeps what was asked for."""

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
    """A server as it should be, which breaks off after `stop` bytes of the file."""

    def answer(handler):
        asked = handler.headers.get("Range")
        same = handler.headers.get("If-Range", tag) == tag
        if asked and ranges and same:
            first = int(asked.removeprefix("bytes=").rstrip("-"))
            told = f"bytes {first}-{len(data) - 1}/{len(data)}"
            facts = {"Content-Length": len(data) - first, "Content-Range": told, "ETag": tag}
            handler.send(206, data[first:stop], **(facts | lies))
        else:
            handler.send(200, data[:stop], **({"Content-Length": len(data), "ETag": tag} | lies))

    return answer


def error(status):
    return lambda handler: handler.send(status, b"no")


def move(place):
    return lambda handler: handler.send(302, b"", Location=place)


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
        places = {"target": target, "manual_folder": tmp_path / "manual", "http_hosts": ["127.0.0.1"]}
        return download(FileSettings(name="file", url=url or server.url, **settings), **places)

    return fetch


def part(target):
    return partial_path(target).read_bytes()


def test_a_file_comes_whole_and_nothing_else_is_left(fetch, target):
    facts = fetch(serve(), sha256=sha(DATA), length=len(DATA))
    assert (facts["sha256"], facts["length"]) == (sha(DATA), len(DATA))
    assert target.read_bytes() == DATA
    assert sorted(path.name for path in target.parent.iterdir()) == [".file.known.json", "file", "file.json"]


def test_a_connection_that_breaks_goes_on_where_it_was(fetch, target, server):
    fetch(serve(stop=10_000), serve(stop=30_000), serve(), sha256=sha(DATA))
    assert target.read_bytes() == DATA
    assert [request.get("Range") for request in server.requests] == [None, "bytes=10000-", "bytes=30000-"]
    assert server.requests[1]["If-Range"] == '"one"'


def test_a_later_run_goes_on_where_the_last_one_was(fetch, target, server):
    with pytest.raises(
        UserError, match=r"only 10000 of \d+ bytes arrived, 5 times .*10000 bytes are kept, and the next"
    ):
        fetch(serve(stop=10_000))
    assert part(target) == DATA[:10_000]
    fetch(serve())
    assert target.read_bytes() == DATA
    assert [request["Range"] for request in server.requests] == ["bytes=10000-"]


def test_a_file_that_was_whole_is_not_fetched_again(fetch, target, server):
    with open_partial(target) as begun:
        begun.restart(remote.Origin(url=server.url, validator='"one"', length=len(DATA)))
        begun.write(DATA)
    fetch(serve(OTHER))
    assert target.read_bytes() == DATA
    assert server.requests == []


def test_a_server_that_ignores_ranges_starts_afresh(fetch, target, server):
    fetch(serve(stop=10_000), serve(ranges=False), sha256=sha(DATA))
    assert target.read_bytes() == DATA
    assert server.requests[1]["Range"] == "bytes=10000-"


def test_a_file_that_changes_in_between_is_never_mixed(fetch, target):
    fetch(serve(stop=10_000), serve(OTHER, tag='"two"'))
    assert target.read_bytes() == OTHER


def test_a_file_that_shrinks_is_fetched_afresh(fetch, target):
    fetch(serve(stop=10_000), error(416), serve(DATA[:5000], tag='"two"'))
    assert target.read_bytes() == DATA[:5000]
    with pytest.raises(UserError, match=r"its length is 5000 bytes, not \d+ bytes as the data set says"):
        fetch(serve(DATA[:5000]), length=len(DATA))


@pytest.mark.parametrize(
    "told",
    [None, "bytes 0-57889/57890", "bytes 10000-20000/57890", "bytes 10000-57889/*", "lines 1-2/3", "bytes 10000-1/2"],
)
def test_bytes_that_were_not_asked_for_are_not_appended(told, fetch, target):
    told = told and told.replace("57890", str(len(DATA))).replace("57889", str(len(DATA) - 1))
    fetch(serve(stop=10_000), serve(**{"Content-Range": told}), serve())
    assert target.read_bytes() == DATA


def test_without_a_validator_only_a_file_with_a_sum_is_resumed(fetch, target, server):
    fetch(serve(stop=10_000, ETag=None), serve(ETag=None))
    assert [request.get("Range") for request in server.requests] == [None, None]
    target.unlink()
    fetch(serve(stop=10_000, ETag='W/"weak"'), serve(), sha256=sha(DATA))
    assert server.requests[1]["Range"] == "bytes=10000-"
    assert "If-Range" not in server.requests[1]
    assert target.read_bytes() == DATA


def test_a_date_of_change_is_a_validator(fetch, server):
    date = "Sat, 21 Nov 2020 10:00:00 GMT"
    fetch(serve(stop=10_000, **{"ETag": None, "Last-Modified": date}), serve(tag=date))
    assert server.requests[1]["If-Range"] == date


def test_what_is_put_together_wrongly_is_forgotten(fetch, target):
    with pytest.raises(UserError, match="its sha256 is"):
        fetch(serve(stop=10_000, ETag=None), serve(OTHER, ETag=None), sha256=sha(DATA))
    assert not partial_path(target).exists()
    fetch(serve(), sha256=sha(DATA))


def test_a_server_that_stalls_is_asked_again(fetch, target, server, monkeypatch):
    monkeypatch.setattr(remote, "TIMEOUT", 0.2)
    fetch(stall, serve())
    assert target.read_bytes() == DATA
    assert server.requests[1]["Range"] == "bytes=5000-"


def test_a_server_that_drips_is_asked_again(fetch, target, server, monkeypatch):
    monkeypatch.setattr(remote, "TIMEOUT", 0.2)
    fetch(drip, serve())
    assert target.read_bytes() == DATA
    assert len(server.requests) == 2


def test_a_server_that_always_stalls_is_given_up(fetch, server, monkeypatch):
    monkeypatch.setattr(remote, "TIMEOUT", 0.05)
    with pytest.raises(UserError, match=r"the transfer broke off \(timed out\), 5 times in a row; 5000 bytes"):
        fetch(stall)
    assert len(server.requests) == 5


def test_an_answer_that_may_pass_is_waited_for(fetch, target, server):
    fetch(error(503), error(429), serve())
    assert target.read_bytes() == DATA
    with pytest.raises(UserError, match=r"the server answers 503 .*5 times"):
        fetch(error(503))


@pytest.mark.parametrize("status", [401, 403, 404, 410, 501])
def test_an_answer_that_stays_is_said_at_once(status, fetch, target, server):
    with pytest.raises(UserError, match=f"the server answers {status}"):
        fetch(error(status))
    assert len(server.requests) == 1
    assert list(target.parent.iterdir()) == []


def test_a_part_is_no_file_although_nobody_asked_for_it(fetch):
    with pytest.raises(UserError, match="the server answers 206"):
        fetch(lambda handler: handler.send(206, DATA[:100], Content_Range=f"bytes 0-99/{len(DATA)}"))


@pytest.mark.parametrize("lie", [10, 10**9])
def test_a_server_that_lies_about_the_length(lie, fetch):
    """Too short a length is found by a pinned length or sum; too long a one by the bytes that never come."""
    sentence = "its length is 10 bytes" if lie == 10 else "the server sends other bytes"
    with pytest.raises(UserError, match=sentence):
        fetch(serve(**{"Content-Length": lie}), length=len(DATA) if lie == 10 else None)
    with pytest.raises(UserError, match="its sha256 is" if lie == 10 else sentence):
        fetch(serve(**{"Content-Length": lie}), sha256=sha(DATA))


def test_a_page_of_the_server_is_no_file(fetch, target):
    with pytest.raises(UserError, match="it is an HTML page, perhaps an error or login page"):
        fetch(serve(b"<!DOCTYPE html><html>Moved to our new site</html>"))
    assert list(target.parent.iterdir()) == []


def test_a_file_in_chunks_has_an_end(fetch, target):
    fetch(chunked(DATA[:777], DATA[777:]))
    assert target.read_bytes() == DATA
    with pytest.raises(UserError, match="broke off"):
        fetch(chunked(DATA[:777], DATA[777:], end=b""))
    with pytest.raises(UserError, match="broke off"):
        fetch(chunked(DATA[:777], end=b"ff\r\nabc"))


def test_a_file_without_any_end_needs_a_length_or_a_sum(fetch, target):
    endless = serve(**{"Content-Length": None})
    with pytest.raises(UserError, match=r"the server does not report the length, .* pin the `length`"):
        fetch(endless)
    fetch(endless, sha256=sha(DATA))
    fetch(endless, length=len(DATA))
    with pytest.raises(UserError, match=f"its length is 100 bytes, not {len(DATA)} bytes"):
        fetch(serve(stop=100, **{"Content-Length": None}), length=len(DATA))


def test_redirects_are_followed_to_addresses_that_are_as_good(fetch, target, server):
    fetch(move("/elsewhere"), move(server.url), serve())
    assert target.read_bytes() == DATA


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("ftp://example.org/x", "it redirects to ftp://example.org/x, and only https addresses are supported"),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("http://example.org/x", "it redirects to http://example.org/x, and http is refused; if example.org does not"),
    ],
)
def test_redirects_to_worse_addresses_are_refused(place, sentence, fetch, server):
    with pytest.raises(UserError, match=sentence):
        fetch(move(place))
    assert len(server.requests) == 1


def test_redirects_go_round_in_circles_only_so_often(fetch, server):
    with pytest.raises(UserError, match="answers 302"):
        fetch(move("/again"))
    assert len(server.requests) <= 11


def test_addresses_that_are_refused():
    remote.check_address("https://example.org/x", ())
    remote.check_address("http://example.org:80/x", ("example.org",))
    for url in ("http://example.org/x", "ftp://example.org/x", "file:///x", "x"):
        with pytest.raises(SourceFailed, match=r"http is refused|only https"):
            remote.check_address(url, ("other.org",))
    with pytest.raises(SourceFailed, match="redirects from https to http are not followed"):
        remote.check_address("http://example.org/x", ("example.org",), redirected_from="https://example.org/x")


def test_a_server_is_asked_for_a_length(server):
    server.answers = [move("/x"), serve(), error(404), serve(**{"Content-Length": None})]
    assert [remote.remote_length(server.url, ["127.0.0.1"]) for _ in range(3)] == [len(DATA), None, None]
    assert remote.remote_length("http://127.0.0.1:9/x", ["127.0.0.1"]) is None
    assert remote.remote_length(server.url, []) is None


def test_a_server_that_is_not_there_is_said_at_once(fetch):
    started = time.monotonic()
    with pytest.raises(UserError, match=r"127\.0\.0\.1:9/x: cannot be reached"):
        fetch(url="http://127.0.0.1:9/x")
    assert time.monotonic() - started < 10


def test_a_mirror_of_the_net_comes_before_the_address(fetch, server, target, tmp_path):
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
