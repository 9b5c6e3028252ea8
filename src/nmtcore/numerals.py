"""Whole numbers in files and answers of servers, read without surprises."""

LONGEST = 18
"""Digits; a number with more is none that a file could mean, and Python refuses to read one of 5,000."""


def natural_number(text: str) -> int | None:
    """Read a number of ASCII digits; None for anything else, such as a sign, a space or a number of over 18 digits."""
    return int(text) if len(text) <= LONGEST and text.isascii() and text.isdecimal() else None
