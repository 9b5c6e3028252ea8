"""Messages show text from files without letting it control the terminal or fill the screen."""

import pytest

from nmtcore.errors import LineError, UserError, quoted, shortened
from nmtcore.numerals import natural_number

HOSTILE = "a\x1b[2J\x07\r\x9b\u2028\u202eb"
ESCAPED = r"a\x1b[2J\x07\r\x9b\u2028\u202eb"


def test_control_characters_are_escaped():
    assert shortened(HOSTILE + "\n") == ESCAPED + r"\n"
    assert quoted(HOSTILE) == f"'{ESCAPED}'"
    assert str(UserError(f"{HOSTILE}\nnext line")) == f"{ESCAPED}\nnext line"
    error = LineError("file", 3, HOSTILE)
    assert (str(error), error.problem) == (f"file, line 3: {ESCAPED}", HOSTILE)


def test_ordinary_text_is_shown_as_it_is():
    text = "Žluťoučký kůň\t語 \u00a0 – 🙂"
    assert shortened(text) == text == str(UserError(text))


@pytest.mark.parametrize("length", [0, 79, 80, 81, 5000])
def test_long_text_is_cut(length):
    shown = shortened("x" * length)
    assert shown == ("x" * length if length <= 80 else "x" * 77 + "...")


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("", None), ("-1", None), ("+1", None),
     (" 1", None), ("1_0", None), ("\u0663", None), ("\u00b2", None), ("1.0", None), ("9" * 5000, None)],
)  # fmt: skip
def test_natural_numbers(text, number):
    assert natural_number(text) == number
