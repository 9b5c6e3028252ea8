"""Which settings are at their default: those do not decide whether a job runs again.

So a setting that is added with a default that means "as before" repeats nothing. A default that is changed goes
unnoticed: whoever changes one raises the number of the stages that it concerns (`config/versions.py`).
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import Any

from nmtcore.config.typed import plain


@dataclass(frozen=True, slots=True)
class Defaulted:
    """What stands in a field that has a default: its value and the default, as plain values.

    Of settings within settings the value is what `with_defaults` makes of them.
    """

    value: Any
    default: Any


def with_defaults(settings: Any, written: Any, *, defaults: Any = None) -> Any:
    """Give `written` with a `Defaulted` at each field of settings that has a default.

    `written` is what `plain` makes of `settings`; it may have more keys (names of registered classes), which stay.
    `defaults` are settings of the same class that stand for the defaults of the class.
    """
    if isinstance(settings, Mapping):
        return {key: with_defaults(settings.get(key), value) for key, value in written.items()}
    if isinstance(settings, tuple | list):
        return [with_defaults(*each) for each in zip(settings, written, strict=True)]
    if not dataclasses.is_dataclass(settings):
        return written
    fields = {field.name: field for field in dataclasses.fields(settings)}
    return {
        key: _with_default(getattr(settings, key), value, default_of(fields[key], defaults)) if key in fields else value
        for key, value in written.items()
    }


def default_of(field: dataclasses.Field, defaults: Any = None) -> Any:
    """Give the default of a field, or what stands there in `defaults`; `MISSING` where there is none."""
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
