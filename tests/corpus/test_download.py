"""Downloads: from the first place that has the right file, whole or not at all."""

import errno
import hashlib
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest

from nmtcore.config.corpora import FileSettings, MirrorSettings
from nmtcore.corpus.download import (
    checksums_path,
    download,
    member_of,
    missing_manual,
    planned_downloads,
    sidecar_path,
    without_member,
)
from nmtcore.corpus.partial import open_partial
from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json

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
    assert (facts["mirror"], facts["sha256"], facts["length"]) == ("multi30k/train.en", sha(DATA), len(DATA))
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
    checksums_path(target).unlink()
    fetch(settings(), mirror_roots=roots)
    assert target.read_bytes() == DATA[:-1] + b"!"


def test_a_recorded_sum_holds_wherever_the_file_comes_from(fetch, target, tmp_path):
    wanted = replace(
        settings(), manual="Ask.", member="a", mirrors=(MirrorSettings(path="multi30k/train.en", member="a"),)
    )
    fetch(without_member(wanted), mirror_roots=[str(mirror(tmp_path, "root", DATA))])
    place = tmp_path / "manual" / "x" / "file.gz"
    place.parent.mkdir(parents=True)
    another = r"its length is 49999 bytes, but it was 50000 bytes when it was first fetched"
    with pytest.raises(UserError, match=another):
        fetch(without_member(wanted), mirror_roots=[str(mirror(tmp_path, "other", DATA[1:]))])
    place.write_bytes(DATA[1:])
    with pytest.raises(UserError, match=another):
        fetch(without_member(wanted))
    assert target.read_bytes() == DATA
    place.write_bytes(DATA)
    fetch(without_member(wanted))


def test_a_told_sum_holds_for_mirrors_that_have_none(fetch, tmp_path):
    fetch(settings(sha256=sha(DATA)), mirror_roots=[str(mirror(tmp_path, "root", DATA))])
    with pytest.raises(UserError, match=r"train\.en: its sha256 is \w+, not 0+ as the data set says"):
        fetch(settings(sha256="0" * 64), mirror_roots=[str(mirror(tmp_path, "root", DATA))])


@pytest.mark.parametrize("pins", [{"mirror_member": "b"}, {"mirror_sha256": sha(DATA)}, {"mirror_length": len(DATA)}])
def test_a_mirror_that_holds_another_archive_has_a_sum_of_its_own(pins, fetch, target, tmp_path):
    own = {"manual": "Ask.", "member": "a"} if "mirror_member" in pins else {"manual": "Ask."}
    wanted = without_member(settings(**own, **pins))
    roots = [str(mirror(tmp_path, "root", DATA))]
    place = tmp_path / "manual" / "x" / "file.gz"
    place.parent.mkdir(parents=True)
    place.write_bytes(DATA[1:])
    fetch(wanted, mirror_roots=roots)
    fetch(wanted)
    assert target.read_bytes() == DATA[1:]
    fetch(wanted, mirror_roots=roots)
    assert target.read_bytes() == DATA
    # Each keeps its own: neither may change.
    place.write_bytes(DATA[2:])
    with pytest.raises(UserError, match="when it was first fetched"):
        fetch(wanted)
    mirror(tmp_path, "elsewhere", DATA[1:])
    place.unlink()
    with pytest.raises(UserError, match=r"when it was first fetched|as the data set says"):
        fetch(wanted, mirror_roots=[str(tmp_path / "elsewhere")])


def test_a_record_of_an_older_release_still_holds(fetch, target, tmp_path):
    where = mirror(tmp_path, "root", DATA)
    checksums_path(target).parent.mkdir(parents=True)
    write_json(checksums_path(target), {f"{where}/multi30k/train.en": {"sha256": sha(b"other"), "length": len(DATA)}})
    with pytest.raises(UserError, match="when it was first fetched"):
        fetch(settings(), mirror_roots=[str(where)])


def test_two_data_sets_that_read_other_members_mean_the_same_file():
    def named(own, mirrored):
        mirrors = (MirrorSettings(path="y", member=mirrored), MirrorSettings(path="z", member=own))
        return without_member(FileSettings(name="x", url="https://x", member=own, mirrors=mirrors))

    assert named("a.en", "m.en") == named("a.de", "m.de") != named("a.en", "a.en")


