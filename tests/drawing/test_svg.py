"""Hand-written SVG: matrices against a plain drawing of their cells, and texts that need escaping."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from nmtcore.drawing.svg import (
    SHADES,
    Drawing,
    arranged,
    shade_of,
    svg_matrix,
    svg_text,
    text_width,
    titled_svg,
    write_drawings,
)


def painted(matrix_svg, rows, columns):
    """The opacity of every cell, from the paths of a matrix."""
    cells = np.zeros((rows, columns))
    for opacity, path in re.findall(r'<path fill-opacity="([\d.]+)" d="([^"]*)"/>', matrix_svg):
        rectangles = re.findall(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z", path)
        assert "".join("M{} {}h{}v1h-{}z".format(*rectangle) for rectangle in rectangles) == path
        for x, y, width, back in (map(int, rectangle) for rectangle in rectangles):
            assert width == back
            assert not cells[y, x : x + width].any()
            cells[y, x : x + width] = float(opacity)
    return cells


@pytest.mark.parametrize("concentration", [0.1, 5])
def test_each_cell_has_the_shade_of_its_weight(concentration):
    weights = np.random.default_rng(1).dirichlet(np.full(9, concentration), 6).tolist()
    drawn = svg_matrix(weights, 3, 4.5, cell=2)
    assert drawn.startswith('<g transform="translate(3 4.5)"><g transform="scale(2)">')
    expected = [[shade_of(weight) / (SHADES - 1) for weight in row] for row in weights]
    assert painted(drawn, 6, 9) == pytest.approx(np.array(expected), abs=0.006)


def test_shades_go_from_none_to_all():
    shades = [shade_of(weight) for weight in np.linspace(0, 1, 200)]
    assert shades == sorted(shades)
    assert set(shades) == set(range(SHADES))
    assert (shade_of(1.2), shade_of(-0.1)) == (SHADES - 1, 0)


@pytest.mark.parametrize("text", ["<script>", "a \"b\" & 'c'", "a\x00b", "日本語"])
def test_texts_are_escaped(text):
    drawing = titled_svg(text.replace("\x00", ""), [Drawing([svg_text(1, 2, text)], 10, 20.5)])
    root = ElementTree.fromstring(drawing)
    assert root.get("height") == "20.5"
    (own,) = root.iter("{http://www.w3.org/2000/svg}text")
    assert own.text == text.replace("\x00", "\ufffd")


def test_wide_characters_are_wider():
    assert text_width("日本", 10) > text_width("ab", 10) > text_width("il", 10) > 0
    assert text_width("ab", 20) == 2 * text_width("ab", 10)


def test_drawings_are_arranged_in_rows_without_overlap():
    sizes = [(10, 5), (20, 8), (30, 1), (4, 4), (5, 5)]
    whole = arranged([Drawing(["x"], *size) for size in sizes], columns=2)
    places = [tuple(map(float, own)) for own in re.findall(r"translate\((\S+) (\S+)\)", "".join(whole.elements))]
    assert places == [(0, 0), (10, 0), (0, 8), (30, 8), (0, 12)]
    assert (whole.width, whole.height) == (34, 17)


def test_pdf_has_the_texts_of_svg_and_no_date(tmp_path):
    drawings = [Drawing([svg_text(5, 20, "Ağaç <b> ещё"), svg_text(5, 40, "bold", bold=True)], 100, 50)]
    for name in "ab":
        write_drawings(tmp_path / f"{name}.svg", drawings, title="x")
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert pdf == (tmp_path / "b.pdf").read_bytes()
    assert re.findall(rb"/(?:Creation|Mod)Date \(D:(\d{4})", pdf) == [b"2000"] * 2, "always the same"
    assert b"/MediaBox [ 0 0 75 37.5 ]" in pdf
    assert set(re.findall(rb"/BaseFont /(\S+)", pdf)) == {b"AAAAAA+DejaVuSans", b"AAAAAA+DejaVuSans-Bold"}, (
        "all embedded"
    )
