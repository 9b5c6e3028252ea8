"""Files are written completely or not at all, and never replace folders or devices."""

import os
import socket
import subprocess
import time

import pytest
from full_disk import largest_file

from nmtcore.errors import UserError
from nmtcore.files import atomic_path, read_json, read_lines, write_text, write_texts


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


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("/dev/null", path)])
def test_only_regular_files_are_replaced(tmp_path, make):
    path = tmp_path / "output"
    make(path)
    before = os.lstat(path)
    with pytest.raises(UserError, match=r"output is (a folder|not a regular file): choose another output file"):
        write_text(path, "a")
    assert os.lstat(path).st_ino == before.st_ino


def make_leftover(path, owner, *, age=0.0):
    """Make what a process of `owner` (machine~pid) leaves behind if it is killed."""
    leftover = path.with_name(f".{path.name}~{owner}.partial")
    leftover.write_text("half")
    os.utime(leftover, (time.time() - age,) * 2)
    return leftover


def test_leftovers_of_killed_processes_are_deleted(tmp_path):
    path, here = tmp_path / "x[1].txt", socket.gethostname()
    ended = subprocess.Popen(["true"])
    ended.wait()
    kept = [
        make_leftover(path, f"{here}~{os.getppid()}"),  # it may still write
        make_leftover(path, "elsewhere~1", age=60),
        make_leftover(tmp_path / "x1.txt", f"{here}~{ended.pid}"),  # another file
        make_leftover(tmp_path / "x[1].txt~y", f"{here}~{ended.pid}"),
    ]
    deleted = [
        make_leftover(path, f"{here}~{ended.pid}"),
        make_leftover(path, "else.where~2", age=4000),
    ]
    write_text(path, "whole")
    assert [file.exists() for file in kept] == [True] * 4
    assert [file.exists() for file in deleted] == [False] * 2
    assert path.read_text() == "whole"


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b'{"a": }', "line 1: not valid JSON"),
        (b"[" * 100_000, "not valid JSON .*recursion"),
        (b'"\xff"', "is not UTF-8 from byte 2 on"),
    ],
)
def test_broken_json_is_explained(data, fault, tmp_path):
    (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(UserError, match=rf"x\.json.*{fault}"):
        read_json(tmp_path / "x.json")


def test_of_several_texts_none_appears_if_there_is_no_space_for_one(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    write_text(old, "as before")
    texts = {old: "other text", new: "x" * 5000, tmp_path / "more": "y"}
    with pytest.raises(UserError, match=r"new would exceed the largest file size"), largest_file(4096):
        write_texts(texts)
    assert old.read_text() == "as before"
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    write_texts(texts)
    assert {path: path.read_text() for path in texts} == texts
