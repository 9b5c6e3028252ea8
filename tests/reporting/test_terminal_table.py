"""Tables for the terminal."""

import pytest

from nmtcore.reporting.terminal_table import terminal_table


def test_columns_are_aligned():
    text = terminal_table(["name", "score"], [["a", "1.5"], ["日本", None], ["e\u0301", "+10.25"]])
    assert text == "name   score\na        1.5\n日本\ne\u0301     +10.25\n"


def test_rows_have_the_length_of_the_header():
    with pytest.raises(ValueError, match="zip"):
        terminal_table(["a", "b"], [["1"]])
