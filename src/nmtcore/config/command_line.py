"""Convert the values of Snakemake's `--config KEY=VALUE` to the types of the settings.

Snakemake reads a single value as a number if it looks like one, but everything inside a list or a mapping as a string:
`threads=2` arrives as 2, `seeds=[1,2]` as ["1", "2"].
"""

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any


def as_typed(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the values for a settings dataclass to the types of its fields where possible.

    Digits become an integer, an integer becomes a string, `null` becomes None where that is a choice, and a single
    value becomes a list with one element. All other values and unknown keys stay unchanged;
    `nmtcore.config.typed.build` refuses them.
    """
    hints = typing.get_type_hints(cls)
    return {key: _as_hinted(value, hints[key]) if key in hints else value for key, value in values.items()}


def _as_hinted(value: Any, hint: Any) -> Any:
    if value == "null" and type(None) in typing.get_args(hint):
        return None
    if typing.get_origin(hint) is tuple and value is not None and not isinstance(value, Mapping):
        items = list(value) if isinstance(value, list | tuple) else [value]
        return [_as_hinted(item, typing.get_args(hint)[0]) for item in items]
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        return as_typed(hint, value)
    if hint is int and isinstance(value, str) and value.isascii() and value.removeprefix("-").isdecimal():
        return int(value)
    if hint is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value
