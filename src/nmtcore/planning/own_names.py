"""Checks of the names that users give to data sets and components of their own."""

import re

from nmtcore.errors import UserError, quoted
from nmtcore.layout import NAME

MOST_CHARACTERS = 100
"""Of a name; a file's name may have 255 bytes, and temporary names and those of results are longer than the name."""


def check_own_name(name: str, *, noun: str) -> None:
    """Raise `UserError` if a name cannot be that of a file or a key: its characters, its length, or YAML's meaning."""
    if not re.fullmatch(NAME, name):
        raise UserError(
            f"{quoted(name)} cannot be the name of a {noun}: a name has small letters, digits and single underscores, "
            "and begins with a letter."
        )
    if len(name) > MOST_CHARACTERS:
        raise UserError(
            f"{quoted(name)} cannot be the name of a {noun}: it has {len(name)} characters, and at most "
            f"{MOST_CHARACTERS} are possible."
        )
    if _is_no_key(name):
        raise UserError(f"'{name}' means something else in YAML: choose another name.")


def _is_no_key(name: str) -> bool:
    """Return whether YAML reads a name as something else than text, such as `on`, which is true."""
    import yaml

    return yaml.safe_load(name) != name
