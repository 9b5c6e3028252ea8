"""Ways to damage bytes, lines and nested values at random."""

import gzip
import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

HOSTILE = (
    b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b"\t\t\t", b"\x0b\x0c\x1c\x85",
    "\u2028\u2029\u202e".encode(), b"\x1b[2J", b"<!--", b"-->", b"<seg>", b"</seg>", b"</tu>", b"<tu>", b"<doc>",
    b"<![CDATA[", b"]]>", b"&", b"&amp;", b"&nosuch;", b"&#0;", b"&#" + b"9" * 5000 + b";", b"9" * 5000, b"-1", b"1.5",
    b"1-2", b"x.y", b"<", b">", b"<" + b" " * 50_000, b'"',
    b"\\", b"{", b"}" * 3, b"[" * 5000, b"null", b"NaN",
    b"1e999", b'"\\ud800"', b"<?xml version='1.0' encoding='utf-7'?>", b"# text = x",
    b"# sent_id = 7", b"#sent_id=7", b"\n#text=x\n", b"/", b"/en", b" ", b'note="id=7"', b"encoding='hex'",
    b"<tuv xml:lang='EN-gb'><seg>x</seg></tuv>", b"_", b"|", b"x" * 100_000,
)  # fmt: skip


def damaged_bytes(data: bytes, random: Random) -> bytes:
    """Damage bytes once to three times."""
    for _ in range(random.choice((1, 1, 2, 3))):
        data = random.choice(BYTE_DAMAGE)(data, random)
    return data


def _flip(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    changed, bit = bytearray(data), random.randrange(8 * len(data))
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def _span(data: Sequence[Any], random: Random) -> tuple[int, int]:
    first = random.randrange(len(data) + 1)
    return first, min(len(data), first + random.choice((1, 2, 10, 100)))


def _delete(data: bytes, random: Random) -> bytes:
    first, last = _span(data, random)
    return data[:first] + data[last:]


def _repeat(data: bytes, random: Random) -> bytes:
    first, last = _span(data, random)
    return data[:last] + data[first:]


def _insert(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(HOSTILE) + data[place:]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _lines(data: bytes, random: Random) -> bytes:
    """Delete, repeat or swap lines."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    damage = random.choice(("delete", "repeat", "swap"))
    if damage == "delete":
        del lines[a]
    elif damage == "repeat":
        lines.insert(b, lines[a])
    else:
        lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def _recode(data: bytes, random: Random) -> bytes:
    encoding = random.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig", "shift_jis", "utf-7"))
    return data.decode("utf-8", "replace").encode(encoding, "replace")


BYTE_DAMAGE: tuple[Callable[[bytes, Random], bytes], ...] = (
    _flip, _flip, _delete, _delete, _repeat, _insert, _insert, _cut, _lines, _lines, _recode,
)  # fmt: skip


def packed(data: bytes, random: Random) -> bytes:
    """Compress bytes or not, and sometimes damage what is compressed."""
    if random.random() < 0.7:
        return data
    data = gzip.compress(data, mtime=0)
    return damaged_bytes(data, random) if random.random() < 0.3 else data


VALUES = (
    None, True, False, 0, -1, 1, 10**9, 10**30, 1.5, -0.0, float("nan"), float("inf"), "", "x", "x" * 5000, "../../x",
    "/dev/null", "\x1b[2J", "\ud800", "a\nb", "null", "1", [], {}, [[]], [None], {"x": 1}, {"": None}, [1, "a", {}],
    list(range(1000)), {"kind": "x"}, {"path": "/dev/zero"}, "demo_en2de", "transformer_base", "${HOME}", "{seed}",
)  # fmt: skip


def damaged_value(value: Any, random: Random) -> Any:
    """Replace, delete or add something at a random place of nested dictionaries and lists."""
    places = list(_places(value))
    if not places:
        return random.choice(VALUES)
    holder, key = random.choice(places)
    damage = random.choice(("replace", "replace", "replace", "delete", "add"))
    if damage == "replace":
        holder[key] = random.choice(VALUES)
    elif damage == "delete":
        del holder[key]
    elif isinstance(holder, dict):
        holder[random.choice(("x", "", str(key) + "x", "extends", "kind"))] = random.choice(VALUES)
    else:
        holder.append(random.choice(VALUES))
    return value


def damaged_json(data: bytes, random: Random) -> bytes:
    """Damage the values of JSON once or twice; other bytes at random."""
    try:
        value = json.loads(data)
    except ValueError:
        return damaged_bytes(data, random)
    if random.random() < 0.05:
        value = random.choice(VALUES)
    for _ in range(random.choice((1, 1, 2))):
        value = damaged_value(value, random)
    return json.dumps(value).encode()


def _places(value: Any) -> Any:
    """Yield (holder, key) of all values inside a value."""
    if isinstance(value, dict):
        for key in value:
            yield value, key
            yield from _places(value[key])
    elif isinstance(value, list):
        for place in range(len(value)):
            yield value, place
            yield from _places(value[place])
