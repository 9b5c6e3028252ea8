"""Files that are whole or absent, and what they never replace."""

import os

import pytest

from nmtcore.errors import UserError
from nmtcore.files import atomic_path, read_lines, write_text


def write_and_fail(path):
    with atomic_path(path) as temporary:
        temporary.write_text("b")
        raise ZeroDivisionError


def test_a_file_appears_when_the_block_ends_well(tmp_path):
    path = tmp_path / "new" / "file"
    with atomic_path(path) as temporary:
        temporary.write_text("a")
        assert not path.exists()
    assert read_lines(path) == ["a"]
    with pytest.raises(ZeroDivisionError):
        write_and_fail(path)
    assert read_lines(path) == ["a"]
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_a_link_stays_and_its_file_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    for text in ("a", "b"):
        write_text(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert read_lines(tmp_path / "there" / "file") == [text]


@pytest.mark.parametrize("kind", ["folder", "pipe", "link to a pipe"])
def test_what_is_no_file_is_never_replaced(tmp_path, kind):
    path = tmp_path / "it"
    if kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(tmp_path / "pipe" if kind.startswith("link") else path)
    if kind.startswith("link"):
        path.symlink_to(tmp_path / "pipe")
    before = os.lstat(path)
    with pytest.raises(UserError, match=r"it is (a folder|no ordinary file): name a file to write"):
        write_text(path, "a")
    assert os.lstat(path).st_ino == before.st_ino