def test_the_member_is_that_of_the_place_it_came_from(fetch, tmp_path):
    where = str(mirror(tmp_path, "root", DATA))
    wanted = settings(manual="Ask.", member="own/a.en", mirror_member="mirror/a.en")
    fetch(wanted, mirror_roots=[where])
    assert member_of(wanted, tmp_path / "downloads") == "mirror/a.en"
    # Another data set may read another member of the same archive.
    other = settings(manual="Ask.", member="own/a.de", mirror_member="mirror/a.de")
    assert member_of(other, tmp_path / "downloads") == "mirror/a.de"
    with pytest.raises(UserError, match=r"which is no longer a mirror in the data set: delete the file"):
        member_of(replace(wanted, mirrors=()), tmp_path / "downloads")
    place = tmp_path / "manual" / "x" / "file.gz"
    place.parent.mkdir(parents=True)
    place.write_bytes(DATA)
    fetch(wanted)
    assert member_of(wanted, tmp_path / "downloads") == "own/a.en"


def test_a_page_is_no_corpus_wherever_it_comes_from(fetch, target, tmp_path):
    page = b"\n <!DOCTYPE HTML PUBLIC>\n<title>Please log in</title>\n"
    for data in (page, page[2:].lower(), b'<?xml version="1.0"?>\n' + page, b"\xef\xbb\xbf<html>"):
        with pytest.raises(UserError, match="it is an HTML page"):
            fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", data))])
    assert leftovers(target) == []
    fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", b'<?xml version="1.0"?><tmx>'))])


def test_an_md5_is_compared(fetch, tmp_path):
    place = tmp_path / "manual" / "x" / "file.gz"
    place.parent.mkdir(parents=True)
    place.write_bytes(DATA)
    fetch(settings(manual="Ask.", md5=hashlib.md5(DATA).hexdigest()))
    with pytest.raises(UserError, match=r"its md5 is \w+, not 0123 as the data set says"):
        fetch(settings(manual="Ask.", md5="0123"))


def test_a_plan_says_how_much_from_where_and_on_which_terms(fetch, tmp_path):
    here = tmp_path / "downloads"
    files = [
        (settings(url="https://example.org/x"), "CC BY"),
        (FileSettings(name="y", url="https://example.org/y", megabytes=1200), "no licence"),
        (FileSettings(name="z", url="https://example.org/z"), ""),
        (FileSettings(name="hand", manual="Ask.", length=5), "by contract"),
    ]
    plan = partial(planned_downloads, downloads=here, manual_folder=tmp_path / "manual")
    where = mirror(tmp_path, "root", DATA)
    assert plan(files, mirror_roots=[str(where)]) == [
        "To be fetched: 4 files, 1,200.1 MB, and 1 of unknown size.",
        f"  x/file.gz: 0.1 MB, from {where}/multi30k/train.en; licence: CC BY",
        "  y: 1,200.0 MB, from https://example.org/y; licence: no licence",
        "  z: unknown size, from https://example.org/z; licence: not stated",
        "  hand: 0.0 MB, by hand, not there yet; licence: by contract",
    ]
    with open_partial(here / "y") as begun:
        begun.restart(None)
        begun.write(b"x" * 2_000_000)
    assert plan(files[1:2], mirror_roots=[])[1].startswith("  y: 1,200.0 MB, of which 2.0 MB are there, from https")
    fetch(files[0][0], mirror_roots=[str(where)])
    assert plan(files[:1], mirror_roots=[]) == []
    lengths = {"https://example.org/z": 7_000_000, "https://example.org/x": None}
    lines = plan(files[1:], mirror_roots=[], ask_length=lengths.get)
    assert lines[0] == "To be fetched: 3 files, 1,207.0 MB."
    huge = FileSettings(name="y", url="https://example.org/y", megabytes=1e12)
    assert "MB are free at" in plan([(huge, "")], mirror_roots=[])[0]


def test_two_processes_never_write_the_same_file(fetch, target, tmp_path):
    with open_partial(target), pytest.raises(UserError, match=r"file\.gz is being downloaded by another process"):
        fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", DATA))])


def test_all_places_that_failed_are_listed(fetch, target, tmp_path):
    wanted = settings(url="http://example.org/x")
    with pytest.raises(UserError) as caught:
        fetch(wanted, mirror_roots=[str(tmp_path / "one"), str(tmp_path / "two")])
    for part in ("one/multi30k/train.en: there is no such file", "two/", "http is refused", "mirrors"):
        assert part in str(caught.value)


def test_a_parsers_model_that_cannot_be_fetched_may_lie_in_a_folder_of_models(fetch):
    wanted = FileSettings(name="models/stanza_xx/pos.pt", url="http://example.org/x")
    with pytest.raises(UserError, match=r"a folder or file stanza_xx, to `models` in config/config\.yaml\.$") as caught:
        fetch(wanted)
    assert "mirrors" not in str(caught.value)


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
