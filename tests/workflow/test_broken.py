"""Broken corpora: one sentence, and nothing that looks whole."""

import gzip

import pytest
from workflow.calling import little

from nmtcore.files import read_json


def other(place, name, content, **pinned):
    """A data set like `little` whose training source is another file."""
    (place.mirror / f"{name}.en").write_bytes(content)
    settings = little()
    entry = {"name": f"{name}/train.en", "mirrors": [{"path": f"{name}.en", **pinned}]}
    settings["corpora"]["train"]["files"]["source"] = entry
    place.write(f"datasets/{name}", settings)


def good(place):
    return (place.mirror / "train.en").read_bytes()


def check_refused(place, name, *parts):
    target = f"results/{name}/corpus/train.parquet"
    for _ in range(2):  # what the first call leaves must not help the second one over the fault
        stopped = place.call("--cores", "1", target)
        assert stopped.code == 1, stopped.output
        lines = [line for line in stopped.output.splitlines() if all(part in line for part in parts)]
        assert lines, stopped.output
        assert "Traceback" not in stopped.output
        assert ".smk" not in stopped.output, "no place in our files"
        left = [path for path in (place.folder / f"results/{name}").rglob("*") if path.is_file()]
        assert left == []
    assert place.partial_files() == []


def test_unequal_line_counts(place):
    other(place, "unequal", b"".join(good(place).splitlines(keepends=True)[:-1]))
    check_refused(place, "unequal", "downloads/unequal/train.en", "149", "150")


def test_a_truncated_gz(place):
    other(place, "truncated", gzip.compress(good(place))[:-200])
    check_refused(place, "truncated", "downloads/truncated/train.en")


def test_a_wrong_sha256(place):
    other(place, "forged", good(place), sha256="0" * 64)
    check_refused(place, "forged", "its sha256 is", "0" * 64)
    assert not list((place.folder / "downloads").glob("forged/*"))


@pytest.mark.parametrize(("name", "byte"), [("latin", b"\xe9"), ("nulls", b"\0")])
def test_a_line_that_is_no_text(place, name, byte):
    lines = good(place).splitlines(keepends=True)
    lines[41] = byte + lines[41]
    other(place, name, b"".join(lines))
    check_refused(place, name, f"downloads/{name}/train.en", "42")


def test_utf_16(place):
    other(place, "wide", good(place).decode().encode("utf-16"))
    check_refused(place, "wide", "downloads/wide/train.en is UTF-16, not UTF-8: convert it (iconv -f UTF-16")


def test_unsegmented_text_is_no_error_but_gets_a_hint(place):
    other(place, "japanese", "吾輩は猫である、名前はまだ無い、どこで生れたかとんと見当がつかぬ。\n".encode() * 150)
    place.edit("datasets/japanese", source="ja")
    finished = place.run("results/japanese/corpus/raw/train.parquet")
    hint = "japanese, split train: The source side has `words: spaces`, but the text looks unsegmented (average "
    assert finished.output.count(hint) == 1
    assert hint in (place.folder / "results/logs/japanese/corpus/raw.train.log").read_text(encoding="utf-8")
    report = read_json(place.folder / "results/japanese/corpus/raw/train.json")
    assert [warning.endswith("did you mean `mecab`?") for warning in report["warnings"]] == [True]
