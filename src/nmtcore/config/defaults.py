"""Mark the settings that are at their default: they do not decide whether a job runs again.

A new setting with a default that means "as before" therefore reruns nothing. Neither does a changed default: if you
change one, raise the version of every stage that it affects (`config/versions.py`).
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import Any

from nmtcore.config.typed import plain


@dataclass(frozen=True, slots=True)
class Defaulted:
    """The value and the default of a field that has a default, as plain values.

    If the value consists of settings, it is the result of `with_defaults`.
    """

    value: Any
    default: Any


def with_defaults(settings: Any, written: Any, *, defaults: Any = None) -> Any:
    """Return `written` with a `Defaulted` in place of each field that has a default.

    Args:
        settings: a settings dataclass, or a mapping or list of them.
        written: the result of `plain(settings)`; additional keys (names of registered classes) stay unchanged.
        defaults: settings of the same class that replace the defaults of the class.
    """
    if isinstance(settings, Mapping):
        return {key: with_defaults(settings.get(key), value) for key, value in written.items()}
    if isinstance(settings, tuple | list):
        return [with_defaults(*pair) for pair in zip(settings, written, strict=True)]
    if not dataclasses.is_dataclass(settings):
        return written
    fields = {field.name: field for field in dataclasses.fields(settings)}
    return {
        key: _with_default(getattr(settings, key), value, default_of(fields[key], defaults)) if key in fields else value
        for key, value in written.items()
    }


def default_of(field: dataclasses.Field, defaults: Any = None) -> Any:
    """Return the default of a field, or its value in `defaults` if given; `MISSING` if there is none."""
    if defaults is not None:
        return getattr(defaults, field.name)
    return field.default if field.default_factory is MISSING else field.default_factory()


def _with_default(value: Any, written: Any, default: Any) -> Any:
    if default is MISSING:
        return with_defaults(value, written)
    if value == default:
        return Defaulted(plain(default), plain(default))
    if not _holds_settings(value):
        return Defaulted(written, plain(default))
    if type(value) is type(default) and dataclasses.is_dataclass(value):
        return Defaulted(with_defaults(value, written, defaults=default), plain(default))
    return with_defaults(value, written)


def _holds_settings(value: Any) -> bool:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple | list) else ()
    return dataclasses.is_dataclass(value) or any(map(_holds_settings, inner))
