"""Downloads: the first source with the right file is used, and files appear complete or not at all."""

import errno
import hashlib
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest

from nmtcore.config.corpora import FileSettings, MirrorSettings
from nmtcore.corpus.download import checksums_path, download, member_to_read, sidecar_path
from nmtcore.corpus.download_plan import planned_downloads
from nmtcore.corpus.partial import open_partial
from nmtcore.corpus.sources import missing_manual, without_member
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


def test_a_local_mirror_comes_first_and_the_sidecar_names_it(fetch, target, tmp_path):
    root_folder = mirror(tmp_path, "root", DATA)
    file_settings = settings(url="https://localhost:1/x", sha256="0" * 64, mirror_sha256=sha(DATA), mirror_member="m")
    facts = fetch(file_settings, mirror_roots=[str(tmp_path / "none"), str(root_folder)])
    assert target.read_bytes() == DATA
    assert read_json(sidecar_path(target)) == facts
    assert facts["source"] == str(root_folder / "multi30k" / "train.en")
    assert (facts["mirror"], facts["sha256"], facts["length"]) == ("multi30k/train.en", sha(DATA), len(DATA))
    assert facts["passed_over"] == [f"{tmp_path / 'none'}/multi30k/train.en: there is no such file"]


def test_roots_may_be_file_urls(fetch, target, tmp_path):
    root_folder = mirror(tmp_path, "a root", DATA)
    fetch(settings(), mirror_roots=[root_folder.as_uri()])
    assert target.read_bytes() == DATA


@pytest.mark.parametrize(
    ("pins", "sentence"),
    [
        ({"mirror_sha256": "0" * 64}, "its sha256 is .*, not 0000"),
        ({"mirror_length": 7}, "its length is 50000 bytes, not 7"),
    ],
)
def test_a_wrong_file_is_rejected(pins, sentence, fetch, target, tmp_path):
    with pytest.raises(UserError, match=rf"file\.gz could not be fetched(.|\n)*train\.en: {sentence}"):
        fetch(settings(**pins), mirror_roots=[str(mirror(tmp_path, "root", DATA))])
    assert leftovers(target) == []


def test_a_wrong_mirror_is_passed_over(fetch, target, tmp_path):
    roots = [str(mirror(tmp_path, "bad", b"other")), str(mirror(tmp_path, "good", DATA))]
    facts = fetch(settings(mirror_sha256=sha(DATA)), mirror_roots=roots)
    assert target.read_bytes() == DATA
    assert "sha256" in facts["passed_over"][0]


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


def test_a_recorded_checksum_applies_to_all_sources(fetch, target, tmp_path):
    file_settings = replace(
        settings(), manual="Ask.", member="a", mirrors=(MirrorSettings(path="multi30k/train.en", member="a"),)
    )
    fetch(without_member(file_settings), mirror_roots=[str(mirror(tmp_path, "root", DATA))])
    path = tmp_path / "manual" / "x" / "file.gz"
    path.parent.mkdir(parents=True)
    mismatch = r"its length is 49999 bytes, but it was 50000 bytes when it was first fetched"
    with pytest.raises(UserError, match=mismatch):
        fetch(without_member(file_settings), mirror_roots=[str(mirror(tmp_path, "other", DATA[1:]))])
    path.write_bytes(DATA[1:])
    with pytest.raises(UserError, match=mismatch):
        fetch(without_member(file_settings))
    assert target.read_bytes() == DATA
    path.write_bytes(DATA)
    fetch(without_member(file_settings))


def test_a_pinned_checksum_applies_to_mirrors_without_their_own(fetch, tmp_path):
    fetch(settings(sha256=sha(DATA)), mirror_roots=[str(mirror(tmp_path, "root", DATA))])
    with pytest.raises(UserError, match=r"train\.en: its sha256 is \w+, not 0+ as the data set says"):
        fetch(settings(sha256="0" * 64), mirror_roots=[str(mirror(tmp_path, "root", DATA))])


@pytest.mark.parametrize("pins", [{"mirror_member": "b"}, {"mirror_sha256": sha(DATA)}, {"mirror_length": len(DATA)}])
def test_a_mirror_with_another_archive_has_its_own_checksum(pins, fetch, target, tmp_path):
    own = {"manual": "Ask.", "member": "a"} if "mirror_member" in pins else {"manual": "Ask."}
    file_settings = without_member(settings(**own, **pins))
    roots = [str(mirror(tmp_path, "root", DATA))]
    path = tmp_path / "manual" / "x" / "file.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA[1:])
    fetch(file_settings, mirror_roots=roots)
    fetch(file_settings)
    assert target.read_bytes() == DATA[1:]
    fetch(file_settings, mirror_roots=roots)
    assert target.read_bytes() == DATA
    # Both records apply: neither file may change.
    path.write_bytes(DATA[2:])
    with pytest.raises(UserError, match="when it was first fetched"):
        fetch(file_settings)
    mirror(tmp_path, "elsewhere", DATA[1:])
    path.unlink()
    with pytest.raises(UserError, match=r"when it was first fetched|as the data set says"):
        fetch(file_settings, mirror_roots=[str(tmp_path / "elsewhere")])


