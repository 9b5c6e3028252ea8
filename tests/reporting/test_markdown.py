"""Markdown tables and their cells."""

import pytest

from nmtcore.reporting.markdown import counts, markdown_table, percent


def test_numbers_have_commas_and_text_is_escaped():
    assert markdown_table(["a|b", "n", "m"], [["x\ny", 1234567, None], ["z", 0.5, "+"]]) == (
        "| a\\|b | n | m |\n| --- | ---: | ---: |\n| x y | 1,234,567 |  |\n| z | 0.5 | + |\n"
    )
    assert markdown_table(["a", "b"], [], text=2) == "| a | b |\n| --- | --- |\n"


def test_a_row_of_another_length_is_an_error():
    with pytest.raises(ValueError, match="2 cells"):
        markdown_table(["a", "b"], [["x"]])


def test_percentages_and_counts_are_formatted():
    assert (percent(1, 3), percent(0, 4), percent(1, 0), percent(None, 3)) == ("33.33", "0.00", None, None)
    assert counts({"long": 1200, "empty": 0, "odd": 1}) == "long (1,200), odd (1)"
