"""Downloads: from the first place that has the right file, whole or not at all."""

import errno
import hashlib
import subprocess
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from nmtcore.config.datasets import FileSettings, MirrorSettings
from nmtcore.corpus import download as downloads
from nmtcore.corpus.download import download, known_path, missing_manual, sidecar_path
from nmtcore.errors import UserError
from nmtcore.files import read_json

DATA = b"some text\n" * 5000


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def fetch(tmp_path):
    return partial(download, target=tmp_path / "downloads" / "x" / "file.gz", manual_folder=tmp_path / "manual")


@pytest.fixture
def target(tmp_path):
    return tmp_path / "downloads" / "x" / "file.gz"


def mirror(tmp_path, name: str, data: bytes):
    path = tmp_path / name / "multi30k" / "train.en"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return tmp_path / name


def settings(**values) -> FileSettings:
    mirror = {key.removeprefix("mirror_"): values.pop(key) for key in list(values) if key.startswith("mirror_")}
    mirrors = (MirrorSettings(path="multi30k/train.en", **mirror),)
    return FileSettings(name="x/file.gz", mirrors=mirrors, **values)


def leftovers(target):
    return [path.name for path in target.parent.iterdir()] if target.parent.exists() else []


def test_a_local_mirror_comes_first_and_the_sidecar_says_so(fetch, target, tmp_path):
    where = mirror(tmp_path, "root", DATA)
    wanted = settings(url="https://localhost:1/x", sha256="0" * 64, mirror_sha256=sha(DATA), mirror_member="m")
    facts = fetch(wanted, mirror_roots=[str(tmp_path / "none"), str(where)])
    assert target.read_bytes() == DATA
    assert read_json(sidecar_path(target)) == facts
    assert facts["source"] == str(where / "multi30k" / "train.en")
    assert (facts["member"], facts["sha256"], facts["length"]) == ("m", sha(DATA), len(DATA))
    assert facts["passed_over"] == [f"{tmp_path / 'none'}/multi30k/train.en: there is no such file"]


def test_roots_may_be_file_urls(fetch, target, tmp_path):
    where = mirror(tmp_path, "a root", DATA)
    fetch(settings(), mirror_roots=[where.as_uri()])
    assert target.read_bytes() == DATA


@pytest.mark.parametrize(
    ("pins", "sentence"),
    [
        ({"mirror_sha256": "0" * 64}, "its sha256 is .*, not 0000"),
        ({"mirror_length": 7}, "its length is 50000 bytes, not 7"),
    ],
)
def test_a_wrong_file_is_not_taken(pins, sentence, fetch, target, tmp_path):
    with pytest.raises(UserError, match=rf"file\.gz could not be fetched(.|\n)*train\.en: {sentence}"):
        fetch(settings(**pins), mirror_roots=[str(mirror(tmp_path, "root", DATA))])
    assert leftovers(target) == []


def test_a_wrong_mirror_is_passed_over_for_a_right_one(fetch, target, tmp_path):
    roots = [str(mirror(tmp_path, "bad", b"other")), str(mirror(tmp_path, "good", DATA))]
    facts = fetch(settings(mirror_sha256=sha(DATA)), mirror_roots=roots)
    assert target.read_bytes() == DATA
    assert "sha256" in facts["passed_over"][0]


def test_an_unpinned_sum_is_remembered_when_the_file_and_its_sidecar_are_gone(fetch, target, tmp_path):
    roots = [str(mirror(tmp_path, "root", DATA))]
    fetch(settings(), mirror_roots=roots)
    target.unlink()
    sidecar_path(target).unlink()  # as a workflow does before it makes its outputs again
    fetch(settings(), mirror_roots=roots)
    mirror(tmp_path, "root", DATA[:-1] + b"!")
    with pytest.raises(UserError, match=r"when it was first fetched; if the new file is right, delete .*known\.json"):
        fetch(settings(), mirror_roots=roots)
    assert target.read_bytes() == DATA
    known_path(target).unlink()
    fetch(settings(), mirror_roots=roots)
    assert target.read_bytes() == DATA[:-1] + b"!"


def test_all_places_that_failed_are_listed(fetch, target, tmp_path):
    wanted = settings(url="http://example.org/x")
    with pytest.raises(UserError) as caught:
        fetch(wanted, mirror_roots=[str(tmp_path / "one"), str(tmp_path / "two")])
    for part in ("one/multi30k/train.en: there is no such file", "two/", "only https addresses are fetched", "mirrors"):
        assert part in str(caught.value)


