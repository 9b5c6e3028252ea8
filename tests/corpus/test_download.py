"""Downloads: the first source with the right file is used, and files appear complete or not at all.

Servers are local; each test says how they answer.
"""

import bz2
import fcntl
import gzip
import hashlib
import lzma
import threading
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyarrow as pa
import pytest

from nmtcore.config.corpora import FileSettings, MirrorSettings
from nmtcore.corpus import download as module
from nmtcore.corpus.download import checksums_path, download
from nmtcore.corpus.sources import member_to_read, missing_manual, partial_path, sidecar_path, without_member
from nmtcore.errors import UserError
from nmtcore.files import read_json

DATA = b"".join(b"line %d of a corpus\n" % k for k in range(3000))
OTHER = DATA[::-1]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "downloads" / "x" / "file.en"


@pytest.fixture
def fetch(tmp_path, target):
    return partial(download, target=target, manual_folder=tmp_path / "manual")


@pytest.fixture
def by_hand(tmp_path):
    """The path of a file that was fetched by hand."""
    path = tmp_path / "manual" / "x" / "file.en"
    path.parent.mkdir(parents=True)
    return path


def mirror(tmp_path, name: str, data: bytes):
    path = tmp_path / name / "multi30k" / "train.en"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return tmp_path / name


def settings(**values) -> FileSettings:
    mirror = {key.removeprefix("mirror_"): values.pop(key) for key in list(values) if key.startswith("mirror_")}
    mirrors = (MirrorSettings(path="multi30k/train.en", **mirror),)
    return FileSettings(name="x/file.en", mirrors=mirrors, **values)


def leftovers(target):
    return [path.name for path in target.parent.iterdir()] if target.parent.exists() else []


def test_a_local_mirror_comes_first_and_the_sidecar_names_it(fetch, target, tmp_path):
    root_folder = mirror(tmp_path, "root", DATA)
    file_settings = settings(url="https://localhost:1/x", sha256="0" * 64, mirror_sha256=sha(DATA), mirror_member="m")
    facts = fetch(file_settings, mirror_roots=[str(tmp_path / "none"), str(root_folder)])
    assert target.read_bytes() == DATA
    assert read_json(sidecar_path(target)) == facts
    assert facts["source"] == str(root_folder / "multi30k" / "train.en")
    assert (facts["mirror"], facts["sha256"], facts["length"]) == ("multi30k/train.en", sha(DATA), len(DATA))
    assert facts["passed_over"] == [f"{tmp_path / 'none'}/multi30k/train.en: there is no such file"]


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (settings(mirror_sha256="0" * 64), r"root/multi30k/train\.en: its sha256 is .*, not 0000"),
        (settings(mirror_length=7), "its length is 64890 bytes, not 7"),
        (settings(sha256="0" * 64), "its sha256 is .*, not 0000"),
        (
            FileSettings(name="x", url="http://example.org/x"),
            r"http://example\.org/x: only https, .*\n.* set `mirrors`",
        ),
        (FileSettings(name="models/stanza_xx/pos.pt", url="http://x.org"), "model, as a folder or file stanza_xx, to"),
    ],
)
def test_all_sources_that_failed_are_listed_with_advice(file, sentence, fetch, target, tmp_path):
    roots = [str(tmp_path / "none"), str(mirror(tmp_path, "root", DATA))]
    with pytest.raises(UserError, match=rf"could not be fetched\. Tried:\n(.|\n)*{sentence}") as caught:
        fetch(file, mirror_roots=roots)
    assert all(f"{tmp_path}/none/{own.path}: there is no such file" in str(caught.value) for own in file.mirrors)
    assert leftovers(target) == []


def test_a_recorded_checksum_outlasts_the_file_and_its_sidecar(fetch, target, tmp_path):
    roots = [str(mirror(tmp_path, "root", DATA))]
    fetch(settings(), mirror_roots=roots)
    target.unlink()
    sidecar_path(target).unlink()  # as Snakemake does before it runs a job again
    fetch(settings(), mirror_roots=roots)
    mirror(tmp_path, "root", DATA[:-1] + b"!")
    with pytest.raises(UserError, match=r"when it was first fetched; if the new file is right, delete .*known\.json"):
        fetch(settings(), mirror_roots=roots)
    assert target.read_bytes() == DATA
    checksums_path(target).unlink()
    fetch(settings(), mirror_roots=roots)
    assert target.read_bytes() == DATA[:-1] + b"!"


@pytest.mark.parametrize("pins", [{"mirror_member": "b"}, {"mirror_sha256": sha(DATA)}])
def test_a_mirror_with_another_archive_has_its_own_checksum(pins, fetch, target, by_hand, tmp_path):
    own = {"manual": "Ask.", "member": "a"} if "mirror_member" in pins else {"manual": "Ask."}
    file_settings = without_member(settings(**own, **pins))
    roots = [str(mirror(tmp_path, "root", DATA))]
    by_hand.write_bytes(DATA[1:])
    for chosen, data in ((roots, DATA), ([], DATA[1:]), (roots, DATA)):
        fetch(file_settings, mirror_roots=chosen)
        assert target.read_bytes() == data
    by_hand.write_bytes(DATA[2:])
    with pytest.raises(UserError, match="when it was first fetched"):
        fetch(file_settings)


