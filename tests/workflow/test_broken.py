"""Broken corpora: one sentence, and nothing that looks whole."""

import gzip

import pytest
from workflow.calling import little


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
