"""How files and entries extend others of their kind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nmtcore.config.typed import merge
from nmtcore.errors import UserError


def extended(
    name: str,
    entry: Callable[[str], tuple[Path, dict[str, Any]]],
    check: Callable[..., str],
    children: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Lay what `entry` gives for `name` (its file and its keys) over what it `extends`; a circle is an error.

    `check(name, where=...)` raises an error for a name that is not known.
    """
    path, keys = entry(name)
    values = dict(keys)
    parent = values.pop("extends", None)
    if parent is None:
        return values
    check(parent, where=f"{path}: {name}: extends")
    if parent in (*children, name):
        raise UserError(f"{path}: {' extends '.join([*children, name, parent])}: a circle.")
    return merge(extended(parent, entry, check, (*children, name)), values)
