"""Records as nested keys with values: write, read and compare.

A part of a record is a tree of dictionaries whose leaves are numbers, texts, booleans and null. The keys from the root
to a leaf say what the value is, for instance `tables / pham2018_table_6_3 / depparse_l1 / cs2en/test/bleu`.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

SHOWN = 110
"""Characters of a text that a line about a difference shows."""
MISSING = object()
"""Stands in for a value that only the other record has."""


class Difference(NamedTuple):
    """Values with the same key in two records that are not equal."""

    relative: float
    """The difference of two numbers, relative to the larger one; infinite for other values."""
    sentence: str


def flat(value: Any, key: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Map the key of each leaf of a tree to its value."""
    if not (isinstance(value, Mapping) and value):
        return {key: value}
    return {name: leaf for own, part in value.items() for name, leaf in flat(part, (*key, own)).items()}


def relative_difference(old: Any, new: Any) -> float:
    """Return the difference of two values: of numbers, relative to the larger one."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (old, new))
    if numbers and math.isfinite(old) and math.isfinite(new):
        return abs(new - old) / max(abs(old), abs(new)) if old != new else 0.0
    return 0.0 if repr(old) == repr(new) else math.inf


def sentence(old: Any, new: Any, relative: float) -> str:
    """Describe how two values differ; of texts with several lines, show the first line that does."""
    if MISSING in (old, new):
        return f"only in {'new' if old is MISSING else 'old'}"
    if math.isfinite(relative):
        return f"{old!r} -> {new!r} (by {abs(new - old):.3g}, relative {relative:.3g})"
    if not (isinstance(old, str) and isinstance(new, str) and "\n" in old + new):
        return f"{old!r:.{SHOWN}} -> {new!r:.{SHOWN}}"
    pairs = [pair for pair in enumerate(zip_longest(old.split("\n"), new.split("\n"))) if pair[1][0] != pair[1][1]]
    number, (first, second) = pairs[0]
    return f"{len(pairs)} lines differ, first line {number + 1}: {first!r:.{SHOWN}} -> {second!r:.{SHOWN}}"


def differences(old: Any, new: Any, *, tolerance: float = 0.0, without: Sequence[str] = ()) -> Iterator[Difference]:
    """Yield all differences of two trees, in the order of their keys.

    Numbers may differ by `tolerance`, relative to the larger one. Keys that match a pattern of `without` (as of file
    names, on the key joined by slashes) are left out, with all that is below them.
    """
    old, new = flat(old), flat(new)
    for key in sorted(old.keys() | new.keys()):
        above = ["/".join(key[:length]) for length in range(1, len(key) + 1)]
        if not any(fnmatchcase(name, pattern) for name in above for pattern in without):
            values = old.get(key, MISSING), new.get(key, MISSING)
            if (relative := relative_difference(*values)) > tolerance:
                yield Difference(relative, f"{' / '.join(key)}: {sentence(*values, relative)}")


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
