"""SVG written by hand, in the colour of the text around it: texts, matrices of weights, and the files of drawings."""

import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from nmtcore.files import atomic_path, write_text

FIGURE_WIDTH = 317
"""Pixels of 8.4 cm, a column of a paper."""

TEXT_SIZE = 10.7
"""Pixels of 8 points."""

SHADES = 16
"""Shades of weights, from the ground (0) to the colour of text (1)."""

DARK_STYLE = "<style>@media (prefers-color-scheme: dark) { :root { color: #e8e8e8 } }</style>"
"""The colour of a drawing's text and lines on a dark page."""


class Drawing(NamedTuple):
    """Elements of an SVG, whose upper left corner is at (0, 0), and the size of their box."""

    elements: Sequence[str]
    width: float
    height: float


def arranged(drawings: Sequence[Drawing], columns: int = 1) -> Drawing:
    """Place drawings beside one another in rows of some columns, and the rows below one another."""
    elements, y, width = [], 0.0, 0.0
    for start in range(0, len(drawings), columns):
        x, row = 0.0, drawings[start : start + columns]
        for drawing in row:
            elements.append(f'<g transform="translate({_number(x)} {_number(y)})">{"".join(drawing.elements)}</g>')
            x += drawing.width
        y, width = y + max(drawing.height for drawing in row), max(width, x)
    return Drawing(elements, width, y)


def sentences_drawing(sentences: Iterable[str], width: float = FIGURE_WIDTH) -> Drawing:
    """Write sentences below one another, in lines of about this width."""
    length = round(width / (0.55 * TEXT_SIZE))
    lines = [line for sentence in sentences for line in wrap(sentence, length)]
    return Drawing(svg_lines(0, lines), max(width, widest(lines)), 13 * len(lines) + 6)


def titled_svg(title: str, drawings: Sequence[Drawing], *, embedded: bool = False) -> str:
    """Make a document of drawings below one another, or a part of an HTML page; `title` is for those who cannot see it.

    A file of its own is bright where pages are dark; within a page, `embedded_svg` leaves that to the page.
    """
    drawing = arranged(drawings)
    size = _number(drawing.width), _number(drawing.height)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif" fill="currentColor" role="img">\n'
        f"<title>{escape(title)}</title>\n{DARK_STYLE}\n" + "\n".join([*drawing.elements, "</svg>\n"])
    )
    return embedded_svg(svg) if embedded else svg


def write_drawings(path: Path, drawings: Sequence[Drawing], *, title: str, sentences: Sequence[str] = ()) -> None:
    """Write drawings and sentences below one another as SVG, and as PDF beside it."""
    width = max((drawing.width for drawing in drawings), default=FIGURE_WIDTH)
    svg = titled_svg(title, [*drawings, *[sentences_drawing(sentences, width)] * bool(sentences)])
    write_text(path, svg)
    with atomic_path(path.with_suffix(".pdf")) as pdf:
        _write_pdf(embedded_svg(svg).replace("currentColor", "#000"), pdf)


def _write_pdf(svg: str, path: Path) -> None:
    """Write black SVG as PDF, with the font of matplotlib, without a date."""
    import matplotlib
    from reportlab.graphics import renderPDF
    from reportlab.graphics.shapes import STATE_DEFAULTS
    from reportlab.pdfgen.canvas import Canvas
    from svglib.fonts import register_font
    from svglib.svglib import svg2rlg

    fonts = Path(matplotlib.get_data_path(), "fonts/ttf")
    for weight, file in (("normal", "DejaVuSans.ttf"), ("bold", "DejaVuSans-Bold.ttf")):
        register_font("sans-serif", str(fonts / file), weight=weight)
    # Each drawing names this font, used or not, and conferences refuse one that is not embedded, as the default is.
    STATE_DEFAULTS["fontName"] = "sans-serif"
    drawing = svg2rlg(io.BytesIO(svg.encode("utf-8")))
    canvas = Canvas(str(path), pagesize=(drawing.width, drawing.height), invariant=1, initialFontName="sans-serif")
    renderPDF.draw(drawing, canvas, 0, 0)
    canvas.save()