def test_no_place_at_all_is_said(fetch):
    with pytest.raises(UserError, match="nowhere: it has no URL, and no mirror root is set"):
        fetch(settings())


MANUAL = settings(manual="Register at https://example.org and take package 00.")


def test_a_file_to_fetch_by_hand_says_which_where_from_and_where_to(fetch, tmp_path):
    place = tmp_path / "manual" / "x" / "file.gz"
    sentence = (
        f"x/file.gz must be fetched by hand: Register at https://example.org and take package 00. Put it at {place}."
    )
    assert missing_manual(MANUAL, tmp_path / "manual", [tmp_path / "root"]) == sentence
    with pytest.raises(UserError) as caught:
        fetch(MANUAL)
    assert str(caught.value) == sentence


def test_a_file_that_was_fetched_by_hand_is_taken(fetch, target, tmp_path):
    place = tmp_path / "manual" / "x" / "file.gz"
    place.parent.mkdir(parents=True)
    place.write_bytes(DATA)
    assert missing_manual(MANUAL, tmp_path / "manual", []) is None
    assert fetch(MANUAL)["source"] == str(place)
    assert target.read_bytes() == DATA


def test_a_mirror_stands_in_for_a_file_to_fetch_by_hand(tmp_path):
    assert missing_manual(MANUAL, tmp_path / "manual", [mirror(tmp_path, "root", DATA)]) is None
    assert missing_manual(MANUAL, tmp_path / "manual", ["https://example.org/mirror"]) is None
    assert missing_manual(settings(url="https://example.org/x"), tmp_path / "manual", []) is None


def test_a_full_disk_is_not_taken_for_a_bad_mirror(fetch, target, tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("nmtcore.files.os.replace", full)
    with pytest.raises(UserError, match="is full"):
        fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", DATA))])
    assert leftovers(target) == []


def test_a_file_where_the_folder_should_be_is_a_sentence(fetch, tmp_path):
    (tmp_path / "downloads").write_text("in the way")
    with pytest.raises(UserError, match="file"):
        fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", DATA))])


class Handler(BaseHTTPRequestHandler):
    """Answers as its path says."""

    def do_GET(self):
        if self.path.startswith("/missing"):
            self.send_error(404)
        elif self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", "ftp://example.org/x" if "away" in self.path else "/whole")
            self.end_headers()
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(DATA)))
            self.end_headers()
            self.wfile.write(DATA[:1000] if self.path.startswith("/short") else DATA)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(downloads, "REMOTE", ("http",))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=partial(server.serve_forever, 0.01))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_address_is_fetched_also_where_it_has_moved(server, fetch, target):
    for path in ("/whole", "/moved"):
        facts = fetch(
            FileSettings(name="x/file.gz", url=server + path, sha256=sha(DATA), length=len(DATA)), progress=True
        )
        assert target.read_bytes() == DATA
        assert facts["source"] == server + path


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("/short", "only 1000 of 50000 bytes came"), ("/missing", "answers 404"), ("/moved-away", "only http addresses")],
)
def test_what_goes_wrong_on_the_net_is_said(path, sentence, server, fetch, target):
    with pytest.raises(UserError, match=sentence):
        fetch(FileSettings(name="x/file.gz", url=server + path))
    assert leftovers(target) == []


def test_a_server_that_is_not_there_is_said(server, fetch):
    with pytest.raises(UserError, match=r"localhost:9/x: cannot be reached"):
        fetch(FileSettings(name="x/file.gz", url="http://localhost:9/x"))


def test_a_remote_mirror_root(server, fetch, target):
    wanted = FileSettings(name="x/file.gz", mirrors=(MirrorSettings(path="whole/a"),))
    assert fetch(wanted, mirror_roots=[server])["source"] == server + "/whole/a"


def test_the_real_files_of_multi30k_are_those_that_the_data_set_names(shared, fetch, target, root):
    from nmtcore.config.project import Project

    dataset = Project.load(root / "config").dataset("multi30k_cs2en")
    for corpus in list(dataset.corpora.values())[1:]:
        for (file,) in corpus.files.values():
            fetch(file, mirror_roots=[str(shared / "data")])
            assert target.read_bytes() == (shared / "data" / file.name).read_bytes()


def test_planning_loads_nothing_heavy():
    code = (
        "import sys, nmtcore.corpus.download; print(*{'pyarrow', 'numpy', 'torch', 'http.client'} & set(sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == ""