def test_a_record_of_an_older_release_still_applies(fetch, target, tmp_path):
    root_folder = mirror(tmp_path, "root", DATA)
    checksums_path(target).parent.mkdir(parents=True)
    write_json(
        checksums_path(target), {f"{root_folder}/multi30k/train.en": {"sha256": sha(b"other"), "length": len(DATA)}}
    )
    with pytest.raises(UserError, match="when it was first fetched"):
        fetch(settings(), mirror_roots=[str(root_folder)])


@pytest.mark.parametrize("content", ["", "[1]", '{"x": []}', '{"x": {"size": 3}}', '{"x": {"sha256": "0'])
def test_a_damaged_record_of_checksums_raises(content, fetch, target, tmp_path):
    roots = [str(mirror(tmp_path, "root", DATA))]
    fetch(settings(), mirror_roots=roots)
    checksums_path(target).write_text(content)
    with pytest.raises(UserError, match=r"known\.json, the record of .* is damaged \(.*delete it\.$"):
        fetch(settings(), mirror_roots=roots)


def test_data_sets_that_read_different_members_name_the_same_file():
    def named(own, mirrored):
        mirrors = (MirrorSettings(path="y", member=mirrored), MirrorSettings(path="z", member=own))
        return without_member(FileSettings(name="x", url="https://x", member=own, mirrors=mirrors))

    assert named("a.en", "m.en") == named("a.de", "m.de") != named("a.en", "a.en")


def test_the_member_is_that_of_the_source(fetch, tmp_path):
    root_folder = str(mirror(tmp_path, "root", DATA))
    file_settings = settings(manual="Ask.", member="own/a.en", mirror_member="mirror/a.en")
    fetch(file_settings, mirror_roots=[root_folder])
    assert member_to_read(file_settings, tmp_path / "downloads") == "mirror/a.en"
    # Another data set may read a different member of the same archive.
    other = settings(manual="Ask.", member="own/a.de", mirror_member="mirror/a.de")
    assert member_to_read(other, tmp_path / "downloads") == "mirror/a.de"
    with pytest.raises(UserError, match=r"which is no longer a mirror in the data set: delete the file"):
        member_to_read(replace(file_settings, mirrors=()), tmp_path / "downloads")
    path = tmp_path / "manual" / "x" / "file.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    fetch(file_settings)
    assert member_to_read(file_settings, tmp_path / "downloads") == "own/a.en"


def test_an_html_page_from_any_source_is_rejected(fetch, target, tmp_path):
    page = b"\n <!DOCTYPE HTML PUBLIC>\n<title>Please log in</title>\n"
    for data in (page, page[2:].lower(), b'<?xml version="1.0"?>\n' + page, b"\xef\xbb\xbf<html>"):
        with pytest.raises(UserError, match="it is an HTML page"):
            fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", data))])
    assert leftovers(target) == []
    fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", b'<?xml version="1.0"?><tmx>'))])


def test_an_md5_is_compared(fetch, tmp_path):
    path = tmp_path / "manual" / "x" / "file.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    fetch(settings(manual="Ask.", md5=hashlib.md5(DATA).hexdigest()))
    with pytest.raises(UserError, match=r"its md5 is \w+, not 0123 as the data set says"):
        fetch(settings(manual="Ask.", md5="0123"))


def test_control_characters_of_other_peoples_data_sets_are_escaped(tmp_path):
    for values in ({"name": "x\x1b[2J", "url": "https://x"}, {"name": "x", "url": "x\x1b[2J"}):
        with pytest.raises(ValueError, match=r"^(name|url) 'x\\x1b\[2J' has control characters"):
            FileSettings(**values)
    file = FileSettings(name="x", mirrors=(MirrorSettings(path="y\x07"),))
    plan = planned_downloads(
        [(file, "CC\x1b[2J BY\u202e")],
        downloads=tmp_path,
        manual_folder=tmp_path,
        mirror_roots=["https://example.org"],
    )
    assert plan[1] == r"  x: unknown size, from https://example.org/y\x07; licence: CC\x1b[2J BY\u202e"
    sentence = missing_manual(FileSettings(name="x", manual="Ask\x1b[2J."), tmp_path, [])
    assert sentence.startswith(r"x must be fetched by hand: Ask\x1b[2J. Put")


