"""Tables for the terminal."""

import pytest

from nmtcore.reporting.terminal_table import fitting_table, terminal_table, without_common_parts


def test_columns_are_aligned():
    text = terminal_table(["name", "score"], [["a", "1.5"], ["日本", None], ["e\u0301", "+10.25"]])
    assert text == "name   score\na        1.5\n日本\ne\u0301     +10.25\n"


def test_rows_have_the_length_of_the_header():
    with pytest.raises(ValueError, match="zip"):
        terminal_table(["a", "b"], [["1"]])


def test_a_table_that_is_too_wide_lacks_columns(monkeypatch):
    header, rows = ["name", "first", "second"], [["a", "1", "22"]]
    for columns, shown in ((40, header), (12, ["name", "first"]), (5, ["name"])):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert fitting_table(header, rows, dispensable=(2, 1)).splitlines()[0].split() == shown


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["out/base/s*.txt", "out/new/s*.txt"], ["base", "new"]),
        (["a/x.txt", "b.txt"], ["a/x.txt", "b.txt"]),
        (["a/x.txt", "a/y.txt"], ["x.txt", "y.txt"]),
        (["a", "a/b"], ["a", "a/b"]),
        (["mine"], ["mine"]),
    ],
)
def test_the_common_part_of_names_is_left_out(names, shown):
    assert without_common_parts(names) == shown
