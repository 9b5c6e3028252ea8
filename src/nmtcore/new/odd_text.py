"""Patterns of text that is not what it seems: pieces of subwords, wrong encodings, escapes, invisible characters.

They are regular expressions of RE2, as Arrow has them.
"""

import pyarrow as pa
import pyarrow.compute as pc

from nmtcore.config.corpora import SIDES
from nmtcore.errors import escape_controls

SHOWN_CHARACTERS = 50
"""The most characters that are shown of a text."""
PIECES = {
    "@@": (r"\S@@( |$)", "sed -E 's/@@( |$)//g'"),
    "▁": (r"(^| )▁", "sed 's/ //g; s/▁/ /g; s/^ //'"),
    "￭": (r"( ￭|￭ )\S", "sed 's/ ￭//g; s/￭ //g'"),
    "##": (r"\S ##\pL", "sed 's/ ##//g'"),
}
"""Marks of pieces of subwords: how to find them, and the command that joins the pieces."""
_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Scripts in which zero-width spaces separate words."""


def _misread() -> str:
    """Match UTF-8 that was read as another encoding: characters for its first bytes, and for those that continue."""

    def of(first: int, last: int, *encodings: str, but: str = "") -> str:
        read = (bytes([byte]).decode(name, "ignore") for byte in range(first, last + 1) for name in encodings)
        return "[" + "".join(sorted(set("".join(read)) - set(but))).replace("]", r"\]") + "]"

    def several(count: int, *encodings: str) -> str:
        two, three, more = (of(*ends, *encodings) for ends in ((0xC2, 0xDF), (0xE0, 0xEF), (0x80, 0xBF)))
        return f"(?:{two}{more}|{three}{more}{more}){{{count}}}"

    western, quotes = ("cp1252", "latin-1"), "“”’»…–—"
    more = of(0x80, 0xBF, *western)
    return "|".join(
        [
            f"[ÂÃ]{more}|â[\x80\x82\x84€‚„]{more}|[ÄÅ]{of(0x80, 0xBF, *western, but=quotes)}",
            f"[ĂÄĹ]{of(0x80, 0xBF, 'cp1250', but=quotes + 'ş')}",  # Romanian has Ăş
            f"[√]{of(0x80, 0xBF, 'mac_roman', but='π')}|‚Ä{of(0x80, 0xBF, 'mac_roman')}",
            f"├{of(0x80, 0xBF, 'cp437', 'cp850', but='├─│┤╡╢╖╕╣║╗┐')}",
            several(2, *western),
            several(3, "cp1251"),
        ]
    )


PATTERNS = {
    "control": ("with control characters", r"[^\P{Cc}\t]"),
    "tag": ("with a side that begins with a tag, such as <b> or <2de>", r"^\s*</?[A-Za-z0-9][^<>]*>"),
    "replaced": ("with U+FFFD, the trace of an earlier wrong conversion", "\ufffd"),
    "misread": ("with UTF-8 that was read as another encoding (`MÃ¼ller`)", _misread()),
    "entities": (
        "with HTML entities or Moses' escapes (`&quot;`, `&apos;`)",
        r"&(?:#[0-9]{2,6}|#[xX][0-9a-fA-F]{2,5}|[A-Za-z]{2,8}[0-9]{0,2});",
    ),
    "hyphens": ("with Moses' `@-@`, of its option -a", r"(?:^|\s)@[-–/]@(?:\s|$)"),
    "pieces": ("with pieces of subwords", "|".join(pattern for pattern, _ in PIECES.values())),
    "marks": ("with a byte order mark inside, as of files that were joined", "\ufeff"),
    "invisible": (
        "with invisible characters (zero-width spaces, soft hyphens)",
        f"(?:^|[^{_SOUTH_EAST_ASIAN}])[\u00ad\u180e\u200b\u2060-\u2064]",
    ),
}
"""What is odd about a text by a pattern: a description and the pattern, by a short name."""


def excerpts(pairs: pa.RecordBatch, name: str) -> list[str]:
    """Show pairs as lines: where they are, and each side around what is odd about it."""
    sides = (_excerpts(pairs[side], PATTERNS.get(name, ("", ""))[1]) for side in SIDES)
    rows = zip(pairs["origin"].to_pylist(), *sides, strict=True)
    return [f"{origin}: {source} ||| {target}" for origin, source, target in rows]


def _excerpts(texts: pa.Array, pattern: str) -> list[str]:
    starts = pc.find_substring_regex(texts, pattern).to_pylist()  # in bytes; -1 without a match
    places = zip(texts.to_pylist(), starts, strict=True)
    return [excerpt(text, len(text.encode()[: max(0, start)].decode())) for text, start in places]


def excerpt(text: str, place: int) -> str:
    """Cut a text to `SHOWN_CHARACTERS` around a place."""
    first = max(0, place - SHOWN_CHARACTERS // 2)
    cut = "..." * (first > 0) + text[first : first + SHOWN_CHARACTERS]
    return escape_controls(cut + "..." * (first + SHOWN_CHARACTERS < len(text)))
