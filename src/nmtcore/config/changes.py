"""What a job depends on, written so that Snakemake notices a change and a user can read it.

Snakemake compares the `repr` of parameters and prints both where they differ. Ours is a line of JSON that holds every
setting by its path (`components.depparse.weight`); `explain_reasons` replaces the two lines by what changed.
"""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from nmtcore.config.recorded import ANOTHER_WAY, Recorded, cut, differences, flat

MARK = "settings: "
"""What the record of parameters begins with."""


class Tracked(tuple):
    """A value for a job, in a tuple of one. Snakemake runs the job again when `settings`, plain values, change.

    Values that `settings` has as `Defaulted` count where they are not at their default.
    """

    defaults: ClassVar[dict[str, dict[str, dict[str, Any]]]] = {}
    """The defaults of every record that there is, by its text: to show them when a setting changed."""

    def __new__(cls, value: Any, settings: Mapping[str, Any]) -> "Tracked":
        """Keep `value`, and of its settings each by its path."""
        tracked = super().__new__(cls, (value,))
        recorded = flat(settings)
        tracked.record = json.dumps(recorded, ensure_ascii=False, sort_keys=True)
        cls.defaults[tracked.record] = recorded.defaults
        return tracked

    def __repr__(self) -> str:
        return MARK + self.record

    def __reduce__(self) -> tuple:
        return tuple, ((self[0],),)  # a job needs the value alone


def explain_reasons(logger: logging.Logger) -> None:
    """Let Snakemake's logger say which settings changed when a job runs again for them."""

    def explain(record: logging.LogRecord) -> bool:
        if isinstance(getattr(record, "reason", None), str):
            record.reason = explained_reason(record.reason)
        return True

    logger.addFilter(explain)


_LISTS = "Union of exclusive params before and now across all output: before: "
_NOTHING = "<nothing exclusive>"


def explained_reason(reason: str) -> str:
    """Replace Snakemake's two lists of parameters by the path, old and new value of each changed setting."""
    intro, found, lists = reason.partition(_LISTS)
    if not found:
        return reason
    before, other_before, lists = _parameters(lists, " now: ")
    now, other_now, rest = _parameters(lists, " ; ")
    lines = [line for old in before for new in now for line in differences(old, new)]
    if other_before != other_now:
        lines.append(f"{cut(other_before)} -> {cut(other_now)}")
    if not lines:
        lines = [ANOTHER_WAY]
    return "\n        ".join([intro.rstrip(), *dict.fromkeys(lines), *([rest] if rest else [])])


def _parameters(text: str, end: str) -> tuple[list[Recorded], str, str]:
    """Read parameters up to `end`: our settings, all others as a text, and what follows `end`."""
    ours, others = [], ""
    next_place = re.compile(f"{MARK}|{end}|$")
    while True:
        place = next_place.search(text)
        others += text[: place.start()]
        if place.group() != MARK:
            break
        try:
            settings, length = json.JSONDecoder().raw_decode(text, place.end())
            ours.append(Recorded(settings, Tracked.defaults.get(text[place.end() : length], {})))
        except ValueError:  # another parameter that happens to hold our mark
            others, length = others + MARK, place.end()
        text = text[length:]
    others = others.replace(_NOTHING, "").strip(", ")
    return ours, others or "nothing", text[place.end() :]
