"""What a job depends on, written so that Snakemake notices a change and a user can read it.

Snakemake compares the `repr` of parameters and prints both where they differ. Ours is a line of JSON that holds every
setting by its path (`components.depparse.weight`); `explain_reasons` replaces the two lines by what changed.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

MARK = "settings: "
"""What the record of parameters begins with."""

LONGEST = 100
"""Characters of a value that are shown."""


class Tracked(tuple):
    """A value for a job, in a tuple of one. Snakemake runs the job again when `settings`, plain values, change."""

    def __new__(cls, value: Any, settings: Mapping[str, Any]) -> "Tracked":
        """Keep `value`, and of its settings each by its path."""
        tracked = super().__new__(cls, (value,))
        tracked.settings = flat(settings)
        return tracked

    def __repr__(self) -> str:
        return MARK + json.dumps(self.settings, ensure_ascii=False, sort_keys=True)

    def __reduce__(self) -> tuple:
        return tuple, ((self[0],),)  # a job needs the value alone


ORDERED = ("components",)
"""Paths of mappings whose order counts."""


def flat(settings: Any, path: str = "") -> dict[str, Any]:
    """Give every single setting by its path.

    Of a list of mappings that have names (filters...) each stands under its name, and the path of the list has their
    order, as that of an `ORDERED` mapping has its own; of any other list of mappings each stands under its number.
    """
    if isinstance(settings, Mapping):
        inner = {f"{path}.{key}".lstrip("."): value for key, value in settings.items()}
        if path in ORDERED:
            return {path: ", ".join(settings)} | _flat_all(inner)
    elif isinstance(settings, Sequence) and settings and all(isinstance(entry, Mapping) for entry in settings):
        names = [entry.get("name") for entry in settings]
        if None in names or len(set(names)) < len(names):
            inner = {f"{path}[{i}]": entry for i, entry in enumerate(settings)}
        else:
            inner = {f"{path}.{entry['name']}": {**entry, "name": None} for entry in settings}
            return {path: ", ".join(names)} | _flat_all(inner)
    else:
        return {path: settings}
    return _flat_all(inner)


def _flat_all(inner: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten values, without those that are not set."""
    pairs = [pair for path, value in inner.items() for pair in flat(value, path).items()]
    return {path: value for path, value in pairs if value is not None}


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Name every setting of two flat mappings that differs, with its old and new value."""
    paths = [path for path in dict.fromkeys([*old, *new]) if old.get(path) != new.get(path)]
    return [f"{path}: {_shown(old.get(path))} -> {_shown(new.get(path))}" for path in paths]


def _shown(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return _cut(text)


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
        lines.append(f"{_cut(other_before)} -> {_cut(other_now)}")
    return "\n        ".join([intro.rstrip(), *dict.fromkeys(lines), *([rest] if rest else [])])


def _parameters(text: str, end: str) -> tuple[list[dict[str, Any]], str, str]:
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
            ours.append(settings)
        except ValueError:  # another parameter that happens to hold our mark
            others, length = others + MARK, place.end()
        text = text[length:]
    others = others.replace(_NOTHING, "").strip(", ")
    return ours, others or "nothing", text[place.end() :]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
