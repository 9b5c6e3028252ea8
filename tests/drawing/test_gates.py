"""Gate norms as colours of subwords."""

import re

import numpy as np

from nmtcore.drawing.gates import GATES_STYLE, gated_pieces, gates_range
from nmtcore.files import write_text
from nmtcore.inference.schemas import GatedSentence
from nmtcore.reporting.html_document import html_document

SENTENCE = GatedSentence(["x@@", '<script>"', "&", "é"], np.array([2.0, 3.0, 2.5, 2.25]))


def test_text_is_readable_and_a_larger_norm_has_more_contrast_with_the_page(browser, tmp_path):
    pieces = gated_pieces(GatedSentence(["x"] * 201, np.linspace(1, 2, 201)), 1, 2)
    content = f'<h1>Gates</h1><div class="gates">{pieces}</div>'
    write_text(tmp_path / "gates.html", html_document("Gates", content, style=GATES_STYLE))
    browser.check(tmp_path / "gates.html")
    for dark in (False, True):
        with browser.open(tmp_path / "gates.html", dark=dark) as page:
            colours = page.evaluate(
                "[...document.querySelectorAll('.gates span')].map((own) => getComputedStyle(own).backgroundColor)"
            )
        light = [sum(map(float, re.findall(r"[\d.]+", own.removeprefix("color(srgb"))[:3])) for own in colours]
        assert light == sorted(light, reverse=not dark)
        assert len(set(light)) > 20


def test_colours_hold_over_sentences_and_the_largest_is_bold():
    other = GatedSentence(["z"], np.array([4.0]))
    assert gates_range([SENTENCE, other]) == (2.0, 4.0)
    spans = re.findall(r'<span class="(\w*)" title="(.*?)" style="--share:(\d+)%(.*?)">(.*?)</span>',
                       gated_pieces(SENTENCE, 2, 4) + gated_pieces(other, 2, 4))  # fmt: skip
    assert [title for _, title, *_ in spans] == ["2.000", "3.000", "2.500", "2.250", "4.000"]
    assert [text for *_, text in spans] == ["x@@", "&lt;script&gt;&quot;", "&amp;", "é", "z"]
    assert [int(share) for _, _, share, *_ in spans] == [0, 50, 25, 12, 100]
    assert ["bold" in bold for *_, bold, _ in spans] == [False, True, False, False, True]
    assert gated_pieces(GatedSentence([], np.zeros(0)), *gates_range([])) == ""