def test_the_member_is_that_of_the_source(fetch, by_hand, tmp_path):
    root_folder = str(mirror(tmp_path, "root", DATA))
    file_settings = settings(manual="Ask.", member="own/a.en", mirror_member="mirror/a.en")
    fetch(file_settings, mirror_roots=[root_folder])
    assert member_to_read(file_settings, tmp_path / "downloads") == "mirror/a.en"
    # Another data set may read a different member of the same archive.
    other = settings(manual="Ask.", member="own/a.de", mirror_member="mirror/a.de")
    assert member_to_read(other, tmp_path / "downloads") == "mirror/a.de"
    with pytest.raises(UserError, match=r"which is no longer a mirror in the data set: delete the file"):
        member_to_read(replace(file_settings, mirrors=()), tmp_path / "downloads")
    by_hand.write_bytes(DATA)
    fetch(file_settings)
    assert member_to_read(file_settings, tmp_path / "downloads") == "own/a.en"


def test_two_processes_cannot_write_the_same_file(fetch, target, tmp_path):
    target.parent.mkdir(parents=True)
    with partial_path(target).open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=r"file\.en is being downloaded by another process"):
            fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", DATA))])


def test_a_missing_manual_file_raises_with_instructions_unless_a_mirror_may_have_it(fetch, tmp_path):
    file, manual = settings(manual="Register at https://example.org and take package 00."), tmp_path / "manual"
    sentence = (
        "x/file.en must be fetched by hand: Register at https://example.org and take package 00. "
        f"Put it at {manual}/x/file.en."
    )
    assert missing_manual(file, manual, [tmp_path / "root"]) == sentence
    with pytest.raises(UserError) as caught:
        fetch(file)
    assert str(caught.value) == sentence
    assert missing_manual(file, manual, [mirror(tmp_path, "root", DATA)]) is None


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

    def do_GET(self):
        server = self.server
        answer = server.answers[min(len(server.requests), len(server.answers) - 1)]
        server.requests.append(dict(self.headers))
        answer(self)
        self.close_connection = True

    def send(self, status: int, body: bytes, **headers: object):
        self.send_response(status)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        for name, value in {"Content-Length": len(body), "Connection": "close", **named}.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve(data=DATA, *, stop=None, ranges=True, **lies):
    """Answer correctly, but break off after `stop` bytes of the file and override headers by `lies`."""

    def answer(handler):
        requested = handler.headers.get("Range")
        if requested and ranges:
            first = int(requested.removeprefix("bytes=").rstrip("-"))
            headers = {"Content-Length": len(data) - first, "Content-Range": f"bytes {first}-{len(data) - 1}/*"}
            handler.send(206, data[first:stop], **(headers | lies))
        else:
            handler.send(200, data[:stop], **({"Content-Length": len(data)} | lies))

    return answer


def error(status):
    return lambda handler: handler.send(status, b"no")


def redirect(location):
    return lambda handler: handler.send(302, b"", Location=location)


def stall(handler):
    handler.send(200, DATA[:5000], Content_Length=len(DATA))
    handler.server.done.wait(10)


def chunked(*chunks, end=b"0\r\n\r\n"):
    def answer(handler):
        handler.send(200, b"", Content_Length=None, Transfer_Encoding="chunked")
        handler.wfile.write(b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + end)

    return answer


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(module, "PAUSE", 0.001)
    with Server() as server:
        thread = threading.Thread(target=partial(server.serve_forever, 0.01))
        thread.start()
        yield server
        server.done.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def fetch_from(server, fetch):
    def fetch_from(*answers, url=None, **settings):
        server.answers, server.requests = list(answers), []
        return fetch(FileSettings(name="file", url=url or server.url, **settings), http_hosts=["127.0.0.1"])

    return fetch_from


def ranges(server):
    return [request.get("Range") for request in server.requests]


def test_a_broken_connection_is_resumed_if_the_checksum_is_known(fetch_from, target, server):
    fetch_from(serve(stop=10_000), serve(stop=30_000), serve(), sha256=sha(DATA))
    assert target.read_bytes() == DATA
    assert ranges(server) == [None, "bytes=10000-", "bytes=30000-"]
    target.unlink()
    fetch_from(serve(stop=10_000), serve())  # by the checksum of the first download
    assert ranges(server) == [None, "bytes=10000-"]
    checksums_path(target).unlink()
    fetch_from(serve(stop=10_000), serve())
    assert ranges(server) == [None, None]
    assert target.read_bytes() == DATA


def test_a_later_run_resumes_the_download(fetch_from, target, server):
    with pytest.raises(UserError, match=r"the transfer broke off \(.*, 5 times .*10000 bytes are kept, and the next"):
        fetch_from(serve(stop=10_000), sha256=sha(DATA))
    assert partial_path(target).read_bytes() == DATA[:10_000]
    fetch_from(serve(), sha256=sha(DATA))
    assert target.read_bytes() == DATA
    assert ranges(server) == ["bytes=10000-"]


