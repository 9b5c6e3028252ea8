"""Records as nested keys with values: write, read and compare.

A part of a record is a tree of dictionaries whose leaves are numbers, texts, booleans and null. The keys from the root
to a leaf say what the value is, for instance `tables / pham2018_table_6_3 / depparse_l1 / cs2en/test/bleu`.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

SHOWN = 110
"""Characters of a text that a line about a difference shows."""
PER_GROUP = 5
"""Lines about a group of differences that are printed at most."""


@dataclass(frozen=True)
class Missing:
    """Stands in for values that only the other record has."""

    values: int
    """How many values the other record has there."""

    def __str__(self) -> str:
        return "nothing"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Values with the same key in two records that are not equal."""

    key: tuple[str, ...]
    old: Any
    new: Any

    @property
    def group(self) -> tuple[str, ...]:
        """Part, section and measure, by which differences are listed together."""
        if isinstance(self.old, Missing) or isinstance(self.new, Missing):
            return (*self.key[:2], "only in " + ("new" if isinstance(self.old, Missing) else "old"))
        measures = [name for name in self.key[2:] if not name.isdigit()]  # entries of a list are one measure
        return (*self.key[:2], *measures[-1:])

    @property
    def absolute(self) -> float | None:
        """The absolute difference of two numbers."""
        return abs(self.new - self.old) if is_number(self.old) and is_number(self.new) else None

    @property
    def relative(self) -> float | None:
        """The difference of two numbers, relative to the larger one."""
        return relative_difference(self.old, self.new) if self.absolute is not None else None

    def __str__(self) -> str:
        key = " / ".join(self.key)
        for name, other in (("old", self.new), ("new", self.old)):
            if isinstance(other, Missing):
                values = f" ({other.values} values)" if other.values > 1 else ""
                return f"{key}: only in {name}{values}"
        if self.absolute is not None:
            return f"{key}: {self.old!r} -> {self.new!r} (by {self.absolute:.3g}, relative {self.relative:.3g})"
        return f"{key}: {text_difference(self.old, self.new)}"


def is_number(value: object) -> bool:
    """Tell whether a value is a number; booleans are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def relative_difference(old: float, new: float) -> float:
    """Return the difference of two numbers relative to the larger one."""
    if old == new or (math.isnan(old) and math.isnan(new)):
        return 0.0
    difference = abs(new - old) / max(abs(old), abs(new))
    return math.inf if math.isnan(difference) else difference


def text_difference(old: object, new: object) -> str:
    """Describe how two values differ; of texts with several lines, show the first line that does."""
    if not (isinstance(old, str) and isinstance(new, str) and "\n" in old + new):
        return f"{old!r:.{SHOWN}} -> {new!r:.{SHOWN}}"
    pairs = [pair for pair in enumerate(zip_longest(old.split("\n"), new.split("\n"))) if pair[1][0] != pair[1][1]]
    number, (first, second) = pairs[0]
    return f"{len(pairs)} lines differ, first line {number + 1}: {first!r:.{SHOWN}} -> {second!r:.{SHOWN}}"


def count(value: Any) -> int:
    """Count the values of a tree."""
    return sum(map(count, value.values())) if isinstance(value, Mapping) and value else 1


def differences(
    old: Any, new: Any, key: tuple[str, ...] = (), *, tolerance: float = 0.0, without: Sequence[str] = ()
) -> Iterator[Difference]:
    """Yield all differences of two trees, in the order of their keys.

    Numbers may differ by `tolerance`, relative to the larger one. Keys that match a pattern of `without` (as of file
    names, on the key joined by slashes) are left out, with all that is below them.
    """
    if any(fnmatchcase("/".join(key), pattern) for pattern in without):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in sorted(old.keys() | new.keys()):
            first = old[name] if name in old else Missing(count(new[name]))
            second = new[name] if name in new else Missing(count(old[name]))
            yield from differences(first, second, (*key, name), tolerance=tolerance, without=without)
        return
    numbers = is_number(old) and is_number(new)
    if relative_difference(old, new) > tolerance if numbers else (type(old), old) != (type(new), new):
        yield Difference(key=key, old=old, new=new)


def report(found_differences: Sequence[Difference], *, everything: bool) -> str:
    """Write a summary of the groups of differences, then their lines, largest first."""
    ordered = sorted(found_differences, key=lambda entry: (entry.group, -(entry.relative or 0.0)))
    groups = [list(entries) for _, entries in groupby(ordered, key=lambda entry: entry.group)]
    lines = [f"{len(ordered)} differences:"]
    for entries in groups:
        sizes = [(entry.relative, entry.absolute) for entry in entries if entry.absolute is not None]
        largest = f", at most {max(a for _, a in sizes):.3g}, relative {max(r for r, _ in sizes):.3g}" if sizes else ""
        lines.append(f"  {len(entries):>6}  {' / '.join(entries[0].group)}{largest}")
    for entries in groups:
        shown = entries if everything else entries[:PER_GROUP]
        lines += ["", *map(str, shown)]
        if len(shown) < len(entries):
            lines.append(f"... and {len(entries) - len(shown)} more of {' / '.join(entries[0].group)} (--all)")
    return "\n".join(lines)


def write_part(folder: Path, part: str, values: Mapping[str, Any]) -> None:
    """Write a part of a recording as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, indent=1)
    (folder / f"{part}.json").write_text(text, encoding="utf-8", errors="surrogatepass")


def read_record(folder: Path) -> dict[str, Any]:
    """Read the parts of a record."""
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise FileNotFoundError(f"{folder} has no record (PART.json)")
    return {path.stem: json.loads(path.read_text(encoding="utf-8", errors="surrogatepass")) for path in paths}
