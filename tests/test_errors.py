"""Messages show text from files without letting it control the terminal or fill the screen."""

import ctypes
import errno
import os
import socket
import subprocess
import sys

import pytest
from called import call_nmtcore

from nmtcore.cli import main
from nmtcore.corpus.text_lines import natural_number
from nmtcore.errors import LineError, UserError, explain_os_errors, quoted, shortened

HOSTILE = "a\x1b[2J\x07\r\x9b\u2028\u202eb"
ADVICE = "make it readable, and its folder writable.\n"
ESCAPED = r"a\x1b[2J\x07\r\x9b\u2028\u202eb"


def test_control_characters_are_escaped():
    assert quoted(HOSTILE) == f"'{ESCAPED}'"
    assert str(UserError(f"{HOSTILE}\nnext line")) == f"{ESCAPED}\nnext line"
    error = LineError("file", 3, HOSTILE)
    assert (str(error), error.problem) == (f"file, line 3: {ESCAPED}", HOSTILE)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (HOSTILE + "\n", ESCAPED + r"\n"),
        ("Žluťoučký kůň\t語 \u00a0 – 🙂", "Žluťoučký kůň\t語 \u00a0 – 🙂"),
        ("", ""),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 77 + "..."),
    ],
)
def test_text_is_cut_and_shown_as_it_is_unless_it_controls_the_terminal(text, shown):
    assert shortened(text) == shown
    assert str(UserError("Žluťoučký kůň\t語 – 🙂")) == "Žluťoučký kůň\t語 – 🙂"


@pytest.mark.parametrize(
    ("text", "number"), [("007", 7), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("-1", None), ("\u0663", None)]
)
def test_natural_numbers(text, number):
    assert natural_number(text) == number


def test_every_error_about_a_path_is_a_sentence(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
    sentences = {
        "x" * 300: "cannot be used (File name too long).",
        "loop": "cannot be used (Too many levels of symbolic links).",
        "socket": "cannot be used (No such device or address).",
    }
    for name, sentence in sentences.items():
        with pytest.raises(UserError) as error, explain_os_errors("the output"):
            os.open(tmp_path / name, os.O_RDONLY)
        assert str(error.value).endswith(sentence)
        assert len(str(error.value)) < 600
    with pytest.raises(UserError, match=r"^f cannot be used \(Too many open files\)\.$"), explain_os_errors("f"):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.mark.parametrize("error", [RuntimeError("x"), BrokenPipeError(errno.EPIPE, "x"), OSError("of a decompressor")])
def test_other_errors_are_not_about_a_path(error):
    with pytest.raises(type(error), match=r"x|of a decompressor"), explain_os_errors("f"):
        raise error


@pytest.mark.parametrize(
    "command", ["translate PATH", "score PATH PATH", "results PATH", "schema PATH", "check x --folder PATH"]
)
def test_commands_explain_paths_that_the_system_refuses(command, tmp_path):
    called = call_nmtcore(*command.replace("PATH", str(tmp_path / ("x" * 300))).split())
    assert called.code == 2
    assert called.errors.startswith(f"nmtcore {command.split()[0]}: ")


_DROP_CAPABILITY = 24  # PR_CAPBSET_DROP
_OVERRIDES = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def run_without_override(*arguments: str) -> subprocess.CompletedProcess:
    """Run `nmtcore` with permissions in force, also for root; skip the test if this process cannot give that up."""
    if os.geteuid() == 0 and not _can_drop():
        pytest.skip("root may read everything here, and cannot give it up")
    command = [sys.executable, "-m", "nmtcore", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=_drop)


def _can_drop() -> bool:
    try:
        return subprocess.run(["true"], check=False, preexec_fn=_drop).returncode == 0
    except subprocess.SubprocessError:
        return False


def _drop() -> None:
    if os.geteuid() == 0:
        for capability in _OVERRIDES:
            if ctypes.CDLL(None, use_errno=True).prctl(_DROP_CAPABILITY, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "prctl")


def test_files_that_cannot_be_written_are_called_by_their_final_names(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    ended = run_without_override("schema", "--folder", str(closed))
    assert ended.stderr.startswith(f"nmtcore schema: No permission for {closed}/")
    assert ended.stderr.endswith(f".schema.json: {ADVICE}")
    inner = tmp_path / ".model~host~1-2.partial" / ".a~b.json~host~None.partial"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(inner))
    sentence = rf"^The disk that holds {tmp_path}/model/a~b\.json is full"
    with pytest.raises(UserError, match=sentence), explain_os_errors("x"):
        raise full


def test_a_closed_standard_output_is_explained(monkeypatch, capsys):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        with pytest.raises(SystemExit) as exit:
            main(["results", "x"])
    assert exit.value.code == 2
    assert "nmtcore results: standard output is closed" in capsys.readouterr().err