@pytest.mark.parametrize("begun", [OTHER[:10_000], DATA + b"more"])
def test_bytes_of_another_file_are_discarded(begun, fetch_from, target, server):
    """If only the checksum shows that they are, the run fails, and the next one begins again."""
    target.parent.mkdir(parents=True)
    partial_path(target).write_bytes(begun)
    answer = lambda handler: (error(416) if "64894" in str(handler.headers) else serve())(handler)
    if begun in OTHER:
        with pytest.raises(UserError, match="its sha256 is"):
            fetch_from(answer, sha256=sha(DATA))
    fetch_from(answer, sha256=sha(DATA))
    assert target.read_bytes() == DATA


@pytest.mark.parametrize(
    "answers",
    [
        [serve(stop=10_000), serve(ranges=False)],
        [stall, serve()],
        [error(503), error(429), serve()],
        [redirect("/elsewhere"), serve()],
        [chunked(DATA[:777], DATA[777:])],
        [serve(**{"Content-Length": None})],
    ],
)
def test_answers_that_lead_to_the_file(answers, fetch_from, target, monkeypatch):
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    fetch_from(*answers, sha256=sha(DATA))
    assert target.read_bytes() == DATA


REFUSED = {
    "another file": (serve(OTHER), {"sha256": sha(DATA)}, f"its sha256 is {sha(OTHER)}, not {sha(DATA)} as", 1),
    "another length": (serve(DATA[:5000]), {"length": 64_890}, "its length is 5000 bytes, not 64890 bytes as expec", 1),
    "cut off": (chunked(DATA, end=b""), {}, "the transfer broke off", 5),
    "no length": (serve(**{"Content-Length": None}), {}, "the server does not report the length, so a cut-off", 1),
    "nothing": (serve(b""), {}, "it is empty", 1),
    "HTML": (serve(b"<!DOCTYPE html><html>We moved"), {}, "it is an HTML page, perhaps an error or login page", 1),
    "busy": (error(503), {}, "the server answers 503 Service Unavailable, 5 times in a row", 5),
    "a range": (lambda handler: handler.send(206, DATA[:9]), {}, "the server answers 206 Partial Content", 1),
    "redirect to http": (redirect("http://example.org/x"), {}, "only https, and http on `http_hosts`, is supported", 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_answers_are_refused(name, fetch_from, target, server, monkeypatch):
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    answer, pins, sentence, requests = REFUSED[name]
    with pytest.raises(UserError) as caught:
        fetch_from(answer, **pins)
    assert f"{server.url}: {sentence}" in str(caught.value)
    assert len(server.requests) == requests
    assert leftovers(target) == []


PACKED = {
    "tgz": gzip.compress(DATA), "bz2": bz2.compress(DATA), "xz": lzma.compress(DATA),
    "zst": pa.compress(DATA, "zstd", asbytes=True), "zip": b"PK\x03\x04" + DATA,
}  # fmt: skip


@pytest.mark.parametrize(("ending", "place"), [*((ending, "name") for ending in PACKED), ("tgz", "address")])
def test_a_file_without_a_checksum_begins_as_its_ending_says(ending, place, fetch, target, tmp_path):
    target = target.with_name(f"file.{ending}") if place == "name" else target
    path = tmp_path / ("file.php" if place == "name" else f"file.{ending}")
    file = FileSettings(name=f"x/{target.name}", url=path.as_uri())
    path.write_bytes(DATA)
    with pytest.raises(UserError, match=rf"its name ends in \.{ending}, but its first bytes are not those of such a"):
        fetch(file, target=target)
    assert leftovers(target) == []
    path.write_bytes(PACKED[ending])
    fetch(file, target=target)
    assert target.read_bytes() == PACKED[ending]


def test_only_allowed_hosts_are_reached_without_https(fetch, server):
    for url in (server.url, "ftp://example.org/x", "http://127.0.0.1.example.org/x"):
        hosts = [] if url == server.url else ["127.0.0.1"]
        with pytest.raises(UserError, match="only https, and http on `http_hosts`, is supported"):
            fetch(FileSettings(name="file", url=url), http_hosts=hosts)
    with pytest.raises(UserError, match=r"127\.0\.0\.1:9/x: cannot be reached \(.*refused"):
        fetch(FileSettings(name="file", url="http://127.0.0.1:9/x"), http_hosts=["127.0.0.1"])


def test_a_remote_mirror_comes_before_the_url(fetch, server, target):
    mirrors = (MirrorSettings(path="a/file"), MirrorSettings(path=server.url + "2", member="m"))
    server.answers = [error(404), serve()]
    file = FileSettings(name="file", url="https://localhost:1/x", mirrors=mirrors)
    facts = fetch(file, mirror_roots=[server.url], http_hosts=["127.0.0.1"], progress=True)
    assert (facts["source"], facts["mirror"]) == (server.url + "2", server.url + "2")
    assert facts["passed_over"] == [f"{server.url}/a/file: the server answers 404 Not Found"]
    assert target.read_bytes() == DATA