def svg_text(
    x: float,
    y: float,
    text: str,
    *,
    size: float = TEXT_SIZE,
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
    # XML does not allow control characters.
    shown = "".join("\ufffd" if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    place = f'x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}"'
    return f"<text {place}{more}{turn}>{escape(shown)}</text>"


def svg_lines(x: float, lines: Iterable[str]) -> list[str]:
    """Write lines of text below one another, 13 pixels apart."""
    return [svg_text(x, 12 + 13 * number, line) for number, line in enumerate(lines)]


def text_width(text: str, size: float = TEXT_SIZE) -> float:
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


def widest(texts: Iterable[str], size: float = TEXT_SIZE) -> float:
    """Estimate the width of the widest of some texts; 0 if there are none."""
    return max((text_width(text, size) for text in texts), default=0)


def svg_matrix(weights: Sequence[Sequence[float]], x: float, y: float, *, cell: float, bold: bool = False) -> str:
    """Draw weights from 0 to 1 in a frame as squares of the width `cell`, row by row: the larger, the stronger.

    Neighbours of one shade in a row are one rectangle, and rectangles of one shade one path, so that the text is short.
    """
    paths: dict[int, list[str]] = {}
    for number, row in enumerate(weights):
        shades = [shade_of(weight) for weight in row]
        start = 0
        for column in range(1, len(shades) + 1):
            if column == len(shades) or shades[column] != shades[start]:
                if shades[start]:
                    path = f"M{start} {number}h{column - start}v1h{start - column}z"
                    paths.setdefault(shades[start], []).append(path)
                start = column
    drawn = "".join(
        f'<path fill-opacity="{_number(shade / (SHADES - 1))}" d="{"".join(paths[shade])}"/>' for shade in sorted(paths)
    )
    stroke = 'stroke="currentColor" stroke-width="2"' if bold else 'stroke="#7f7f7f" stroke-width="0.5"'
    size = f'width="{_number(cell * len(weights[0] if weights else ()))}" height="{_number(cell * len(weights))}"'
    place = f"translate({_number(x)} {_number(y)})"
    cells = f'<g transform="scale({_number(cell)})">{drawn}</g>'
    return f'<g transform="{place}">{cells}<rect {size} fill="none" {stroke}/></g>'


def labelled_matrix(
    weights: Sequence[Sequence[float]],
    *,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    cell: float,
    size: float = TEXT_SIZE,
    title: Sequence[str] = (),
    bold: bool = False,
) -> Drawing:
    """Draw a matrix with lines of a title, and the names of its rows and columns, which may be left out, beside it."""
    x, y = widest(rows, size) + 6, 13 * len(title) + widest(columns, size) + 8
    width, height = cell * len(weights[0] if weights else ()), cell * len(weights)
    elements = svg_lines(0 if rows else x, title)
    elements.append(svg_matrix(weights, x, y, cell=cell, bold=bold))
    for number, name in enumerate(rows):
        elements.append(svg_text(x - 4, y + cell * (number + 0.78), name, size=size, anchor="end"))
    for number, name in enumerate(columns):
        elements.append(svg_text(x + cell * (number + 0.78), y - 4, name, size=size, upwards=True))
    return Drawing(elements, max(x + width, widest(title)) + 8, y + height + 10)


def shade_of(weight: float) -> int:
    """Return the shade of a weight: 0 (the ground) to `SHADES` - 1 (the colour of text)."""
    return min(SHADES - 1, max(0, round(weight * (SHADES - 1))))


def shade_legend(note: str = "") -> Drawing:
    """Draw the shades and their weights, and a note beside them."""
    shades = svg_matrix([[shade / (SHADES - 1) for shade in range(SHADES)]], 14, 2, cell=6)
    return Drawing([svg_text(2, 9, "0"), shades, svg_text(114, 9, "1"), svg_text(136, 9, note)], FIGURE_WIDTH, 16)


def embedded_svg(svg: str) -> str:
    """Make an SVG document a part of an HTML page: without declaration and colours."""
    return re.sub(r"<style>.*?</style>", "", svg[svg.index("<svg") :], flags=re.DOTALL)


def _number(value: float) -> str:
    """Write a number of pixels with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
