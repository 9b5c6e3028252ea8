"""SVG drawings that are written by hand, in the colour of the text around them: matrices of weights, and texts."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from textwrap import wrap
from typing import NamedTuple

SHADES = 16
"""Shades of weights, from the ground (0) to the colour of text (1)."""

FONT = "sans-serif"

DARK_STYLE = "<style>@media (prefers-color-scheme: dark) { :root { color: #e8e8e8 } }</style>"
"""The colour of a drawing's text and lines on a dark page."""

LINE_LENGTH, LINE_SIZE, LINE_STEP = 110, 12, 16
"""Of lines of text above a drawing: characters, and size and distance in pixels."""


class Drawing(NamedTuple):
    """Elements of an SVG, whose upper left corner is at (0, 0), and the size of their box."""

    elements: list[str]
    width: float
    height: float


def svg_document(width: float, height: float, elements: Iterable[str], *, title: str) -> str:
    """Make a drawing of elements; `title` is shown to those who cannot see it.

    A file of its own is bright where pages are dark; within a page, `embedded_svg` leaves that to the page.
    """
    size = f"{_number(width)} {_number(height)}".split()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}" font-family="{FONT}" fill="currentColor" role="img">\n'
        f"<title>{escape(title)}</title>\n{DARK_STYLE}\n" + "".join(f"{element}\n" for element in elements) + "</svg>\n"
    )


def drawing_svg(drawing: Drawing, *, title: str, embedded: bool = False) -> str:
    """Make a document of a drawing, or a part of an HTML page."""
    document = svg_document(drawing.width, drawing.height, drawing.elements, title=title)
    return embedded_svg(document, "") if embedded else document


def titled_svg(title: str, drawings: Sequence[Drawing], sentences: Sequence[str] = ()) -> str:
    """Make a document of drawings below one another, and sentences below them; `title` is for those who cannot see it.

    The caption of a figure has its title.
    """
    elements, y, widths = [], 0.0, [0.0]
    for drawing in drawings:
        elements.append(f'<g transform="translate(0 {_number(y)})">{"".join(drawing.elements)}</g>')
        y, widths = y + drawing.height, [*widths, drawing.width]
    for line in (line for sentence in sentences for line in wrap(sentence, LINE_LENGTH)):
        y += LINE_STEP
        elements.append(svg_text(10, y, line, size=LINE_SIZE))
        widths.append(text_width(line, LINE_SIZE) + 20)
    return svg_document(max(widths), y + 4, elements, title=title)


def svg_text(
    x: float,
    y: float,
    text: str,
    *,
    size: float = 11,
    anchor: str = "start",
    bold: bool = False,
    fill: str = "currentColor",
    upwards: bool = False,
) -> str:
    """Write a text on the baseline `y`; `anchor` is start, middle or end; `upwards` reads from bottom to top."""
    more = "" if anchor == "start" else f' text-anchor="{anchor}"'
    more += "" if fill == "currentColor" else f' fill="{fill}"'
    more += ' font-weight="bold"' if bold else ""
    turn = f' transform="rotate(-90 {_number(x)} {_number(y)})"' if upwards else ""
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}"{more}{turn}>'
        f"{escape(_printable(text))}</text>"
    )


def text_width(text: str, size: float) -> float:
    """Estimate the width of a text in pixels, a little too wide, since fonts differ."""
    return size * sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    """Estimate the width of a character, as a share of the size of the font."""
    if character in "@%" or unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "mwMW":
        return 0.95
    if character in "iljtfI.,;:'|!()[] -":
        return 0.4
    return 0.75 if character.isupper() else 0.62


def widest(texts: Iterable[str], size: float) -> float:
    """Estimate the width of the widest of some texts; 0 if there are none."""
    return max((text_width(text, size) for text in texts), default=0)


