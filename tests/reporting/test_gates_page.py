"""Gate norms as colours of subwords."""

import re

import numpy as np

from nmtcore.files import write_text
from nmtcore.inference.schemas import GatedSentence
from nmtcore.reporting.gates_page import GATES_STYLE, gated_pieces
from nmtcore.reporting.html_document import html_document

SENTENCE = GatedSentence("A <b> & c", ["x@@", '<script>"', "&", "é"], np.array([2.0, 3.0, 2.5, 2.25]))


def test_text_is_readable_on_every_background(browser, tmp_path):
    pieces = gated_pieces(GatedSentence("<s>", ["x"] * 201, np.linspace(1, 2, 201)))
    page = html_document("Gates", f'<h1>Gates</h1><div class="gates">{pieces}</div>', style=GATES_STYLE)
    write_text(tmp_path / "gates.html", page)
    browser.check(tmp_path / "gates.html")


def test_the_largest_norm_is_the_darkest_and_bold():
    spans = re.findall(r'<span title="(.*?)" style="(.*?)">(.*?)</span>', gated_pieces(SENTENCE))
    assert [title for title, *_ in spans] == ["2.000", "3.000", "2.500", "2.250"]
    assert [text for *_, text in spans] == ["x@@", "&lt;script&gt;&quot;", "&amp;", "é"]
    colours = [list(map(int, re.findall(r"\d+", style)[:3])) for _, style, _ in spans]
    assert colours[0] == [255, 255, 255]
    assert [colours.index(colour) for colour in sorted(colours, reverse=True)] == [0, 3, 2, 1]
    assert ["bold" in style for _, style, _ in spans] == [False, True, False, False]
    assert gated_pieces(GatedSentence("", [], np.zeros(0))) == ""
