"""SVG drawings that are written by hand: matrices of weights in shades of grey, and texts."""

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from textwrap import wrap
from typing import NamedTuple

SHADES = 16
"""Shades of grey of weights, from white (0) to black (1)."""

FONT = "sans-serif"

LINE_LENGTH, LINE_SIZE, LINE_STEP = 110, 12, 16
"""Of lines of text above a drawing: characters, and size and distance in pixels."""


class Drawing(NamedTuple):
    """Elements of an SVG, whose upper left corner is at (0, 0), and the size of their box."""

    elements: list[str]
    width: float
    height: float


def svg_document(width: float, height: float, elements: Iterable[str], *, title: str) -> str:
    """Make a drawing of elements; `title` is shown to those who cannot see it."""
    size = f"{_number(width)} {_number(height)}".split()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}" font-family="{FONT}" role="img">\n<title>{escape(title)}</title>\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n'
        + "".join(f"{element}\n" for element in elements)
        + "</svg>\n"
    )


def titled_svg(title: str, drawings: Sequence[Drawing], sentences: Sequence[str] = ()) -> str:
    """Make a document of a title in lines, sentences below it, and drawings below one another."""
    lines = [(line, True) for line in wrap(title, LINE_LENGTH)]
    lines += [(line, False) for sentence in sentences for line in wrap(sentence, LINE_LENGTH)]
    elements = [
        svg_text(10, 18 + LINE_STEP * number, line, size=LINE_SIZE, bold=bold)
        for number, (line, bold) in enumerate(lines)
    ]
    y, widths = 14.0 + LINE_STEP * len(lines), [text_width(line, LINE_SIZE + 1) + 20 for line, _ in lines]
    for drawing in drawings:
        elements.append(f'<g transform="translate(0 {_number(y)})">{"".join(drawing.elements)}</g>')
        y, widths = y + drawing.height, [*widths, drawing.width]
    return svg_document(max(widths, default=20), y, elements, title=title)


def svg_text(
    x: float,
    y: float,
    text: str,
    *,
    size: float = 11,
    anchor: str = "start",
    bold: bool = False,
    fill: str = "#000",
    upwards: bool = False,
) -> str:
    """Write a text on the baseline `y`; `anchor` is start, middle or end; `upwards` reads from bottom to top."""
    weight = ' font-weight="bold"' if bold else ""
    turn = f' transform="rotate(-90 {_number(x)} {_number(y)})"' if upwards else ""
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}" text-anchor="{anchor}" '
        f'fill="{fill}"{weight}{turn}>{escape(_printable(text))}</text>'
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
    stroke = 'stroke="#000" stroke-width="2"' if bold else 'stroke="#7f7f7f" stroke-width="0.5"'
    sides = [_number(value) for value in (x, y, width, height)]
    return f'<rect x="{sides[0]}" y="{sides[1]}" width="{sides[2]}" height="{sides[3]}" fill="none" {stroke}/>'


def svg_matrix(weights: Sequence[Sequence[float]], x: float, y: float, *, cell: float) -> str:
    """Draw weights from 0 to 1 as squares of the width `cell`, row by row downwards; the larger, the darker.

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
    drawn = "".join(f'<path fill="{grey(shade)}" d="{"".join(paths[shade])}"/>' for shade in sorted(paths))
    return f'<g transform="translate({_number(x)} {_number(y)}) scale({_number(cell)})">{drawn}</g>'


def shade_of(weight: float) -> int:
    """Return the shade of a weight: 0 (white) to `SHADES` - 1 (black)."""
    return min(SHADES - 1, max(0, round(weight * (SHADES - 1))))


def grey(shade: int) -> str:
    """Return the colour of a shade."""
    return "#" + f"{round(255 * (1 - shade / (SHADES - 1))):02x}" * 3


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


def _printable(text: str) -> str:
    """Replace control characters, which XML does not allow."""
    return "".join("\ufffd" if unicodedata.category(character) in ("Cc", "Cs") else character for character in text)


def _number(value: float) -> str:
    """Write a number of pixels with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
