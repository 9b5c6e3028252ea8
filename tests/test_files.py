"""Files are written completely or not at all, and never replace folders or devices."""

import os

import pytest

from nmtcore.errors import UserError
from nmtcore.files import atomic_path, read_lines, write_text


def write_and_fail(path):
    with atomic_path(path) as temporary:
        temporary.write_text("b")
        raise ZeroDivisionError


def test_a_file_appears_only_if_the_block_succeeds(tmp_path):
    path = tmp_path / "new" / "file"
    with atomic_path(path) as temporary:
        temporary.write_text("a")
        assert not path.exists()
    assert read_lines(path) == ["a"]
    with pytest.raises(ZeroDivisionError):
        write_and_fail(path)
    assert read_lines(path) == ["a"]
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_writing_to_a_link_writes_its_target(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    for text in ("a", "b"):
        write_text(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert read_lines(tmp_path / "folder" / "file") == [text]


@pytest.mark.parametrize("obstacle", ["folder", "pipe", "link to a pipe"])
def test_only_regular_files_are_replaced(tmp_path, obstacle):
    path = tmp_path / "output"
    if obstacle == "folder":
        path.mkdir()
    else:
        os.mkfifo(tmp_path / "pipe" if obstacle.startswith("link") else path)
    if obstacle.startswith("link"):
        path.symlink_to(tmp_path / "pipe")
    before = os.lstat(path)
    with pytest.raises(UserError, match=r"output is (a folder|not a regular file): choose another output file"):
        write_text(path, "a")
    assert os.lstat(path).st_ino == before.st_ino