def test_a_plan_names_sizes_sources_and_licences(fetch, tmp_path):
    downloads = tmp_path / "downloads"
    files = [
        (settings(url="https://example.org/x"), "CC BY"),
        (FileSettings(name="y", url="https://example.org/y", megabytes=1200), "no licence"),
        (FileSettings(name="z", url="https://example.org/z"), ""),
        (FileSettings(name="hand", manual="Ask.", length=5), "by contract"),
    ]
    plan = partial(planned_downloads, downloads=downloads, manual_folder=tmp_path / "manual")
    root_folder = mirror(tmp_path, "root", DATA)
    assert plan(files, mirror_roots=[str(root_folder)]) == [
        "To be fetched: 4 files, 1,200.1 MB, and 1 of unknown size.",
        f"  x/file.gz: 0.1 MB, from {root_folder}/multi30k/train.en; licence: CC BY",
        "  y: 1,200.0 MB, from https://example.org/y; licence: no licence",
        "  z: unknown size, from https://example.org/z; licence: not stated",
        "  hand: 1 kB, by hand, not there yet; licence: by contract",
    ]
    with open_partial(downloads / "y") as unfinished:
        unfinished.restart(None)
        unfinished.write(b"x" * 2_000_000)
    assert plan(files[1:2], mirror_roots=[])[1].startswith("  y: 1,200.0 MB, of which 2.0 MB are there, from https")
    fetch(files[0][0], mirror_roots=[str(root_folder)])
    assert plan(files[:1], mirror_roots=[]) == []
    lengths = {"https://example.org/z": 7_000_000, "https://example.org/x": None}
    lines = plan(files[1:], mirror_roots=[], ask_length=lengths.get)
    assert lines[0] == "To be fetched: 3 files, 1,207.0 MB."
    huge = FileSettings(name="y", url="https://example.org/y", megabytes=1e12)
    assert "MB are free at" in plan([(huge, "")], mirror_roots=[])[0]


def test_two_processes_cannot_write_the_same_file(fetch, target, tmp_path):
    with open_partial(target), pytest.raises(UserError, match=r"file\.gz is being downloaded by another process"):
        fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", DATA))])


def test_all_failed_sources_are_listed(fetch, target, tmp_path):
    file_settings = settings(url="http://example.org/x")
    with pytest.raises(UserError) as caught:
        fetch(file_settings, mirror_roots=[str(tmp_path / "one"), str(tmp_path / "two")])
    for part in ("one/multi30k/train.en: there is no such file", "two/", "http is refused", "mirrors"):
        assert part in str(caught.value)


def test_a_failed_download_of_a_parser_model_suggests_a_model_folder(fetch):
    file_settings = FileSettings(name="models/stanza_xx/pos.pt", url="http://example.org/x")
    with pytest.raises(UserError, match=r"a folder or file stanza_xx, to `models` in config/config\.yaml\.$") as caught:
        fetch(file_settings)
    assert "mirrors" not in str(caught.value)


def test_a_file_without_any_source_raises(fetch):
    with pytest.raises(UserError, match="nowhere: it has no URL, and no mirror root is set"):
        fetch(settings())


MANUAL = settings(manual="Register at https://example.org and take package 00.")


def test_a_missing_manual_file_raises_with_instructions(fetch, tmp_path):
    path = tmp_path / "manual" / "x" / "file.gz"
    sentence = (
        f"x/file.gz must be fetched by hand: Register at https://example.org and take package 00. Put it at {path}."
    )
    assert missing_manual(MANUAL, tmp_path / "manual", [tmp_path / "root"]) == sentence
    with pytest.raises(UserError) as caught:
        fetch(MANUAL)
    assert str(caught.value) == sentence


def test_a_file_fetched_by_hand_is_used(fetch, target, tmp_path):
    path = tmp_path / "manual" / "x" / "file.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    assert missing_manual(MANUAL, tmp_path / "manual", []) is None
    assert fetch(MANUAL)["source"] == str(path)
    assert target.read_bytes() == DATA


def test_a_mirror_replaces_a_manual_download(tmp_path):
    assert missing_manual(MANUAL, tmp_path / "manual", [mirror(tmp_path, "root", DATA)]) is None
    assert missing_manual(MANUAL, tmp_path / "manual", ["https://example.org/mirror"]) is None
    assert missing_manual(settings(url="https://example.org/x"), tmp_path / "manual", []) is None


def test_a_full_disk_does_not_count_as_a_failed_source(fetch, target, tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("nmtcore.files.os.replace", full)
    with pytest.raises(UserError, match="is full"):
        fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", DATA))])
    assert leftovers(target) == []


def test_a_file_in_place_of_the_folder_raises_user_error(fetch, tmp_path):
    (tmp_path / "downloads").write_text("in the way")
    with pytest.raises(UserError, match="file"):
        fetch(settings(), mirror_roots=[str(mirror(tmp_path, "root", DATA))])


def test_the_real_files_of_multi30k_match_their_pins(shared, fetch, target, root):
    from nmtcore.config.project import Project

    dataset = Project.load(root / "config").dataset("multi30k_cs2en")
    for corpus in list(dataset.corpora.values())[1:]:
        for (file,) in corpus.files.values():
            fetch(file, mirror_roots=[str(shared / "data")])
            assert target.read_bytes() == (shared / "data" / file.name).read_bytes()


def test_planning_loads_nothing_heavy():
    heavy = "{'pyarrow', 'numpy', 'torch', 'http.client'}"
    code = f"import sys, nmtcore.corpus.download_plan; print(*{heavy} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == ""
