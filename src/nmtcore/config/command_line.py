"""Settings as Snakemake's `--config KEY=VALUE` hands them over.

Snakemake takes a value that stands alone for a number where it looks like one, and everything inside a list or a
mapping for text: `seeds=[1,2]` arrives as ["1", "2"], `threads=2` as 2. The types of the settings say what is meant.
"""

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any


def as_typed(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Bring the values for a settings dataclass to the types of its fields, as far as they can be brought there.

    Digits become a whole number, a whole number becomes text, and a value that stands alone becomes a list of one. What
    does not fit is left as it is, for `nmtcore.config.typed.build` to refuse; so are unknown keys.
    """
    hints = typing.get_type_hints(cls)
    return {key: _as_hinted(value, hints[key]) if key in hints else value for key, value in values.items()}


def _as_hinted(value: Any, hint: Any) -> Any:
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
