"""Messages show text from files without letting it control the terminal or fill the screen."""

import errno
import os
import socket

import pytest

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


def test_files_that_cannot_be_written_are_called_by_their_final_names(tmp_path):
    inner = tmp_path / ".model~host~1-2.partial" / ".a~b.json~host~None.partial"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(inner))
    sentence = rf"^The disk that holds {tmp_path}/model/a~b\.json is full"
    with pytest.raises(UserError, match=sentence), explain_os_errors("x"):
        raise full
