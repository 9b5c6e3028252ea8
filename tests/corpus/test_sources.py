"""Where files of corpora are: the user's own, downloaded, on a mirror, in the manual folder, or nowhere."""

import json
from functools import partial

import pytest

from nmtcore.config.corpora import FileSettings, MirrorSettings
from nmtcore.corpus.download import download
from nmtcore.corpus.sources import locate_file, planned_downloads, sidecar_path

URL = "https://example.org/a.gz"


@pytest.fixture
def locate(tmp_path):
    def call(file):
        folders = {"downloads": tmp_path / "downloads", "manual_folder": tmp_path / "manual"}
        return locate_file(file, mirror_roots=[str(tmp_path / "mirror"), "https://example.org"], **folders)

    return call


def write(path, text="text\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_own_files(tmp_path, locate):
    path = write(tmp_path / "own.txt")
    located = locate(FileSettings(path=str(path), member="in.txt"))
    assert (located.input.path, located.input.member, located.fault) == (path, "in.txt", None)
    for missing, start in ((tmp_path / "no.txt", "There is no file"), (tmp_path, "A folder is at")):
        located = locate(FileSettings(path=str(missing)))
        assert located.input is None
        assert located.fault == f"{start} {missing}: correct its `path` or put it there."


def test_files_of_the_repository_are_found_and_its_place_is_not_recorded(root, tmp_path, locate):
    file = FileSettings(name="c/README", url="repository://README.md")
    assert locate(file).input.path == root / "README.md"
    folders = {"mirror_roots": [], "manual_folder": tmp_path}
    assert planned_downloads([(file, "")], downloads=tmp_path, **folders) == []
    assert download(file, target=tmp_path / "c/README", **folders)["source"] == file.url
    assert (tmp_path / "c/README").read_bytes() == (root / "README.md").read_bytes()


def test_a_mirror_has_a_member_of_its_own(tmp_path, locate):
    path = write(tmp_path / "mirror/m/a.zip")
    file = FileSettings(name="c/a.gz", url=URL, mirrors=(MirrorSettings(path="m/a.zip", member="in.txt"),))
    assert locate(file).input[:2] == (path, "in.txt")
    same = FileSettings(name="c/a.gz", url=URL, member="x", mirrors=(MirrorSettings(path="m/a.zip", member="x"),))
    assert locate(same).input[:2] == (path, "x")


def test_a_download_is_read_with_the_member_of_its_source(tmp_path, locate):
    path = write(tmp_path / "downloads/c/a")
    file = FileSettings(name="c/a", url=URL, member="own", mirrors=(MirrorSettings(path="m", member="other"),))
    assert locate(file).input is None, "without a record, the download is not complete"
    for mirror, member in ((None, "own"), ("m", "other")):
        sidecar_path(path).write_text(json.dumps({"mirror": mirror}))
        assert locate(file).input[:2] == (path, member)


def test_files_that_are_not_here(tmp_path, locate):
    remote = locate(FileSettings(name="a", url=URL, megabytes=2.5))
    assert (remote.input, remote.fault) == (None, None)
    assert remote.place == f"not there yet; the workflow downloads it from {URL}, about 2.5 MB"
    mirror = MirrorSettings(path="https://example.org/m.tgz", length=1_250_000_000)
    for sizes, shown in (
        ({"megabytes": 0.02}, "a.gz, about 20 kB"),
        ({"megabytes": 918, "length": 918_311_367}, "a.gz, about 918.3 MB"),
        ({}, "a.gz"),
        ({"megabytes": 1, "mirrors": (mirror,)}, "m.tgz, about 1,250.0 MB"),
    ):
        assert locate(FileSettings(name="a", url=URL, **sizes)).place.endswith(f"from https://example.org/{shown}")
    by_hand = FileSettings(name="b", manual="Ask for it")
    assert locate(by_hand).fault == f"b must be fetched by hand: Ask for it. Put it at {tmp_path}/manual/b."
    path = write(tmp_path / "manual/b")
    assert (locate(by_hand).input.path, locate(by_hand).fault) == (path, None)


def test_a_plan_names_sizes_sources_and_licences(tmp_path):
    downloads = tmp_path / "downloads"
    files = [
        (FileSettings(name="x", url="https://example.org/x", mirrors=(MirrorSettings(path="m/x.gz"),)), "CC BY"),
        (FileSettings(name="y", url="https://example.org/y", megabytes=1200), "no licence"),
        (FileSettings(name="z", url="https://example.org/z"), ""),
        (FileSettings(name="hand", manual="Ask.", length=5), "by contract"),
    ]
    plan = partial(planned_downloads, downloads=downloads, manual_folder=tmp_path / "manual")
    root_folder = write(tmp_path / "root/m/x.gz", "x" * 50_000).parents[1]
    assert plan(files, mirror_roots=[str(root_folder)]) == [
        "To be fetched: 4 files, 1,200.1 MB, and 1 of unknown size.",
        "  z: unknown size, from https://example.org/z; licence: not stated",
        f"  x: 0.1 MB, from {root_folder}/m/x.gz; licence: CC BY",
        "  y: 1,200.0 MB, from https://example.org/y; licence: no licence",
        "  hand: 1 kB, by hand, not there yet; licence: by contract",
    ]
    downloads.mkdir()
    write(downloads / "x")
    assert plan(files[:1], mirror_roots=[]) == []
    huge = FileSettings(name="y", url="https://example.org/y", megabytes=1e12)
    assert "MB are free at" in plan([(huge, "")], mirror_roots=[])[0]
