"""The settings that a job depends on, recorded so that Snakemake notices a change and a user can read it.

Snakemake compares the `repr` of parameters and prints both if they differ. Ours is one line of JSON with every setting
by its path (`components.depparse.weight`); `explain_reasons` replaces the two lines by the settings that changed.
"""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from nmtcore.config.recorded import SAME_SETTINGS, SettingsRecord, differences, flatten_settings, shorten

MARK = "settings: "
"""Prefix of recorded settings among Snakemake's parameters."""


class Tracked(tuple):
    """A job's parameter, as a tuple with one element. Snakemake runs the job again when `settings` change.

    `settings` are plain values; a `Defaulted` value counts only if it is not at its default.
    """

    defaults: ClassVar[dict[str, dict[str, dict[str, Any]]]] = {}
    """The defaults of every record, by the record's text; they are shown when a setting changed."""

    def __new__(cls, value: Any, settings: Mapping[str, Any]) -> "Tracked":
        """Wrap `value` and record its settings by path."""
        tracked = super().__new__(cls, (value,))
        record = flatten_settings(settings)
        tracked.record = json.dumps(record, ensure_ascii=False, sort_keys=True)
        cls.defaults[tracked.record] = record.defaults
        return tracked

    def __repr__(self) -> str:
        return MARK + self.record

    def __reduce__(self) -> tuple:
        return tuple, ((self[0],),)  # a job only needs the value


def explain_reasons(logger: logging.Logger) -> None:
    """Make Snakemake's logger say which settings changed if a job runs again because of them."""

    def explain(record: logging.LogRecord) -> bool:
        if isinstance(getattr(record, "reason", None), str):
            record.reason = explained_reason(record.reason)
        return True

    logger.addFilter(explain)


_LISTS = "Union of exclusive params before and now across all output: before: "
_NOTHING = "<nothing exclusive>"


def explained_reason(reason: str) -> str:
    """Replace Snakemake's two lists of parameters by the path, the old and the new value of each changed setting."""
    intro, separator, lists = reason.partition(_LISTS)
    if not separator:
        return reason
    before, other_before, lists = _parameters(lists, " now: ")
    now, other_now, rest = _parameters(lists, " ; ")
    lines = [line for old in before for new in now for line in differences(old, new)]
    if other_before != other_now:
        lines.append(f"{shorten(other_before)} -> {shorten(other_now)}")
    if not lines:
        lines = [SAME_SETTINGS]
    return "\n        ".join([intro.rstrip(), *dict.fromkeys(lines), *([rest] if rest else [])])


def _parameters(text: str, end: str) -> tuple[list[SettingsRecord], str, str]:
    """Read parameters up to `end`: return our settings, all other parameters as a string, and the text after `end`."""
    ours, others = [], ""
    mark_or_end = re.compile(f"{MARK}|{end}|$")
    while True:
        match = mark_or_end.search(text)
        others += text[: match.start()]
        if match.group() != MARK:
            break
        try:
            settings, length = json.JSONDecoder().raw_decode(text, match.end())
            ours.append(SettingsRecord(settings, Tracked.defaults.get(text[match.end() : length], {})))
        except ValueError:  # another parameter that happens to contain our mark
            others, length = others + MARK, match.end()
        text = text[length:]
    others = others.replace(_NOTHING, "").strip(", ")
    return ours, others or "nothing", text[match.end() :]
