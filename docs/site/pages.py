"""The pages of the documentation site: their sources, addresses and order, and the links between them.

Links are written for readers of the repository: `[scores](scores.md#metrics)`, relative to the file. On the site, they
lead to the page that is made of the file or folder.
"""

import posixpath
import re
from pathlib import Path

START = {"docs/index.md": "index", "README.md": "first-steps", "docs/tour.ipynb": "tour"}
"""The first pages: file and address."""

HOW_TO = ("training", "sweep", "factors", "published-model", "strong-base", "component", "annotator", "filter")
HOW_TO += ("metric", "command-metric", "table", "serve-elsewhere", "batch")
"""Files of docs/how-to/, in the order of the menu; others that are there follow them, and last `OWN_PAPER`."""

OWN_PAPER = "own-paper"

GUIDE = ("running", "data", "scores", "tables", "assumptions", "released-code", "analysis", "models")
RESULTS = ("findings", "benchmarks", "cost", "parsers", "reliability")
"""Files of docs/, in the order of the menu; others that are there follow those of `GUIDE`."""

REFERENCE = {
    "config/systems": "systems",
    "config/datasets": "datasets",
    "src/nmtcore/model": "equations",
    "config/README.md": "configuration",
    "src/nmtcore/cli": "command-line",
    "src/nmtcore": "python",
}
"""Pages that are made from code, at least in part, and the files or folders that links to them name."""

TITLES = {"first-steps": "First steps"}
"""Titles of pages in place of those of their files."""

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]+)?\)")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+(?:\n[^`\n]+)?`)", re.M | re.DOTALL)


def addresses(root: Path) -> dict[str, str]:
    """Return the address of the page of each file or folder of the repository that has one, without `.html`."""
    how_to = sorted(path.stem for path in (root / "docs/how-to").glob("*.md"))
    own = sorted(path.stem for path in (root / "docs").glob("*.md"))
    return {
        **START,
        **{f"docs/{name}.md": name for name in own if name != "index"},
        **{f"docs/how-to/{name}.md": f"how-to/{name}" for name in how_to},
        **REFERENCE,
        "config": "configuration",
        "CONTRIBUTING.md": "contributing",
    }


def menu(root: Path) -> dict[str, list[str]]:
    """Return the addresses of all pages but the first, by the captions of the menu."""
    pages = list(dict.fromkeys(addresses(root).values()))
    ordered = [f"how-to/{name}" for name in HOW_TO]
    how_to = [page for page in ordered if page in pages]
    how_to += [page for page in pages if (page.startswith("how-to/") or page == OWN_PAPER) and page not in ordered]
    first = [page for page in START.values() if page != "index"]
    named = {"index", "contributing", *first, *how_to, *GUIDE, *RESULTS, *REFERENCE.values()}
    return {
        "Start": first,
        "How to": how_to,
        "Guide": [*GUIDE, *(page for page in pages if page not in named)],
        "Reference": list(REFERENCE.values()),
        "Measured": list(RESULTS),
        "Development": ["contributing"],
    }


def linked(text: str, source: str, pages: dict[str, str]) -> str:
    """Make links between files of the repository links between pages; those to other files lose their link.

    `source` is the file that the text is from, and `pages` are the `addresses`.
    """
    here = posixpath.dirname(pages[source])

    def replaced(match: re.Match) -> str:
        label, target, anchor = match[1], match[2], match[3] or ""
        if not target:
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path not in pages:
            return label
        page = posixpath.relpath(pages[path], here or ".")
        return f"[{label}]({page}{'.ipynb' if path.endswith('.ipynb') else '.md'}{anchor})"

    parts = _CODE.split(_protected(text))
    return _restored("".join(part if part.startswith("`") else _LINK.sub(replaced, part) for part in parts))


_MARKED_LABEL = re.compile(r"\[(`[^`\]]+`)\]\(")


def _protected(text: str) -> str:
    """Hide the backticks of links whose whole label is code, so that these links are seen."""
    return _MARKED_LABEL.sub(lambda match: f"[\0{match[1][1:-1]}\0](", text)


def _restored(text: str) -> str:
    return text.replace("\0", "`")


def titled(text: str, page: str) -> str:
    """Replace the title of a page that has one of its own on the site."""
    return re.sub(r"\A# .*", f"# {TITLES[page]}", text) if page in TITLES else text