def svg_frame(x: float, y: float, width: float, height: float, *, bold: bool = False) -> str:
    """Draw the outline of a rectangle."""
    stroke = 'stroke="currentColor" stroke-width="2"' if bold else 'stroke="#7f7f7f" stroke-width="0.5"'
    sides = [_number(value) for value in (x, y, width, height)]
    return f'<rect x="{sides[0]}" y="{sides[1]}" width="{sides[2]}" height="{sides[3]}" fill="none" {stroke}/>'


def svg_matrix(weights: Sequence[Sequence[float]], x: float, y: float, *, cell: float) -> str:
    """Draw weights from 0 to 1 as squares of the width `cell`, row by row downwards; the larger, the stronger.

    Neighbours of one shade in a row are one rectangle, and rectangles of one shade one path, so that the text is short.
    """
    paths: dict[int, list[str]] = {}
    for number, row in enumerate(weights):
        shades = [shade_of(weight) for weight in row]
        start = 0
        for column in range(1, len(shades) + 1):
            if column == len(shades) or shades[column] != shades[start]:
                if shades[start]:
                    paths.setdefault(shades[start], []).append(
                        f"M{start} {number}h{column - start}v1h{start - column}z"
                    )
                start = column
    drawn = "".join(
        f'<path fill-opacity="{_number(shade / (SHADES - 1))}" d="{"".join(paths[shade])}"/>' for shade in sorted(paths)
    )
    place = f"translate({_number(x)} {_number(y)}) scale({_number(cell)})"
    return f'<g fill="currentColor" transform="{place}">{drawn}</g>'


def labelled_matrix(
    weights: Sequence[Sequence[float]],
    x: float,
    y: float,
    *,
    cell: float,
    size: float,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    bold: bool = False,
) -> list[str]:
    """Draw a matrix whose cells begin at (x, y) in a frame, with the names of its rows and columns beside it."""
    height, width = len(weights), len(weights[0]) if weights else 0
    elements = [svg_matrix(weights, x, y, cell=cell), svg_frame(x, y, cell * width, cell * height, bold=bold)]
    for number, name in enumerate(rows):
        elements.append(svg_text(x - 4, y + cell * (number + 0.78), name, size=size, anchor="end"))
    for number, name in enumerate(columns):
        elements.append(svg_text(x + cell * (number + 0.78), y - 4, name, size=size, upwards=True))
    return elements


def shade_of(weight: float) -> int:
    """Return the shade of a weight: 0 (the ground) to `SHADES` - 1 (the colour of text)."""
    return min(SHADES - 1, max(0, round(weight * (SHADES - 1))))


def shade_legend(x: float, y: float, *, width: float = 120) -> list[str]:
    """Draw the shades and their weights, in a box that is `LEGEND_HEIGHT` high."""
    cell = width / SHADES
    weights = [[shade / (SHADES - 1) for shade in range(SHADES)]]
    return [
        svg_matrix(weights, x, y, cell=cell),
        svg_frame(x, y, width, cell),
        svg_text(x, y + cell + 10, "0", size=9, anchor="middle"),
        svg_text(x + width, y + cell + 10, "1", size=9, anchor="middle"),
        svg_text(x + width + 12, y + cell, "weight", size=9),
    ]


LEGEND_HEIGHT = 20
"""Height of `shade_legend` in pixels."""


def embedded_svg(svg: str, name: str) -> str:
    """Make an SVG document a part of an HTML page: without declaration and colours, and with ids of its own."""
    body = re.sub(r"<style>.*?</style>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    ids = re.findall(r'\bid="([^"]+)"', body)
    for own in sorted(set(ids), key=len, reverse=True):
        body = re.sub(rf'(\bid="|url\(#|href="#){re.escape(own)}(?=["\)])', rf"\g<1>{name}-{own}", body)
    return body


def _printable(text: str) -> str:
    """Replace control characters, which XML does not allow."""
    return "".join("\ufffd" if unicodedata.category(character) in ("Cc", "Cs") else character for character in text)


def _number(value: float) -> str:
    """Write a number of pixels with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
