"""Standard output gets all of a text, or the command fails with a sentence: on a full disk, and without a buffer."""

import io
import os
import resource
import subprocess
import sys

import pytest
from full_disk import largest_file
from inference.tiny import write_bundle
from reporting.recorded_runs import layout_of, write_run

from nmtcore.cli import main
from nmtcore.cli.streams import end_output, prepare_output, write_output
from nmtcore.errors import UserError

LIMIT = 100
"""Bytes that a file may have in these tests; less than what any command writes."""
TOO_LARGE = "the output would exceed the largest file size that is allowed here (see `ulimit -f`)."
FULL = "The disk that holds the output is full: free some space and start again."


def test_a_raw_stream_writes_all_at_once_or_raises_an_error(tmp_path, monkeypatch):
    path = tmp_path / "output"
    with open(path, "wb", buffering=0) as raw:
        unbuffered = io.TextIOWrapper(raw, encoding="latin-1", write_through=True)  # as Python makes it
        monkeypatch.setattr(sys, "stdout", unbuffered)
        prepare_output()
        print("ü")
        assert path.read_bytes() == "ü\n".encode("latin-1")
        write_output("ü")
        assert path.read_bytes() == "ü\n".encode("latin-1") + "ü".encode()
        with largest_file(10):
            with pytest.raises(UserError, match="the output would exceed the largest file size"):
                write_output("x" * 20)
            with pytest.raises(OSError, match="File too large"):
                print("x" * 20)
            end_output()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with results, a model and a text."""
    folder = tmp_path_factory.mktemp("streams")
    for seed in range(1, 6):
        write_run(layout_of(folder), seed=seed)
    write_bundle(folder / "model")
    (folder / "text").write_text("the cat\n" * 9)
    return folder


COMMANDS = {"results": ["results", "--all"], "logprob": ["model", "text", "text"]}


def ended(folder, command, output, *, limit=resource.RLIM_INFINITY, **variables):
    """Run a command with an output that takes no more than `limit` bytes."""
    with open(output, "wb") as file:
        process = subprocess.run(
            [sys.executable, "-m", "nmtcore", command, *COMMANDS[command]],
            stdout=file, stderr=subprocess.PIPE, text=True, cwd=folder, check=False,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", **variables},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)),
        )  # fmt: skip
    return process.returncode, process.stderr


@pytest.mark.parametrize(("command", "unbuffered"), [("results", ""), ("logprob", "1")])
def test_a_text_that_is_cut_is_an_error(folder, command, unbuffered):
    status = ended(folder, command, folder / "cut", limit=LIMIT, PYTHONUNBUFFERED=unbuffered)
    assert status == (2, f"nmtcore {command}: {TOO_LARGE}\n")
    assert (folder / "cut").stat().st_size <= LIMIT


def test_a_deleted_working_folder_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tmp_path.rmdir()
    with pytest.raises(SystemExit, match="2"):
        main(["check", "demo_en2de"])
    assert capsys.readouterr().err == "nmtcore check: the working folder does not exist.\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_sentence(folder, unbuffered):
    status = ended(folder, "results", "/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert status == (2, f"nmtcore results: {FULL}\n")


def test_what_the_locale_cannot_write_is_escaped_and_translations_are_utf_8(tmp_path, monkeypatch):
    """Commands print names of files and sentences of corpora; only `write_output` has an encoding of its own."""
    monkeypatch.chdir(tmp_path)
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="latin-1") for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    main(["new", "component", "own", "--folder", "kůň"])
    with pytest.raises(SystemExit, match="2"):
        main(["score", "kůň.txt", "kůň.txt"])
    write_output(f"{os.fsdecode(bytes([0xFF]))} kůň")
    sys.stderr.flush()
    output, errors = (stream.buffer.getvalue() for stream in streams.values())
    assert output.startswith(rb"Made the folder k\u016f\u0148.")
    assert output.endswith(rb"\udcff " + "kůň".encode())
    assert rb"k\u016f\u0148.txt" in errors
