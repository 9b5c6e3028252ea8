"""Pages of HTML that need no other file: light and dark, for screens from 400 pixels, phones and paper."""

import base64
import hashlib
import json
from html import escape
from typing import Any

_LIGHT = """\
--text: #1a1a1a; --muted: #595959; --page: #fff; --panel: #f4f5f7; --line: #c3c7cd; --rule: #555; --accent: #0a57a5"""
_DARK = """\
--text: #e8e8e8; --muted: #a9adb3; --page: #14171b; --panel: #1f242a; --line: #454c55; --rule: #9aa1aa;
--accent: #8fbcf3"""

BASE_STYLE = f"""\
:root {{ color-scheme: light dark; {_LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
@media print {{ :root {{ color-scheme: light; {_LIGHT} }} }}
body {{ font: 16px/1.5 sans-serif; color: var(--text); background: var(--page); margin: 2em auto; padding: 0 1em;
  max-width: 90em }}
h1 {{ font-size: 1.5em }} h2 {{ font-size: 1.2em }} h3 {{ font-size: 1em }}
h1, h2, h3 {{ line-height: 1.25; break-after: avoid }}
h1, h2, h3, p, li, dt, dd {{ overflow-wrap: anywhere }}
a {{ color: var(--accent) }}
:focus-visible {{ outline: 2px solid var(--accent); outline-offset: 2px }}
table {{ border-collapse: collapse; margin: 1em 0 }}
thead, tbody {{ border-bottom: 1px solid var(--line) }}
thead {{ border-top: 2px solid var(--rule) }}
th, td {{ padding: .15em .6em; text-align: left; vertical-align: top }}
.group {{ text-align: center; border-bottom: 1px solid var(--line) }}
.tail {{ display: inline-block; text-align: left; white-space: pre }}
.right {{ text-align: right; font-variant-numeric: tabular-nums }}
.scroll {{ overflow-x: auto; max-width: 100% }}
.paper {{ background: #fff; color: #000 }}
.muted {{ color: var(--muted) }}
.reason {{ font-size: .85em; margin: .15em 0 }}
sup {{ line-height: 0 }}
@media print {{ body {{ margin: 0; max-width: none; font-size: 10pt }} .scroll {{ overflow-x: visible }} }}
"""
"""Colours as variables (text, muted text, page, panel, thin and thick lines, links), and the elements of every page.

`scroll` is a box for what may be wider than a screen (`scrolling`), `paper` one for drawings in black on white.
"""


def html_document(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """Make a whole page; `body` is HTML, and `style` and `script` are added to the page itself.

    The title is escaped; the script cannot contain `</script` or `<!--`. Data belongs into `json_script`. The page
    allows browsers to run this script alone, so no attributes such as `onclick`, and to load nothing.
    """
    code = f"<script>{script}</script>\n" if script else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}</title>
<style>
{BASE_STYLE}{style}</style>
</head>
<body>
{body}{code}</body>
</html>
"""


def _policy(script: str) -> str:
    """Allow styles, pictures within the page, and one script, which is known by its checksum."""
    checksum = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{checksum}'"


def json_script(value: Any, *, id_: str) -> str:
    """Put data into a page, without spaces; a script parses the `textContent` of the element `id_`.

    Characters that could end the element, or begin another, are written as escapes, which JSON reads as they were.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="{escape(id_)}">{text}</script>\n'
